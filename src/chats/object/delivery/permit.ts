import type { Attempt } from "../../../channels/object/pace.ts";
import type { BreakReport, PermitAnswer, PermitRequest, ProbeReport } from "../../../channels/object/permits.ts";
import type { ChatIdentity } from "../../../model/chat-answers.ts";
import type { Outcome } from "../../../model/network.ts";
import { causeOf, type Logger } from "../../../platform/log.ts";
import { reportsOf } from "./channel-reports.ts";

export type Granted = PermitAnswer & { outcome: "granted" };

/** The calls that a chat makes to its channel's object. Each rejects if the object does not answer. */
export interface ChannelPort {
  permit(request: PermitRequest): Promise<PermitAnswer>;
  reportBroken(report: BreakReport): Promise<void>;
  reportProbe(report: ProbeReport): Promise<void>;
  slowDown(afterMs: number): Promise<void>;
}

/** A chat and its channel. */
export interface ChannelAccess {
  identity: Pick<ChatIdentity, "chatId" | "channelId">;
  channel: ChannelPort;
  logger: Logger;
}

/**
 * Asks a chat's channel whether a message may be sent now; never throws.
 * @param reservedAt a start that an earlier permit reserved
 * @param brokenEpoch the epoch in which this message last met a broken channel; null if it never did
 * @param withinMs see `PermitRequest`
 */
export async function acquirePermit(
  { identity: { chatId, channelId }, channel, logger }: ChannelAccess,
  reservedAt: number | null,
  brokenEpoch: number | null,
  withinMs?: number,
): Promise<PermitAnswer | { outcome: "away" }> {
  try {
    return await channel.permit({ channelId, chatId, reservedAt, brokenEpoch, withinMs });
  } catch (error) {
    logger.warn({ event: "channel_away", channelId, cause: causeOf(error) });
    return { outcome: "away" };
  }
}

/** Returns a permit that was not used, so that the channel does not wait for the result; never throws. */
export async function returnPermit(
  { identity: { channelId }, channel, logger }: ChannelAccess,
  { probe, epoch, trial }: Granted,
): Promise<void> {
  if (probe === null && !trial) return;
  try {
    await channel.reportProbe({ channelId, works: false, isUnused: true, probe, epoch, trial });
  } catch (error) {
    logger.warn({ event: "channel_report_failed", channelId, cause: causeOf(error) });
  }
}

/** Reports to the channel what an attempt's outcome means for all its chats; never throws. */
export async function report(
  { identity: { chatId, channelId }, channel, logger }: ChannelAccess,
  outcome: Outcome,
  attempt: Attempt,
): Promise<void> {
  const { probe, epoch, trial, brokenEpoch } = attempt;
  try {
    for (const each of reportsOf(outcome, attempt)) {
      if (each.report === "slow_down") await channel.slowDown(each.afterMs);
      else if (each.report === "probed")
        await channel.reportProbe({ channelId, works: each.works, probe, epoch, trial });
      else await channel.reportBroken({ channelId, chatId, reason: each.reason, probe, epoch, brokenEpoch });
    }
  } catch (error) {
    logger.warn({ event: "channel_report_failed", channelId, cause: causeOf(error) });
  }
}
