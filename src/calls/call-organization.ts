import type { Region } from "../model/region.ts";
import { callObject, NEARBY } from "./call-object.ts";

export type OrganizationStub = ReturnType<Env["ORGANIZATIONS"]["getByName"]>;

/**
 * Calls the object of an organization. No other function names this object. If one object becomes too small for an
 * organization, name several here, by the organization and a hash of the chat's id, and merge their lists.
 * @param region where the object is created, if this is its first call
 * @throws ApiError `unavailable` if the object does not answer
 */
export function callOrganization<R>(
  env: Env,
  organizationId: string,
  call: (organization: OrganizationStub, isRepeat: boolean) => R,
  region: Region | null = NEARBY,
): Promise<Awaited<R>> {
  return callObject(env.ORGANIZATIONS, organizationId, call, region);
}
