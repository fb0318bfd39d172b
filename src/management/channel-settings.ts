import type * as z from "zod/mini";
import { KINDS } from "../channels/kinds.ts";
import { MAX_ORIGINS } from "../channels/web/spec.ts";
import type { ChannelLimits, channels } from "../db/schema.ts";
import { fault, parse } from "../http/validation.ts";
import type { ChannelSettings } from "../model/channel.ts";
import type { ChannelKind } from "../model/channel-kind.ts";
import { type channelLimitsBody, mergeLimits } from "./limits.ts";

type Channel = typeof channels.$inferSelect;

/**
 * Reads the settings of a channel that a client sent.
 * @throws ApiError `validation_failed`
 */
export function readSettings(kind: ChannelKind, settings: Record<string, unknown>): ChannelSettings {
  // Removes undefined settings: a setting that is not chosen follows the default, even if a later version changes it.
  return JSON.parse(JSON.stringify(parse(KINDS[kind].settings, settings, ["settings"])));
}

/**
 * A channel's settings after a patch. Null resets all of them, and null for one of them that one.
 * @param newLimits those of the same patch
 * @throws ApiError `validation_failed`
 */
export function mergeSettings(
  { kind, settings, limits }: Channel,
  patch: Record<string, unknown> | null,
  newLimits: z.output<typeof channelLimitsBody> | null | undefined,
): ChannelSettings {
  const merged = readSettings(kind, patch === null ? {} : { ...settings, ...patch });
  // Under a lowered limit, what was set stays.
  if (patch?.allowedOrigins) checkOrigins(merged, newLimits === undefined ? limits : mergeLimits(limits, newLimits));
  return merged;
}

/** @throws ApiError `validation_failed` */
export function checkOrigins({ allowedOrigins = [] }: ChannelSettings, { origins = MAX_ORIGINS }: ChannelLimits): void {
  if (allowedOrigins.length <= origins) return;
  const text = `must have at most ${origins} entries. The operator can raise the channel's limits.origins`;
  throw fault("settings.allowedOrigins", text);
}
