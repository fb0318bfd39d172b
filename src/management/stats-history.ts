import * as z from "zod/mini";
import type { Outcome } from "../channels/adapter.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { apiKeys, channels } from "../db/schema.ts";
import { atMost } from "../http/fields.ts";
import { isId } from "../ids.ts";
import type { RefusalReason } from "../keys/rpc.ts";
import type { Scope } from "../keys/scope.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import { BUCKETS, type BucketLength, bucketsOf, type History } from "../organizations/history.ts";
import type { Counts } from "../platform/counts.ts";
import { NO_ATTEMPTS, NO_REFUSALS } from "./stats.ts";

/** The query of `GET /stats/history`. */
export const historyQuery = z.object({
  of: z.string().check(
    ...atMost(64),
    z.refine((id) => isId("key", id) || isId("chn", id), "must be the id of a key or of a channel"),
  ),
  by: z._default(z.enum(Object.keys(BUCKETS) as [BucketLength, ...BucketLength[]]), "hour"),
});

/**
 * The numbers of a key or of a channel over time, in one call of its organization's object.
 * @throws ApiError `key_not_found`, `channel_not_found`
 */
export async function readHistory(env: Env, scope: Scope, { of, by }: z.output<typeof historyQuery>) {
  const db = directory(env);
  const isKey = isId("key", of);
  const row = isKey
    ? await rowOf(db, scope, apiKeys, of, "key_not_found")
    : await rowOf(db, scope, channels, of, "channel_not_found");
  const history = await callOrganization(env, row.organizationId, (organization) => organization.history(of));
  return isKey ? keyHistory(row, history, by, Date.now()) : channelHistory(row, history, by, Date.now());
}

interface Owner {
  id: string;
  organizationId: string;
  name: string;
}

/** A key's history at `now`, as the API shows it. */
export function keyHistory(
  { id, organizationId, name }: Owner,
  history: History<"admitted" | RefusalReason> | null,
  by: BucketLength,
  now: number,
) {
  const buckets = bucketsOf(history, by, now).map(({ start, counts: { admitted = 0, ...refused } }) => ({
    start: new Date(start).toISOString(),
    admitted,
    refused: { ...NO_REFUSALS, ...(refused as Counts<RefusalReason>) },
  }));
  return { id, organizationId, name, by, buckets };
}

/** A channel's history at `now`, as the API shows it. */
export function channelHistory(
  { id, organizationId, name }: Owner,
  history: History<Outcome["outcome"] | "received"> | null,
  by: BucketLength,
  now: number,
) {
  const buckets = bucketsOf(history, by, now).map(({ start, counts: { received = 0, ...attempts } }) => ({
    start: new Date(start).toISOString(),
    attempts: { ...NO_ATTEMPTS, ...attempts },
    received,
  }));
  return { id, organizationId, name, by, buckets };
}
