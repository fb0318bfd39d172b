import { and, asc, eq, inArray, lte } from "drizzle-orm";
import { directory } from "../db/client.ts";
import { apiKeys } from "../db/schema.ts";
import { causeOf } from "../log.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import { callObject } from "../platform/call-object.ts";
import { forEachInBatches } from "../platform/concurrency.ts";

/** No month is longer, so the quota of such a key no longer counts. */
const KEPT_MS = 31 * 86_400_000;
const PURGED_AT_ONCE = 20;

/**
 * Deletes up to 20 of an organization's keys that were revoked at least 31 days ago: their objects, their numbers, and
 * last their rows, so that a purge that fails is repeated. Never throws: the caller does not depend on it.
 */
export async function purgeRevokedKeys(env: Env, organizationId: string, now: number): Promise<void> {
  const db = directory(env);
  try {
    const old = await db
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.organizationId, organizationId), lte(apiKeys.revokedAt, now - KEPT_MS)))
      .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
      .limit(PURGED_AT_ONCE);
    if (old.length === 0) return;
    const ids = old.map(({ id }) => id);
    await forEachInBatches(ids, (id) => callObject(env.KEYS, id, (key) => key.erase()));
    await callOrganization(env, organizationId, (organization) => organization.forgetKeys(ids));
    await db.delete(apiKeys).where(inArray(apiKeys.id, ids));
  } catch (error) {
    console.warn({ event: "keys_not_purged", organizationId, error: causeOf(error) });
  }
}
