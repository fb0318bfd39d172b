import { admin } from "../../support/harness.ts";
import { until } from "../../support/until.ts";

export type Entry = Record<string, unknown>;

/**
 * The newest entries of an organization's audit log, once each has its status: that of a GET comes after the response.
 * None if the organization is deleted.
 * @param query further parameters, such as `&action=chat.search`
 */
export function endedEntries(organizationId: string, query = ""): Promise<Entry[]> {
  return until(
    "each entry has its status",
    async (): Promise<Entry[]> =>
      (await admin("GET", `/organizations/${organizationId}/audit?limit=100${query}`)).body.entries ?? [],
    (entries) => entries.every(({ status }) => status !== null),
  );
}
