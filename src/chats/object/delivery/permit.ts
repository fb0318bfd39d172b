import { callObject, NEARBY } from "../../../calls/call-object.ts";
import type { Attempt } from "../../../channels/object/pace.ts";
import type { PermitAnswer } from "../../../channels/object/permits.ts";
import type { Outcome } from "../../../model/network.ts";
import { causeOf } from "../../../platform/log.ts";
import { reportsOf } from "./channel-reports.ts";
import type { DeliveryParts, NetworkChat } from "./network-chat.ts";

export type Granted = PermitAnswer & { outcome: "granted" };

export interface ChannelAccess extends Pick<NetworkChat, "identity"> {
  parts: Pick<DeliveryParts, "env" | "logger">;
}

/**
 * Asks a chat's channel whether a message may be sent now; never throws.
 * @param reservedAt a start that an earlier permit reserved
 * @param brokenEpoch the epoch in which this message last met a broken channel; null if it never did
 * @param withinMs see `PermitRequest`
 */
export async function acquirePermit(
  { identity: { chatId, channelId }, parts: { env, logger } }: ChannelAccess,
  reservedAt: number | null,
  brokenEpoch: number | null,
  withinMs?: number,
): Promise<PermitAnswer | { outcome: "away" }> {
  const request = { channelId, chatId, reservedAt, brokenEpoch, withinMs };
  try {
    return await callObject(env.CHANNELS, channelId, (channel) => channel.permit(request), NEARBY);
  } catch (error) {
    logger.warn({ event: "channel_away", channelId, cause: causeOf(error) });
    return { outcome: "away" };
  }
}

/** Returns a permit that was not used, so that the channel does not wait for the result; never throws. */
export async function returnPermit(
  { identity: { channelId }, parts: { env, logger } }: ChannelAccess,
  { probe, epoch, trial }: Granted,
): Promise<void> {
  if (probe === null && !trial) return;
  const unused = { channelId, works: false, isUnused: true, probe, epoch, trial };
  try {
    await callObject(env.CHANNELS, channelId, (channel) => channel.reportProbe(unused), NEARBY);
  } catch (error) {
    logger.warn({ event: "channel_report_failed", channelId, cause: causeOf(error) });
  }
}

/** Reports to the channel what an attempt's outcome means for all its chats; never throws. */
export async function report(
  { identity: { chatId, channelId }, parts: { env, logger } }: ChannelAccess,
  outcome: Outcome,
  attempt: Attempt,
): Promise<void> {
  const { probe, epoch, trial, brokenEpoch } = attempt;
  try {
    for (const each of reportsOf(outcome, attempt)) {
      await callObject(
        env.CHANNELS,
        channelId,
        (channel) => {
          if (each.report === "slow_down") return channel.slowDown(each.afterMs);
          if (each.report === "probed")
            return channel.reportProbe({ channelId, works: each.works, probe, epoch, trial });
          return channel.reportBroken({ channelId, chatId, reason: each.reason, probe, epoch, brokenEpoch });
        },
        NEARBY,
      );
    }
  } catch (error) {
    logger.warn({ event: "channel_report_failed", channelId, cause: causeOf(error) });
  }
}
