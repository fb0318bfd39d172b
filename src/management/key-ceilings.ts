import { type SQL, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { apiKeys, type SelfService } from "../db/schema.ts";
import { ApiError } from "../model/error.ts";

type Quota = Pick<typeof apiKeys.$inferSelect, "monthlyQuota" | "quotaPeak" | "quotaPeakUntil">;

/** How many keys an organization whose keys manage keys may have, if the operator sets no `maxKeys`. */
export const DEFAULT_MAX_KEYS = 1_000;

/** The most that a key may have used of its quota in the month of `now`: a lowered quota may be used already. */
export function quotaHeld({ monthlyQuota, quotaPeak, quotaPeakUntil }: Quota, now: number): number {
  const peak = quotaPeakUntil !== null && quotaPeakUntil > now ? quotaPeak : null;
  return Math.max(monthlyQuota ?? 0, peak ?? 0);
}

/** Keeps the quota before a change for the rest of the month. Evaluated in the statement that changes the quota. */
export function keepQuotaPeak(now: number) {
  return { quotaPeak: heldIn(apiKeys, now), quotaPeakUntil: monthOfTime(now).end };
}

/**
 * A condition: the organization may have one more key. Revoked keys don't count in `maxKeys`, so that a leaked key can be
 * replaced at once. But they stay for a while, so all keys together have a limit too.
 */
export function hasRoomForKey(organizationId: string, { maxKeys = DEFAULT_MAX_KEYS }: SelfService): SQL {
  return sql`(${countOfKeys(organizationId)} < ${maxKeys} and ${countOfRows(organizationId)} < ${maxRows(maxKeys)})`;
}

/** How many keys an organization may have with the revoked ones that are not deleted yet. */
export function maxRows(maxKeys: number): number {
  return 2 * maxKeys + 100;
}

/** A condition: with `quota` for the key `id`, the quotas of this month add up to the ceiling at most. */
export function hasRoomForQuota(
  organizationId: string,
  id: string,
  { monthlyQuota: ceiling }: SelfService,
  quota: number,
  now: number,
): SQL | undefined {
  return ceiling === undefined ? undefined : sql`${sumOfOthers(organizationId, id, now)} + ${quota} <= ${ceiling}`;
}

/** Throws the error for a key that does not fit. @throws ApiError `key_limit` */
export async function refuseIfFull(
  db: Directory,
  key: { organizationId: string; id: string },
  ceilings: SelfService,
  wanted: { isNew: boolean; quota: number },
  now: number,
): Promise<void> {
  const { keys, rows, others } = await db.get<{ keys: number; rows: number; others: number }>(
    sql`select ${countOfKeys(key.organizationId)} as keys, ${countOfRows(key.organizationId)} as rows,
      ${sumOfOthers(key.organizationId, key.id, now)} as others`,
  );
  const { maxKeys = DEFAULT_MAX_KEYS, monthlyQuota } = ceilings;
  if (wanted.isNew && keys >= maxKeys) {
    const text = `The organization has ${keys} keys, and its limit is ${maxKeys}. Revoke one, or ask the operator to raise selfService.maxKeys`;
    throw new ApiError("key_limit", { text });
  }
  if (wanted.isNew && rows >= maxRows(maxKeys)) {
    const text = `The organization has ${rows} keys, including revoked ones, and its limit is ${maxRows(maxKeys)}. Revoked keys are deleted after 31 days`;
    throw new ApiError("key_limit", { text });
  }
  const sum = others + wanted.quota;
  if (monthlyQuota !== undefined && sum > monthlyQuota) {
    const text = `The quotas of the organization's keys for this month would add up to ${sum}, and their limit is ${monthlyQuota}. Lower a quota, or ask the operator to raise selfService.monthlyQuota`;
    throw new ApiError("key_limit", { text });
  }
}

/** A condition: the organization has another key that can manage keys, and still can at `until` (Unix milliseconds). */
export function hasOtherManager(organizationId: string, id: string, until: number): SQL {
  return sql`exists (select 1 from api_keys other where other.organization_id = ${organizationId} and other.id <> ${id}
    and other.revoked_at is null and (other.expires_at is null or other.expires_at > ${until})
    and exists (select 1 from json_each(other.permissions) where value = 'keys:write'))`;
}

/** The keys that are not revoked. */
function countOfKeys(organizationId: string): SQL {
  return sql`(select count(*) from api_keys other where other.organization_id = ${organizationId}
    and other.revoked_at is null)`;
}

/** All keys, revoked ones too. */
function countOfRows(organizationId: string): SQL {
  return sql`(select count(*) from api_keys other where other.organization_id = ${organizationId})`;
}

/** What the other keys of an organization may have used this month, or still use. A revoked key counts for its month. */
function sumOfOthers(organizationId: string, id: string, now: number): SQL {
  return sql`(select coalesce(sum(max(coalesce(other.monthly_quota, 0),
      case when other.quota_peak_until > ${now} then other.quota_peak else 0 end)), 0)
    from api_keys other where other.organization_id = ${organizationId} and other.id <> ${id}
    and (other.revoked_at is null or other.revoked_at >= ${monthOfTime(now).start}))`;
}

function heldIn({ monthlyQuota, quotaPeak, quotaPeakUntil }: typeof apiKeys, now: number): SQL {
  return sql`max(coalesce(${monthlyQuota}, 0), case when ${quotaPeakUntil} > ${now} then ${quotaPeak} else 0 end)`;
}

/** The UTC calendar month of a time. */
function monthOfTime(now: number): { start: number; end: number } {
  const date = new Date(now);
  const first = (month: number) => Date.UTC(date.getUTCFullYear(), month);
  return { start: first(date.getUTCMonth()), end: first(date.getUTCMonth() + 1) };
}
