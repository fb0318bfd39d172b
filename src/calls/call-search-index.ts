import type { Region } from "../model/region.ts";
import type { IndexOwner } from "../model/search-index.ts";
import { callObject, NEARBY } from "./call-object.ts";

type SearchIndexStub = ReturnType<Env["SEARCH_INDEXES"]["getByName"]>;

/**
 * Calls the object of an index. No other function names this object. Its name begins with the organization's id, so it is
 * in the organization's jurisdiction.
 * @param region where the object is created, if this is its first call
 * @throws ApiError `unavailable` if the object does not answer
 */
export function callSearchIndex<R>(
  env: Env,
  { organizationId, number }: IndexOwner,
  call: (index: SearchIndexStub) => R,
  region: Region | null = NEARBY,
): Promise<Awaited<R>> {
  return callObject(env.SEARCH_INDEXES, `${organizationId}:${number}`, call, region);
}
