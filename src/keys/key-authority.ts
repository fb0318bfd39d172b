import { and, eq, exists, isNull, type SQL, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { apiKeys, members, organizations, type SelfService } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import type { Actor } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { isBound, type Lack, type Power, whyBeyond, whyLacking } from "../model/escalation.ts";

type ApiKey = typeof apiKeys.$inferSelect;
type Member = typeof members.$inferSelect;

/** Who manages keys within an organization: a key or a member. */
export interface Authority {
  organizationId: string;
  power: Power;
  /** How an error for it begins. */
  lack: Lack;
  /** The ceilings that the operator set; null if there is no self-service. */
  selfService: SelfService | null;
  /**
   * A condition: the key or the member is as it was read, so that a change of it applies to what it has not finished
   * yet. A key that is being revoked can't leave another key behind.
   */
  isAsRead: SQL;
}

/**
 * The authority of the key or member that makes a request; null for the operator, who needs none.
 * @throws ApiError `invalid_api_key`, `not_signed_in` if the key was revoked or the member removed meanwhile;
 *   `organization_not_found` if the member's organization is being deleted
 */
export async function authorityOf(db: Directory, { scope, type, id }: Actor): Promise<Authority | null> {
  if (type === "operator" || scope === "any") return null;
  return type === "key" ? keyAuthority(db, scope.organizationId, id) : memberAuthority(db, scope.organizationId, id);
}

async function keyAuthority(db: Directory, organizationId: string, id: string): Promise<Authority> {
  const row = await db
    .select({ maker: apiKeys, selfService: organizations.selfService })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(and(eq(apiKeys.id, id), eq(organizations.id, organizationId), isNull(organizations.erasingAt)))
    .get();
  if (!row || row.maker.revokedAt !== null) throw new ApiError("invalid_api_key");
  const { maker: power, selfService } = row;
  const isAsRead = exists(db.select({ id: apiKeys.id }).from(apiKeys).where(isKeyAsRead(power)));
  return { organizationId, power, lack: "The API key lacks", selfService, isAsRead };
}

async function memberAuthority(db: Directory, organizationId: string, id: string): Promise<Authority> {
  const row = await db
    .select({
      permissions: members.permissions,
      selfService: organizations.selfService,
      erasingAt: organizations.erasingAt,
    })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(eq(members.id, id), eq(organizations.id, organizationId)))
    .get();
  if (!row) throw new ApiError("not_signed_in");
  if (row.erasingAt !== null) throw new ApiError("organization_not_found");
  const { permissions, selfService } = row;
  const isAsRead = exists(db.select({ id: members.id }).from(members).where(isMemberAsRead({ id, permissions })));
  const power = { permissions, expiresAt: null, ipAllowlist: [], draftsOnly: false };
  return { organizationId, power, lack: "You lack", selfService, isAsRead };
}

/** A condition: the row is this member, and its permissions have not changed. */
export function isMemberAsRead({ id, permissions }: Pick<Member, "id" | "permissions">): SQL | undefined {
  const stored = sql`json(${members.permissions}) is json(${sql.param(permissions, members.permissions)})`;
  return and(eq(members.id, id), stored);
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
export function checkPower({ power, lack }: Authority, before: Power | null, after: Power): void {
  const why = (before && whyLacking(power, before, lack)) ?? whyBeyond(power, after, lack);
  if (why !== null) throw new ApiError("permission_denied", { text: why });
}

/**
 * Checks that a key may make what has no end and no allow-list of addresses: members with permissions, sign-in links,
 * webhooks and identity secrets.
 * @param making completes "An API key … can't"
 * @throws ApiError `permission_denied`
 */
export function checkLasting({ power }: Authority, making: string): void {
  if (!isBound(power)) return;
  const text = `An API key with an end or an allow-list of addresses can't ${making}, which would outlast it. Use a key without them`;
  throw new ApiError("permission_denied", { text });
}

/** The authority for making what has no end. @throws ApiError as `authorityOf` and `checkLasting` */
export async function lastingAuthority(db: Directory, actor: Actor, making: string): Promise<Authority | null> {
  const authority = await authorityOf(db, actor);
  if (authority) checkLasting(authority, making);
  return authority;
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

/** A condition: the row is this key, and what the rules of escalation depend on has not changed. */
export function isKeyAsRead(key: ApiKey): SQL | undefined {
  return and(
    eq(apiKeys.id, key.id),
    sql`json(${apiKeys.permissions}) is json(${sql.param(key.permissions, apiKeys.permissions)})`,
    sql`json(${apiKeys.ipAllowlist}) is json(${sql.param(key.ipAllowlist, apiKeys.ipAllowlist)})`,
    eq(apiKeys.draftsOnly, key.draftsOnly),
    sql`${apiKeys.expiresAt} is ${key.expiresAt}`,
    sql`${apiKeys.revokedAt} is ${key.revokedAt}`,
    sql`${apiKeys.monthlyQuota} is ${key.monthlyQuota}`,
    sql`${apiKeys.quotaPeak} is ${key.quotaPeak}`,
    sql`${apiKeys.quotaPeakUntil} is ${key.quotaPeakUntil}`,
  );
}

/** A condition: the ceilings of the organization are as they were read. */
export function areCeilingsAsRead(db: Directory, { organizationId, selfService }: Authority): SQL {
  const stored = sql`json(${organizations.selfService}) is json(${sql.param(selfService, organizations.selfService)})`;
  const same = and(eq(organizations.id, organizationId), stored);
  return exists(db.select({ id: organizations.id }).from(organizations).where(same));
}
