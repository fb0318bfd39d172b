import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { type Actor, noOrganization } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { allow, type Need, neededPermissions, type Permission } from "../model/permission.ts";
import type { SearchState } from "../model/search-index.ts";

/** Whether an organization's messages can be searched, in a body. */
export const searchBody = z.object({ on: z.boolean() });

/** Adds to an organization whether its messages can be searched. */
export async function withSearch<Organization extends { id: string }>(
  env: Env,
  organization: Organization,
): Promise<Organization & { search: SearchState }> {
  const search = await callOrganization(env, organization.id, (object) => object.searchState());
  return { ...organization, search };
}

/**
 * Turns the search over all messages of an organization on or off.
 * @throws ApiError `search_filled_today`; as `noOrganization`; `unavailable`
 */
export async function setSearch(env: Env, scope: Actor["scope"], id: string, isOn: boolean): Promise<void> {
  const { outcome } = await callOrganization(env, id, (organization) => organization.setSearch(id, isOn));
  if (outcome === "filled_today") throw new ApiError("search_filled_today");
  if (outcome === "no_organization") throw new ApiError(noOrganization(scope));
}

/**
 * Each setting of an organization needs its own permission.
 * @throws ApiError `permission_denied`
 */
export function checkOrganizationPatch(patch: object, permissions: readonly Permission[]): void {
  const fields = Object.entries(patch).filter(([, value]) => value !== undefined);
  const needs: Need[] = fields.map(([field]) => (field === "search" ? "search:write" : "members:write"));
  const missing = needs.find((need) => !allow(permissions, need));
  if (missing === undefined) return;
  const names = neededPermissions(missing).join(" and ");
  throw new ApiError("permission_denied", { text: `This setting needs ${names}. Use a key that has it` });
}
