import * as z from "zod/mini";
import type { apiKeys, SelfService } from "../db/schema.ts";
import { parse } from "../http/validation.ts";
import { isAddressRule, isSharedByWorkers } from "../model/allowlist.ts";
import { instant, optional, requiredText } from "../model/field.ts";
import { PERMISSIONS } from "../model/permission.ts";
import { REGIONS } from "../model/region.ts";
import { configured } from "../platform/config.ts";

type RateLimit = Pick<typeof apiKeys.$inferSelect, "rateLimit" | "windowSeconds">;

export const MAX_PER_SECOND = 1_000;
export const MAX_WINDOW_SECONDS = 3_600;
/** How many entries an allow-list can have. */
export const MAX_RULES = 1_000;

/** The pattern of an address rule in the OpenAPI document. Every rule that `isAddressRule` accepts matches it. */
const ADDRESS_FORM = /^(\d{1,3}(\.\d{1,3}){3}|[\dA-Fa-f:.]*:[\dA-Fa-f:.]*)(\/\d{1,3})?$/;
const NO_ADDRESS = "must be an IPv4 or IPv6 address, or a range in CIDR notation";
const OF_ALL_WORKERS = "must not be an address of Cloudflare Workers: everybody's Worker calls from the same ones";

const fields = {
  name: requiredText(256),
  permissions: z.array(z.enum(PERMISSIONS)).check(z.maxLength(100)),
  ipAllowlist: z
    .array(
      z.string().check(
        z.regex(ADDRESS_FORM, { error: NO_ADDRESS, abort: true }),
        z.refine(isAddressRule, NO_ADDRESS),
        z.refine((rule) => !isSharedByWorkers(rule), OF_ALL_WORKERS),
      ),
    )
    .check(z.maxLength(MAX_RULES)),
  rateLimit: z
    .object({ limit: z.int().check(z.gte(1)), windowSeconds: z.int().check(z.gte(1), z.lte(MAX_WINDOW_SECONDS)) })
    .check(
      z.refine(({ limit, windowSeconds }) => limit <= MAX_PER_SECOND * windowSeconds, {
        error: `must be at most ${MAX_PER_SECOND} for each second of the window`,
        path: ["limit"],
      }),
    ),
  monthlyQuota: z.int().check(z.gte(0)),
  draftsOnly: z.boolean(),
  expiresAt: instant,
};

/** The body of `POST /organizations/{id}/keys`. */
export const newKeyBody = z.object({
  name: fields.name,
  permissions: optional(fields.permissions),
  ipAllowlist: optional(fields.ipAllowlist),
  rateLimit: optional(fields.rateLimit),
  monthlyQuota: optional(fields.monthlyQuota),
  draftsOnly: optional(fields.draftsOnly),
  region: optional(z.enum(REGIONS)),
  expiresAt: optional(fields.expiresAt.check(z.refine((at) => at > Date.now(), "must be in the future"))),
});

/**
 * The body of `PATCH /keys/{id}`. Absent fields don't change, those of the rate limit neither. Null restores the default.
 */
export const keyPatch = z.object({
  name: z.optional(fields.name),
  permissions: z.nullish(fields.permissions),
  ipAllowlist: z.nullish(fields.ipAllowlist),
  rateLimit: z.nullish(
    z.object({
      limit: z.nullish(z.int().check(z.gte(1))),
      windowSeconds: z.nullish(z.int().check(z.gte(1), z.lte(MAX_WINDOW_SECONDS))),
    }),
  ),
  monthlyQuota: z.nullish(fields.monthlyQuota),
  draftsOnly: z.nullish(fields.draftsOnly),
  expiresAt: z.nullish(fields.expiresAt),
});

/** A key's rate limit, or the default, which is lowered to the ceiling. */
export function rateOrDefault(
  env: Env,
  rateLimit: { limit: number; windowSeconds: number } | null | undefined,
  ceilings: SelfService | null,
): RateLimit {
  if (rateLimit) return { rateLimit: rateLimit.limit, windowSeconds: rateLimit.windowSeconds };
  const windowSeconds = configured(env, "RATE_LIMIT_WINDOW_SECONDS");
  const most = (ceilings?.maxPerSecond ?? MAX_PER_SECOND) * windowSeconds;
  return { rateLimit: Math.min(configured(env, "RATE_LIMIT"), most), windowSeconds };
}

/** A key's rate limit after a patch. Null restores the default. @throws ApiError `validation_failed` */
export function mergedRate(
  env: Env,
  before: RateLimit,
  patch: z.output<typeof keyPatch>["rateLimit"],
  ceilings: SelfService | null,
): RateLimit {
  if (!patch) return rateOrDefault(env, null, ceilings);
  const windowSeconds =
    patch.windowSeconds === undefined
      ? before.windowSeconds
      : (patch.windowSeconds ?? configured(env, "RATE_LIMIT_WINDOW_SECONDS"));
  const most = (ceilings?.maxPerSecond ?? MAX_PER_SECOND) * windowSeconds;
  const limit =
    patch.limit === undefined ? before.rateLimit : (patch.limit ?? Math.min(configured(env, "RATE_LIMIT"), most));
  return rateOrDefault(env, parse(fields.rateLimit, { limit, windowSeconds }, ["rateLimit"]), ceilings);
}
