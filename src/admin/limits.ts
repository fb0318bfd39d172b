import * as z from "zod/mini";
import type { Limits, Region } from "../db/schema.ts";
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
