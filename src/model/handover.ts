import type { Counts } from "./counts.ts";
import type { Permission } from "./permission.ts";
import type { ResponseClass } from "./response-time.ts";

/** Who answers a chat: the channel's bot, or people. */
export const HANDLERS = ["bot", "people"] as const;
export type Handler = (typeof HANDLERS)[number];

/**
 * Why a chat got another handler: a client asked for it, a person wrote, the bot was silent for too long, the channel has
 * this bot no longer, or the chat was closed.
 */
export const HANDOVER_REASONS = ["asked", "took_over", "bot_silent", "bot_gone", "closed"] as const;
export type HandoverReason = (typeof HANDOVER_REASONS)[number];

/** Why people got a chat from its bot, as it is counted: as above, and `bot_asked` if the client was the bot. */
export const HANDED_OVER = ["bot_asked", "asked", "took_over", "bot_silent", "bot_gone"] as const;
export type HandedOver = (typeof HANDED_OVER)[number];

/** How often people got a chat from its bot, and for how long the bot had dealt with the contact by then. */
export type HandoverCounts = Counts<`handover.${HandedOver}` | `held.${ResponseClass}`>;

export const MIN_HAND_OVER_SECONDS = 10;
export const MAX_HAND_OVER_SECONDS = 3_600;
export const DEFAULT_HAND_OVER_SECONDS = 120;

/** What a chat knows of its channel's bot. `version` is another one for each other bot of the channel. */
export interface ChannelBot {
  version: number;
  /** How long the bot can leave the contact without an answer; null if the channel no longer has a bot. */
  handOverAfterSeconds: number | null;
}

/** A wait that a handover to people begins: the contact waits since `waitsSince`, and for people since `from`. */
export interface WaitForPeople {
  waitsSince: number;
  from: number;
}

/** What decides whether a key can be a bot. Times are Unix milliseconds. */
interface BotKey {
  permissions: readonly Permission[];
  draftsOnly: boolean;
  expiresAt: number | null;
  revokedAt: number | null;
}

/** Whether a key can answer contacts. */
export function canBeBot({ permissions, draftsOnly, expiresAt, revokedAt }: BotKey, now: number): boolean {
  const isLiving = revokedAt === null && (expiresAt === null || expiresAt > now);
  return isLiving && !draftsOnly && permissions.includes("messages:send");
}

/** The handler of a chat that names this version of a bot, or null for people. A former bot has no chats. */
export function handlerOf(bot: number | null, current: number | null): Handler {
  return bot !== null && bot === current ? "bot" : "people";
}
