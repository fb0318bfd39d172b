import * as z from "zod/mini";
import type { Limits, Region, SelfService } from "../db/schema.ts";
import { causeOf } from "../log.ts";
import { callOrganization } from "../organizations/call-organization.ts";

/** The `limits` of an organization or a channel: how many chats it may have. Null: no limit. */
export const limitsBody = z.object({ chats: z.nullish(z.int().check(z.gte(0), z.lte(1_000_000_000))) });

/** Merges a patch of limits into the stored ones. */
export function mergeLimits(before: Limits, patch: z.output<typeof limitsBody> | null): Limits {
  if (patch === null) return {};
  return patch.chats === undefined ? before : { chats: patch.chats ?? undefined };
}

/** Limits as the API shows them. */
export function presentLimits({ chats }: Limits): { chats: number | null } {
  return { chats: chats ?? null };
}

/** The `selfService` of an organization: the ceilings for its keys. Null: no ceiling. */
export const selfServiceBody = z.object({
  maxKeys: z.nullish(z.int().check(z.gte(0), z.lte(100_000))),
  maxPerSecond: z.nullish(z.int().check(z.gte(1), z.lte(1_000))),
  monthlyQuota: z.nullish(z.int().check(z.gte(0))),
});

/** Merges a patch of ceilings into the stored ones. Null ends the self-service. */
export function mergeSelfService(
  before: SelfService | null,
  patch: z.output<typeof selfServiceBody> | null,
): SelfService | null {
  if (patch === null) return null;
  const { maxKeys, maxPerSecond, monthlyQuota } = patch;
  return {
    maxKeys: maxKeys === undefined ? before?.maxKeys : (maxKeys ?? undefined),
    maxPerSecond: maxPerSecond === undefined ? before?.maxPerSecond : (maxPerSecond ?? undefined),
    monthlyQuota: monthlyQuota === undefined ? before?.monthlyQuota : (monthlyQuota ?? undefined),
  };
}

/** Ceilings as the API shows them. */
export function presentSelfService({ maxKeys, maxPerSecond, monthlyQuota }: SelfService) {
  return { maxKeys: maxKeys ?? null, maxPerSecond: maxPerSecond ?? null, monthlyQuota: monthlyQuota ?? null };
}

/**
 * Has the organization's object read names and limits in D1 again. If it does not answer, it reads them within a minute
 * of its next use.
 * @param region where the object is created, if this is its first call
 */
export async function refreshOrganization(env: Env, organizationId: string, region?: Region | null): Promise<void> {
  try {
    await callOrganization(env, organizationId, (organization) => organization.refresh(), region);
  } catch (error) {
    console.warn({ event: "organization_not_refreshed", organizationId, error: causeOf(error) });
  }
}
