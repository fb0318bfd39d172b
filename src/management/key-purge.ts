import { and, eq, inArray, lte, sql } from "drizzle-orm";
import { answerWithin, callObject, NEARBY } from "../calls/call-object.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import { apiKeys } from "../db/schema.ts";
import { settleEach } from "../platform/concurrency.ts";
import { causeOf } from "../platform/log.ts";

/** No month is longer, so the quota of such a key no longer counts. */
const KEPT_MS = 31 * 86_400_000;
const PURGED_AT_ONCE = 20;
const ERASE_TIMEOUT_MS = 5_000;

/**
 * Deletes up to 20 of an organization's keys that were revoked at least 31 days ago: their objects, their numbers, and
 * last their rows, so that a key for which that fails is left for another purge. Never throws, because its caller does
 * something else.
 */
export async function purgeRevokedKeys(env: Env, organizationId: string, now: number): Promise<void> {
  const db = directory(env);
  try {
    const old = await db
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.organizationId, organizationId), lte(apiKeys.revokedAt, now - KEPT_MS)))
      // So that keys whose objects can't be deleted don't hold up the others forever.
      .orderBy(sql`random()`)
      .limit(PURGED_AT_ONCE);
    if (old.length === 0) return;
    const failed = await settleEach(old, ({ id }) => {
      return answerWithin(ERASE_TIMEOUT_MS, () => callObject(env.KEYS, id, (key) => key.erase(), NEARBY));
    });
    for (const { item, error } of failed)
      console.warn({ event: "key_not_purged", keyId: item.id, error: causeOf(error) });
    const ids = old.filter((key) => !failed.some(({ item }) => item === key)).map(({ id }) => id);
    await callOrganization(env, organizationId, (organization) => organization.forgetKeys(ids));
    await db.delete(apiKeys).where(inArray(apiKeys.id, ids));
  } catch (error) {
    console.warn({ event: "keys_not_purged", organizationId, error: causeOf(error) });
  }
}
