import { and, eq, or, type SQL, sql } from "drizzle-orm";
import type * as z from "zod/mini";
import { callObject, NEARBY, placeObject } from "../calls/call-object.ts";
import { changeKeys } from "../calls/change-key.ts";
import { type Directory, directory } from "../db/client.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { insertIf, insertIfActive, isWithin, rowOf } from "../db/rows.ts";
import { apiKeys, organizations } from "../db/schema.ts";
import { newIdOf, type RequestAct } from "../keys/audited.ts";
import {
  type Authority,
  areCeilingsAsRead,
  authorityOf,
  ceilingsOf,
  checkPower,
  checkQuota,
  checkRate,
  isKeyAsRead,
} from "../keys/key-authority.ts";
import { hashOf, newKeyText } from "../keys/key-text.ts";
import { neededUntil } from "../keys/last-manager.ts";
import { keepAct } from "../keys/waiting-acts.ts";
import type { Actor, Scope } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { whyBeyond } from "../model/escalation.ts";
import { presentKey } from "../model/key.ts";
import { DEFAULT_PERMISSIONS } from "../model/permission.ts";
import { configured } from "../platform/config.ts";
import { tellIfBot } from "./bots.ts";
import {
  hasOtherManager,
  hasRoomForKey,
  hasRoomForQuota,
  keepQuotaPeak,
  quotaHeld,
  refuseIfFull,
} from "./key-ceilings.ts";
import { purgeRevokedKeys } from "./key-purge.ts";
import { type keyPatch, mergedRate, type newKeyBody, rateOrDefault } from "./key-settings.ts";
import { withLeftBehind } from "./left-behind.ts";
import { activeOrganization } from "./organizations.ts";

type ApiKey = typeof apiKeys.$inferSelect;

/**
 * Creates a key. Only this response contains its text. Without a region, its object is created by its first call.
 * @throws ApiError `permission_denied`, `self_service_off`, `key_limit` if a key creates it that may not
 */
export async function createKey(env: Env, actor: Actor, act: RequestAct, body: z.output<typeof newKeyBody>) {
  const { organizationId } = act;
  const id = newIdOf(act);
  const db = directory(env);
  const secret = await newKeyText(id, configured(env, "KEY_SECRET"));
  const hash = await hashOf(secret);
  if (actor.scope !== "any") await purgeRevokedKeys(env, organizationId, Date.now());
  const made = await retryOnConflict(id, async () => {
    await activeOrganization(db, actor.scope, organizationId);
    const authority = await authorityOf(db, actor);
    const now = Date.now();
    const key: ApiKey = {
      id,
      organizationId,
      name: body.name,
      hash,
      previousHash: null,
      previousUntil: null,
      ...rateOrDefault(env, body.rateLimit, authority && ceilingsOf(authority)),
      permissions: body.permissions ?? [...DEFAULT_PERMISSIONS],
      ipAllowlist: body.ipAllowlist ?? [],
      monthlyQuota: body.monthlyQuota ?? null,
      draftsOnly: body.draftsOnly ?? false,
      region: body.region ?? null,
      quotaPeak: null,
      quotaPeakUntil: null,
      expiresAt: body.expiresAt ?? null,
      revokedAt: null,
      createdBy: actor.id,
      setBy: null,
      secretBy: null,
      previousBy: null,
      createdAt: now,
    };
    if (!authority) await insertIfActive(db, actor.scope, apiKeys, key);
    else if (!(await insertByKey(db, authority, key, now))) return null;
    return { key: presentKey(key, now), secret };
  });
  const { region } = made.key;
  if (region) await placeObject(env.KEYS, id, (key) => key.admittedHash(), region);
  return made;
}

/** Inserts a key that another key creates. @returns false if what was read has changed meanwhile */
async function insertByKey(db: Directory, authority: Authority, key: ApiKey, now: number): Promise<boolean> {
  const ceilings = ceilingsOf(authority);
  const quota = key.monthlyQuota ?? 0;
  checkPower(authority, null, key);
  checkRate(ceilings, key);
  checkQuota(ceilings, key.monthlyQuota);
  const condition = and(
    authority.isAsRead,
    areCeilingsAsRead(db, authority),
    hasRoomForKey(key.organizationId, ceilings),
    hasRoomForQuota(key.organizationId, key.id, ceilings, quota, now),
  );
  if (await insertIf(db, apiKeys, key, condition)) return true;
  await refuseIfFull(db, key, ceilings, { isNew: true, quota }, now);
  return false;
}

/**
 * Changes a key. The change applies to its next request.
 * @returns the key; if it can do less now, also what it leaves behind
 * @throws ApiError `key_not_found`; `permission_denied`, `self_service_off`, `key_limit`, `last_manager` if a key changes
 *   it that may not
 */
export async function patchKey(env: Env, actor: Actor, id: string, patch: z.output<typeof keyPatch>) {
  const db = directory(env);
  const { name, rateLimit, permissions, ipAllowlist, monthlyQuota, draftsOnly, expiresAt } = patch;
  return retryOnConflict(id, async () => {
    const authority = await authorityOf(db, actor);
    const ceilings = authority && ceilingsOf(authority);
    const before = await rowOf(db, actor.scope, apiKeys, id, "key_not_found");
    const now = Date.now();
    const changes: Partial<ApiKey> = {
      ...(name !== undefined && { name }),
      ...(monthlyQuota !== undefined && { monthlyQuota }),
      ...(draftsOnly !== undefined && { draftsOnly: draftsOnly ?? false }),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(rateLimit !== undefined && mergedRate(env, before, rateLimit, ceilings)),
      ...(permissions !== undefined && { permissions: permissions ?? [...DEFAULT_PERMISSIONS] }),
      ...(ipAllowlist !== undefined && { ipAllowlist: ipAllowlist ?? [] }),
    };
    const condition = authority && changeByKey(db, authority, before, changes, now);
    if (Object.keys(changes).length === 0) return { key: presentKey(before, now) };
    const after = { ...before, ...changes };
    const isGiven = whyBeyond(before, after, "You lack") !== null;
    const values = {
      ...changes,
      ...(changes.monthlyQuota !== undefined && keepQuotaPeak(now)),
      ...(isGiven && { setBy: actor.id }),
    };
    const isSame = and(
      eq(apiKeys.id, id),
      isWithin(apiKeys, actor.scope),
      rateLimit ? isRateAsRead(before) : undefined,
      condition ?? undefined,
    );
    const change = db.update(apiKeys).set(values).where(isSame).returning();
    const { changed: key, leftBehind } = await changeKeys(env, [id], () => withLeftBehind(db, change, before));
    const hasLost = whyBeyond(after, before, "You lack") !== null;
    const decideIfBot = [permissions, draftsOnly, expiresAt];
    if (key && decideIfBot.some((each) => each !== undefined)) await tellIfBot(env, key.organizationId, id);
    if (key) return { key: presentKey(key, now), ...(hasLost && { leftBehind }) };
    // Another request changed the key, or it is gone.
    if (!authority || !ceilings) return null;
    const quota = changes.monthlyQuota ?? 0;
    if (quota > quotaHeld(before, now)) await refuseIfFull(db, before, ceilings, { isNew: false, quota }, now);
    const manager = neededUntil(before, { ...before, ...changes }, now);
    if (manager !== null) await refuseIfLastManager(db, before, manager);
    return null;
  });
}

/** A condition: the rate limit is as it was read, so that two patches of its parts do not make a wrong whole. */
function isRateAsRead({ rateLimit, windowSeconds }: ApiKey): SQL | undefined {
  return and(eq(apiKeys.rateLimit, rateLimit), eq(apiKeys.windowSeconds, windowSeconds));
}

/** Checks the change of a key by another key. @returns the condition under which it may be written */
function changeByKey(db: Directory, authority: Authority, before: ApiKey, changes: Partial<ApiKey>, now: number) {
  const ceilings = ceilingsOf(authority);
  const after = { ...before, ...changes };
  checkPower(authority, before, after);
  if (changes.rateLimit !== undefined) checkRate(ceilings, after);
  if (changes.monthlyQuota !== undefined) checkQuota(ceilings, after.monthlyQuota);
  const quota = changes.monthlyQuota ?? 0;
  const { id, organizationId } = before;
  const manager = neededUntil(before, after, now);
  return and(
    isKeyAsRead(before),
    authority.isAsRead,
    areCeilingsAsRead(db, authority),
    quota > quotaHeld(before, now) ? hasRoomForQuota(organizationId, id, ceilings, quota, now) : undefined,
    manager === null ? undefined : hasOtherManager(organizationId, id, manager),
  );
}

/**
 * Revokes a key permanently. Its next request is refused. Repeating the call changes nothing. It never waits for the
 * audit log.
 * @returns the key, and what it leaves behind
 * @throws ApiError `key_not_found`; `last_manager` if a key revokes the last key that can manage keys
 */
export async function revokeKey(env: Env, actor: Actor, act: RequestAct, id: string) {
  const db = directory(env);
  return retryOnConflict(id, async () => {
    const authority = await authorityOf(db, actor);
    const before = await rowOf(db, actor.scope, apiKeys, id, "key_not_found");
    const now = Date.now();
    // Without self-service, no key manages keys, and a leaked key must be stopped.
    const manager = authority?.selfService ? neededUntil(before, null, now) : null;
    const condition = and(
      eq(apiKeys.id, id),
      isWithin(apiKeys, actor.scope),
      authority?.isAsRead,
      // What it may do decides whether it is the last manager.
      authority ? isKeyAsRead(before) : undefined,
      manager === null
        ? undefined
        : or(hasOtherManager(before.organizationId, id, manager), sql`${apiKeys.revokedAt} is not null`),
    );
    const kept = keepAct(db, act, apiKeys, condition);
    const { changed: key, leftBehind } = await changeKeys(env, [id], () => {
      // From now on: the change may have waited.
      const revokedAt = sql`coalesce(${apiKeys.revokedAt}, ${Date.now()})`;
      const change = db.update(apiKeys).set({ revokedAt }).where(condition).returning();
      return withLeftBehind(db, change, before, kept);
    });
    if (key) await tellIfBot(env, key.organizationId, id);
    if (key) return { key: presentKey(key, now), leftBehind };
    if (!authority) throw new ApiError("key_not_found");
    if (manager !== null) await refuseIfLastManager(db, before, manager);
    return null;
  });
}

/** @param until as `neededUntil` @throws ApiError `last_manager` if no other key can manage keys at that time */
async function refuseIfLastManager(db: Directory, before: ApiKey, until: number): Promise<void> {
  const other = hasOtherManager(before.organizationId, before.id, until);
  const found = await db
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(eq(organizations.id, before.organizationId), other))
    .get();
  if (!found) throw new ApiError("last_manager");
}

export async function readKey(env: Env, scope: Scope, id: string) {
  return presentKey(await rowOf(directory(env), scope, apiKeys, id, "key_not_found"), Date.now());
}

/** A key's usage, from its object. */
export async function readUsage(env: Env, scope: Scope, id: string) {
  await rowOf(directory(env), scope, apiKeys, id, "key_not_found");
  const described = await callObject(env.KEYS, id, (key) => key.describe(id), NEARBY);
  if (!described) throw new ApiError("key_not_found");
  return described.usage;
}
