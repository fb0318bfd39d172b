import type { Outcome } from "../../channels/adapter.ts";
import type { PermitAnswer } from "../../channels/channel-object.ts";
import type { Attempt } from "../../channels/pace.ts";
import { causeOf } from "../../log.ts";
import { callObject } from "../../platform/call-object.ts";
import type { ChatIdentity } from "../log/message-log.ts";
import { reportsOf } from "./head.ts";

export type Granted = PermitAnswer & { outcome: "granted" };
type Leave = PermitAnswer | { outcome: "away" };

/**
 * Asks a chat's channel whether a message may go now; never throws.
 * @param reservedAt a start that an earlier permit named
 * @param brokeIn how often the channel had been mended when the message last met it broken
 */
export async function acquirePermit(
  env: Env,
  { channelId, chatId }: ChatIdentity,
  reservedAt: number | null,
  brokeIn: number | null,
): Promise<Leave> {
  try {
    const request = { channelId, chatId, reservedAt, brokeIn };
    return await callObject(env.CHANNELS, channelId, (channel) => channel.permit(request));
  } catch (error) {
    console.warn({ event: "channel_away", channelId, cause: causeOf(error) });
    return { outcome: "away" };
  }
}

/** Tells the channel what of an attempt's outcome concerns all its chats; never throws. */
export async function report(
  env: Env,
  { channelId, chatId }: ChatIdentity,
  outcome: Outcome,
  attempt: Attempt,
): Promise<void> {
  const { probe, epoch, trial, brokeIn } = attempt;
  try {
    for (const told of reportsOf(outcome, attempt)) {
      await callObject(env.CHANNELS, channelId, (channel) => {
        if (told.report === "slow_down") return channel.slowDown(told.afterMs);
        if (told.report === "probed") return channel.probed({ channelId, works: told.works, probe, epoch, trial });
        return channel.broke({ channelId, chatId, reason: told.reason, probe, epoch, brokeIn });
      });
    }
  } catch (error) {
    console.warn({ event: "channel_not_told", channelId, cause: causeOf(error) });
  }
}
