import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { MAX_ORIGINS, MOST_ORIGINS } from "../channels/web/spec.ts";
import type { ChannelLimits, Limits, SelfService } from "../db/schema.ts";
import { ROW_CEILINGS } from "../model/organization.ts";
import type { Region } from "../model/region.ts";
import { warnIfFails } from "../platform/log.ts";

const chats = z.nullish(z.int().check(z.gte(0), z.lte(1_000_000_000)));
const rows = z.nullish(z.int().check(z.gte(0), z.lte(100_000)));

/** The `limits` of an organization. Null: no limit of chats, and the default of the others. */
export const limitsBody = z.object({ chats, members: rows, templates: rows, channels: rows });

/** The `limits` of a channel. Null: no limit of chats, and the default of the others. */
export const channelLimitsBody = z.object({ chats, origins: z.nullish(z.int().check(z.gte(0), z.lte(MOST_ORIGINS))) });

/** Merges a patch of limits into the stored ones. Null removes all of them. */
export function mergeLimits<Stored extends Limits | ChannelLimits>(
  before: Stored,
  patch: { [Name in keyof Stored]?: number | null | undefined } | null,
): Stored {
  const merged = { ...before, ...patch };
  const set = Object.entries(merged).filter(([, value]) => typeof value === "number");
  return (patch === null ? {} : Object.fromEntries(set)) as Stored;
}

export function presentLimits({ chats, members, templates, channels }: Limits) {
  return {
    chats: chats ?? null,
    members: members ?? ROW_CEILINGS.members,
    templates: templates ?? ROW_CEILINGS.templates,
    channels: channels ?? ROW_CEILINGS.channels,
  };
}

export function presentChannelLimits({ chats, origins }: ChannelLimits) {
  return { chats: chats ?? null, origins: origins ?? MAX_ORIGINS };
}

/** The `selfService` of an organization: the ceilings for its keys. Null: 1,000 keys, and no other ceiling. */
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

export function presentSelfService({ maxKeys, maxPerSecond, monthlyQuota }: SelfService) {
  return { maxKeys: maxKeys ?? null, maxPerSecond: maxPerSecond ?? null, monthlyQuota: monthlyQuota ?? null };
}

/**
 * Has the organization's object read names and limits in D1 again. If it does not answer, it reads them within a minute
 * of its next use.
 * @param region where the object is created, if this is its first call
 */
export async function refreshOrganization(env: Env, organizationId: string, region?: Region | null): Promise<void> {
  await warnIfFails({ event: "organization_not_refreshed", organizationId }, () =>
    callOrganization(env, organizationId, (organization) => organization.refresh(), region),
  );
}
