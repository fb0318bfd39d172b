import { MEDIA_URL_REQUIRED, type Outcome } from "../channels/adapter.ts";
import type { LeaveAnswer } from "../channels/channel-object.ts";
import type { Attempt } from "../channels/pace.ts";
import { causeOf } from "../log.ts";
import { callObject } from "../objects.ts";
import type { Delivery, DeliveryError, HoldReason } from "./delivery.ts";
import type { ChatIdentity } from "./message-log.ts";

const FIRST_AWAY_MS = 10_000;
const MAX_AWAY_MS = 300_000;

export type Go = LeaveAnswer & { leave: "go" };
type Leave = LeaveAnswer | { leave: "away" };

/** Asks a chat's channel whether a message may go now; never throws. */
export async function askLeave(env: Env, { channelId, chatId }: ChatIdentity, delivery: Delivery): Promise<Leave> {
  const reservedAt = delivery.reserved ? delivery.nextAt : null;
  try {
    return await callObject(env.CHANNELS, channelId, (channel) => channel.leave({ channelId, chatId, reservedAt }));
  } catch (error) {
    console.warn({ event: "channel_away", channelId, cause: causeOf(error) });
    return { leave: "away" };
  }
}

/**
 * How long a message waits whose channel did not answer `times` times in a row: 10 s, doubling to 5 min, each up to a
 * fifth shorter or longer, so that the chats of a channel that could not keep up don't return together.
 * @param random from 0 to 1
 */
export function awayMs(times: number, random: number): number {
  return Math.round(Math.min(MAX_AWAY_MS, FIRST_AWAY_MS * 2 ** (times - 1)) * (0.8 + 0.4 * random));
}

/** How long a message is held that got no leave, since when, and what it says of that; a pace is no error. */
export function heldBy(
  leave: Exclude<Leave, Go>,
  { aways = 0 }: Delivery,
): {
  until: number;
  reason: HoldReason;
  since: number;
  error: DeliveryError | null;
} {
  const now = Date.now();
  if (leave.leave === "away") {
    const error = { code: "channel_away", message: "The channel does not answer" };
    return { until: now + awayMs(aways + 1, Math.random()), reason: "away", since: now, error };
  }
  const { at: until, broken } = leave;
  if (!broken) return { until, reason: "pace", since: now, error: null };
  return { until, reason: "broken", since: broken.since, error: { code: "channel_broken", message: broken.reason } };
}

/** An answer to this message, or to its contact, shows that the channel itself works; one that was not asked for none. */
function hasAnswered(outcome: Outcome): boolean {
  if (outcome.outcome === "failed") return outcome.code !== MEDIA_URL_REQUIRED;
  return outcome.outcome === "sent" || outcome.outcome === "moved";
}

/** Tells the channel what of an attempt's outcome concerns all its chats; never throws. */
export async function report(
  env: Env,
  { channelId, chatId }: ChatIdentity,
  outcome: Outcome,
  { probe, mended, trial }: Attempt,
): Promise<void> {
  try {
    if (outcome.outcome === "channel_broken") {
      const { reason } = outcome;
      await callObject(env.CHANNELS, channelId, (channel) =>
        channel.broke({ channelId, chatId, reason, probe, mended }),
      );
    } else if (outcome.outcome === "retry" && outcome.wholeChannel) {
      await callObject(env.CHANNELS, channelId, (channel) => channel.slowDown(outcome.afterMs ?? 1_000));
    }
    if ((probe || trial) && outcome.outcome !== "channel_broken") {
      const works = hasAnswered(outcome);
      await callObject(env.CHANNELS, channelId, (channel) =>
        channel.probed({ channelId, works, probe, mended, trial }),
      );
    }
  } catch (error) {
    console.warn({ event: "channel_not_told", channelId, cause: causeOf(error) });
  }
}
