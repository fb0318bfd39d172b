import { and, eq, isNull, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import * as z from "zod/mini";
import { configured } from "../config.ts";
import { directory } from "../db/client.ts";
import { apiKeys } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { instant, optional, requiredText } from "../http/fields.ts";
import { newId } from "../ids.ts";
import { isAddressRule } from "../keys/allowlist.ts";
import { changeKeys } from "../keys/change.ts";
import { presentKey } from "../keys/key-record.ts";
import { hashOf, newKeyText } from "../keys/key-text.ts";
import { DEFAULT_PERMISSIONS, PERMISSIONS } from "../keys/permissions.ts";
import { callObject } from "../platform/call-object.ts";
import { activeOrganization } from "./organizations.ts";
import type { overlapBody } from "./overlap.ts";
import { insertIfActive, rowOf } from "./rows.ts";

type ApiKey = typeof apiKeys.$inferSelect;

export const MAX_PER_SECOND = 1_000;

/** The pattern of an address rule in the OpenAPI document. Every rule that `isAddressRule` accepts matches it. */
const ADDRESS_FORM = /^(\d{1,3}(\.\d{1,3}){3}|[\dA-Fa-f:.]*:[\dA-Fa-f:.]*)(\/\d{1,3})?$/;
const NO_ADDRESS = "must be an IPv4 or IPv6 address, or a range in CIDR notation";

const fields = {
  name: requiredText(256),
  permissions: z.array(z.enum(PERMISSIONS)).check(z.maxLength(100)),
  ipAllowlist: z
    .array(
      z.string().check(z.regex(ADDRESS_FORM, { error: NO_ADDRESS, abort: true }), z.refine(isAddressRule, NO_ADDRESS)),
    )
    .check(z.maxLength(1_000)),
  rateLimit: z.object({ limit: z.int().check(z.gte(1)), windowSeconds: z.int().check(z.gte(1), z.lte(3_600)) }).check(
    z.refine(({ limit, windowSeconds }) => limit <= MAX_PER_SECOND * windowSeconds, {
      error: `must be at most ${MAX_PER_SECOND} for each second of the window`,
      path: ["limit"],
    }),
  ),
  monthlyQuota: z.int().check(z.gte(0)),
  expiresAt: instant,
};

/** The body of `POST /organizations/{id}/keys`. */
export const newKeyBody = z.object({
  name: fields.name,
  permissions: optional(fields.permissions),
  ipAllowlist: optional(fields.ipAllowlist),
  rateLimit: optional(fields.rateLimit),
  monthlyQuota: optional(fields.monthlyQuota),
  expiresAt: optional(fields.expiresAt),
});

/** The body of `PATCH /keys/{id}`. Absent fields don't change. Null restores the default. */
export const keyPatch = z.object({
  name: z.optional(fields.name),
  permissions: z.nullish(fields.permissions),
  ipAllowlist: z.nullish(fields.ipAllowlist),
  rateLimit: z.nullish(fields.rateLimit),
  monthlyQuota: z.nullish(fields.monthlyQuota),
  expiresAt: z.nullish(fields.expiresAt),
});

/** Creates a key. Only this response contains its text. Its object is created by its first request. */
export async function createKey(env: Env, organizationId: string, body: z.output<typeof newKeyBody>) {
  const db = directory(env);
  const organization = await activeOrganization(db, organizationId);
  const id = newId("key", organization.jurisdiction);
  const secret = await newKeyText(id, configured(env, "KEY_SECRET"));
  const key: ApiKey = {
    id,
    organizationId,
    name: body.name,
    hash: await hashOf(secret),
    previousHash: null,
    previousUntil: null,
    ...limitsOf(env, body.rateLimit),
    permissions: body.permissions ?? [...DEFAULT_PERMISSIONS],
    ipAllowlist: body.ipAllowlist ?? [],
    monthlyQuota: body.monthlyQuota ?? null,
    expiresAt: body.expiresAt ?? null,
    revokedAt: null,
    createdAt: Date.now(),
  };
  await insertIfActive(db, apiKeys, key);
  return { key: presentKey(key, Date.now()), secret };
}

/** Changes a key. The change applies to its next request. */
export async function patchKey(env: Env, id: string, patch: z.output<typeof keyPatch>) {
  const { rateLimit, permissions, ipAllowlist, ...rest } = patch;
  const key = await changeKey(env, id, {
    ...rest,
    ...(rateLimit !== undefined && limitsOf(env, rateLimit)),
    ...(permissions !== undefined && { permissions: permissions ?? [...DEFAULT_PERMISSIONS] }),
    ...(ipAllowlist !== undefined && { ipAllowlist: ipAllowlist ?? [] }),
  });
  return presentKey(key, Date.now());
}

/** Revokes a key permanently. Its next request is refused. Repeating the call changes nothing. */
export async function revokeKey(env: Env, id: string) {
  const now = Date.now();
  return presentKey(await changeKey(env, id, { revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${now})` }), now);
}

/**
 * Gives a key a new secret. The old secret stays valid for `overlapSeconds`, and any older one ends now, so at most two
 * are valid. Limits, counts and `expiresAt` don't change.
 *
 * If the response was lost, repeat the rotation: it replaces a new secret that was never used, and the old secret keeps
 * the end that the first rotation gave it.
 * @throws ApiError `key_not_found`; `key_revoked` for a revoked or expired key
 */
export async function rotateKey(env: Env, id: string, { overlapSeconds }: z.output<typeof overlapBody>) {
  const db = directory(env);
  const before = await rowOf(db, apiKeys, id, "key_not_found");
  const now = Date.now();
  if (before.revokedAt !== null || (before.expiresAt !== null && before.expiresAt <= now)) {
    throw new ApiError("key_revoked");
  }
  const secret = await newKeyText(id, configured(env, "KEY_SECRET"));
  const hash = await hashOf(secret);
  const [key] = await changeKeys(env, [id], async () => {
    const admittedHash = await callObject(env.KEYS, id, (object) => object.admittedHash());
    // `previousUntil` is set by every rotation. In SQL, so that concurrent rotations see each other's result.
    const isUnused = sql`${apiKeys.previousUntil} is not null and ${apiKeys.hash} is not ${admittedHash}`;
    const ended = { hash: overlapSeconds > 0 ? apiKeys.hash : sql`null`, until: now + overlapSeconds * 1_000 };
    return db
      .update(apiKeys)
      .set({
        hash,
        previousHash: sql`case when ${isUnused} then ${apiKeys.previousHash} else ${ended.hash} end`,
        previousUntil: sql`case when ${isUnused} then ${apiKeys.previousUntil} else ${ended.until} end`,
      })
      .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
      .returning();
  });
  if (!key) throw new ApiError("key_revoked");
  return { key: presentKey(key, now), secret };
}

export async function readKey(env: Env, id: string) {
  return presentKey(await rowOf(directory(env), apiKeys, id, "key_not_found"), Date.now());
}

/** A key's usage, from its object. */
export async function readUsage(env: Env, id: string) {
  await rowOf(directory(env), apiKeys, id, "key_not_found");
  const described = await callObject(env.KEYS, id, (key) => key.describe(id));
  if (!described) throw new ApiError("key_not_found");
  return described.usage;
}

async function changeKey(env: Env, id: string, values: SQLiteUpdateSetSource<typeof apiKeys>): Promise<ApiKey> {
  const db = directory(env);
  const before = await rowOf(db, apiKeys, id, "key_not_found");
  if (Object.keys(values).length === 0) return before;
  const change = () => db.update(apiKeys).set(values).where(eq(apiKeys.id, id)).returning();
  const [key] = await changeKeys(env, [id], change);
  if (!key) throw new ApiError("key_not_found");
  return key;
}

function limitsOf(env: Env, rateLimit: { limit: number; windowSeconds: number } | null | undefined) {
  return {
    rateLimit: rateLimit?.limit ?? configured(env, "RATE_LIMIT"),
    windowSeconds: rateLimit?.windowSeconds ?? configured(env, "RATE_LIMIT_WINDOW_SECONDS"),
  };
}
