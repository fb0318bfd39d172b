import { and, eq, exists, isNull, type SQL, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { apiKeys, organizations, type SelfService } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { fault } from "../http/validation.ts";
import { type Power, whyBeyond, whyLacking } from "../keys/escalation.ts";
import type { Actor } from "./scope.ts";

type ApiKey = typeof apiKeys.$inferSelect;

/** The key that manages other keys, and the ceilings that the operator set; null if there is no self-service. */
export interface Authority {
  maker: ApiKey;
  selfService: SelfService | null;
}

/**
 * The authority of the key that makes a request; null for the operator, who needs none.
 * @throws ApiError `invalid_api_key` if the key was revoked or deleted meanwhile
 */
export async function authorityOf(db: Directory, { scope, id }: Actor): Promise<Authority | null> {
  if (scope === "any") return null;
  const row = await db
    .select({ maker: apiKeys, selfService: organizations.selfService })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(and(eq(apiKeys.id, id), eq(organizations.id, scope.organizationId), isNull(organizations.erasingAt)))
    .get();
  if (!row || row.maker.revokedAt !== null) throw new ApiError("invalid_api_key");
  return row;
}

/** The ceilings. @throws ApiError `self_service_off` */
export function ceilingsOf({ selfService }: Authority): SelfService {
  if (selfService === null) throw new ApiError("self_service_off");
  return selfService;
}

/**
 * Checks that a key may be made into `after`.
 * @param before the key as it is; null for a new one
 * @throws ApiError `permission_denied`
 */
export function checkPower({ maker }: Authority, before: Power | null, after: Power): void {
  const why = (before && whyLacking(maker, before.permissions)) ?? whyBeyond(maker, after);
  if (why !== null) throw new ApiError("permission_denied", { text: why });
}

/** Checks a rate limit against the ceiling. @throws ApiError `validation_failed` */
export function checkRate({ maxPerSecond }: SelfService, rate: { rateLimit: number; windowSeconds: number }): void {
  if (maxPerSecond === undefined || rate.rateLimit <= maxPerSecond * rate.windowSeconds) return;
  throw fault("rateLimit.limit", `must be at most ${maxPerSecond} for each second of the window`);
}

/** Checks that a key has a quota if the sum of quotas has a ceiling. @throws ApiError `validation_failed` */
export function checkQuota({ monthlyQuota: ceiling }: SelfService, monthlyQuota: number | null): void {
  if (ceiling === undefined || monthlyQuota !== null) return;
  throw fault("monthlyQuota", "must be a number, because the organization has a ceiling for the sum of quotas");
}

/**
 * A condition: the key that makes the request is as it was read, so that a change of it applies to what it has not
 * finished yet. A key that is being revoked can't leave another key behind.
 */
export function isMakerAsRead(db: Directory, { maker }: Authority): SQL {
  return exists(db.select({ id: apiKeys.id }).from(apiKeys).where(isKeyAsRead(maker)));
}

/** A condition: the row is this key, and what the rules of escalation depend on has not changed. */
export function isKeyAsRead(key: ApiKey): SQL | undefined {
  return and(
    eq(apiKeys.id, key.id),
    sql`json(${apiKeys.permissions}) is json(${sql.param(key.permissions, apiKeys.permissions)})`,
    sql`json(${apiKeys.ipAllowlist}) is json(${sql.param(key.ipAllowlist, apiKeys.ipAllowlist)})`,
    sql`${apiKeys.expiresAt} is ${key.expiresAt}`,
    sql`${apiKeys.revokedAt} is ${key.revokedAt}`,
    sql`${apiKeys.monthlyQuota} is ${key.monthlyQuota}`,
    sql`${apiKeys.quotaPeak} is ${key.quotaPeak}`,
    sql`${apiKeys.quotaPeakUntil} is ${key.quotaPeakUntil}`,
  );
}

/** A condition: the ceilings of the organization are as they were read. */
export function areCeilingsAsRead(db: Directory, { maker, selfService }: Authority): SQL {
  const stored = sql`json(${organizations.selfService}) is json(${sql.param(selfService, organizations.selfService)})`;
  const same = and(eq(organizations.id, maker.organizationId), stored);
  return exists(db.select({ id: organizations.id }).from(organizations).where(same));
}
