import { and, eq, isNull, sql } from "drizzle-orm";
import type * as z from "zod/mini";
import { callObject, NEARBY } from "../calls/call-object.ts";
import { changeKeysAfter } from "../calls/change-key.ts";
import { directory } from "../db/client.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { rowOf } from "../db/rows.ts";
import { apiKeys } from "../db/schema.ts";
import { areCeilingsAsRead, authorityOf, ceilingsOf, checkPower, isKeyAsRead } from "../keys/key-authority.ts";
import { hashOf, newKeyText } from "../keys/key-text.ts";
import type { Actor } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { presentKey } from "../model/key.ts";
import { configured } from "../platform/config.ts";
import type { overlapBody } from "./overlap.ts";

/**
 * Gives a key a new secret. The old secret stays valid for `overlapSeconds`, and any older one ends now, so at most two
 * are valid. Limits, counts and `expiresAt` don't change.
 *
 * If the response was lost, repeat the rotation: it replaces a new secret that was never used, and the old secret keeps
 * the end that the first rotation gave it.
 * @throws ApiError `key_not_found`; `key_revoked` for a revoked or expired key; `permission_denied`, `self_service_off` if
 *   a key rotates it that may not
 */
export async function rotateKey(env: Env, actor: Actor, id: string, { overlapSeconds }: z.output<typeof overlapBody>) {
  const db = directory(env);
  const secret = await newKeyText(id, configured(env, "KEY_SECRET"));
  const hash = await hashOf(secret);
  return retryOnConflict(id, async () => {
    const authority = await authorityOf(db, actor);
    if (authority) ceilingsOf(authority);
    const before = await rowOf(db, actor.scope, apiKeys, id, "key_not_found");
    if (authority) checkPower(authority, before, before);
    const now = Date.now();
    if (before.revokedAt !== null || (before.expiresAt !== null && before.expiresAt <= now)) {
      throw new ApiError("key_revoked");
    }
    const asRead = authority && [isKeyAsRead(before), authority.isAsRead, areCeilingsAsRead(db, authority)];
    const condition = and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt), ...(asRead ?? []));
    const newestInUse = () => callObject(env.KEYS, id, (object) => object.admittedHash(), NEARBY);
    const [key] = await changeKeysAfter(env, [id], newestInUse, async (admittedHash) => {
      // `previousUntil` is set by every rotation. In SQL, so that concurrent rotations see each other's result.
      const isUnused = sql`${apiKeys.previousUntil} is not null and ${apiKeys.hash} is not ${admittedHash}`;
      // From now on: the change may have waited.
      const until = Date.now() + overlapSeconds * 1_000;
      const ended = { hash: overlapSeconds > 0 ? apiKeys.hash : sql`null`, until };
      return db
        .update(apiKeys)
        .set({
          hash,
          previousHash: sql`case when ${isUnused} then ${apiKeys.previousHash} else ${ended.hash} end`,
          previousUntil: sql`case when ${isUnused} then ${apiKeys.previousUntil} else ${ended.until} end`,
          previousBy: sql`case when ${isUnused} then ${apiKeys.previousBy}
            else coalesce(${apiKeys.secretBy}, ${apiKeys.createdBy}) end`,
          secretBy: actor.id,
        })
        .where(condition)
        .returning();
    });
    if (key) return { key: presentKey(key, Date.now()), secret };
    if (!authority) throw new ApiError("key_revoked");
    return null;
  });
}
