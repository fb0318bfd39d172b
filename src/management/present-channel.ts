import { callOrganization } from "../calls/call-organization.ts";
import { KINDS } from "../channels/kinds.ts";
import type { channels } from "../db/schema.ts";
import type { Actor, Scope } from "../model/caller.ts";
import { shownWarnings } from "../model/channel-warning.ts";
import type { ChannelNumbers } from "../model/organization.ts";
import { pick } from "../model/pick.ts";
import { isoTime } from "../model/time.ts";
import { causeOf } from "../platform/log.ts";
import { open, sealingKeys } from "../secrets/sealing.ts";
import { presentChannelLimits } from "./limits.ts";

type Channel = typeof channels.$inferSelect;

/** Whose channels a request can reach, and how they are shown. */
export interface ChannelView {
  scope: Scope;
  /** The origin of webhook URLs: the one that the client called. */
  origin: string;
  /**
   * Whether verify tokens are shown. Anyone who has one can call the service like the network, and pose as a contact.
   */
  hasTokens: boolean;
  actor: Actor;
}

/** A channel as the API shows it, with only the last four characters of each credential. */
export async function presentChannel(
  env: Env,
  { origin, hasTokens }: ChannelView,
  channel: Channel,
  numbers: ChannelNumbers | undefined,
) {
  const { createdAt, ...settings } = presentSettings(channel);
  const { id, kind } = settings;
  return {
    ...settings,
    ...(channel.verifyToken && {
      credentials: channel.credentialHints,
      webhook: {
        url: `${origin}/hooks/${kind}/${id}`,
        verifyToken: hasTokens ? await openColumn(env, id, "verify_token", channel.verifyToken) : null,
      },
    }),
    health: presentHealth(channel, numbers),
    createdAt,
  };
}

/** What was set in a channel, without anything of its credentials. */
export function presentSettings(channel: Channel) {
  return {
    ...pick(channel, "id", "organizationId", "kind", "name"),
    settings: { ...KINDS[channel.kind].defaults, ...channel.settings },
    limits: presentChannelLimits(channel.limits),
    retentionDays: channel.retentionDays,
    createdAt: isoTime(channel.createdAt),
  };
}

/**
 * A channel's health as the API shows it. A channel whose object never reported its health works. `isVerified`: the
 * network has accepted a message, so its credentials are more than a claim. A web chat needs no network.
 */
export function presentHealth(
  { kind, createdAt }: Pick<Channel, "kind" | "createdAt">,
  numbers: Pick<ChannelNumbers, "health" | "attempts"> | undefined,
) {
  const { state, reason, since } = numbers?.health ?? { state: "ok" as const, reason: null, since: createdAt };
  const isVerified = kind === "web" || (numbers?.attempts.sent ?? 0) > 0;
  const { warnings, unknown = {} } = numbers?.health ?? {};
  return { state, reason, since: isoTime(since), isVerified, warnings: shownWarnings(warnings), unknown };
}

/** What the organization's object knows of a channel; undefined if nothing. */
export async function numbersOf(env: Env, { id, organizationId }: Channel): Promise<ChannelNumbers | undefined> {
  const { channels } = await callOrganization(env, organizationId, (organization) => organization.numbers([id], []));
  return channels[0];
}

/** Null, with a log line, if no key opens it: the rest of the channel and the other channels must stay readable. */
export async function openColumn(env: Env, id: string, column: string, sealed: string | null): Promise<string | null> {
  try {
    return await open(sealingKeys(env), { id, column }, sealed ?? "");
  } catch (error) {
    console.error({ event: "credential_not_readable", channelId: id, error: causeOf(error) });
    return null;
  }
}
