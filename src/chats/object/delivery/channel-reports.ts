import type { Attempt } from "../../../channels/object/pace.ts";
import type { Message } from "../../../model/message.ts";
import type { Outcome } from "../../../model/network.ts";
import type { Delivery } from "../log/delivery-column.ts";

/** The decisions about what a chat reports to its channel. Pure functions; times are Unix milliseconds. */

/** The error code of a message that alone makes the network refuse the channel. */
export const MESSAGE_REFUSED = "message_refused";
/** A status that reports a broken channel is ignored if the message changed longer ago than this. */
const CHANNEL_NEWS_MS = 3_600_000;

/** A report to the channel about an attempt. */
export type ChannelReport =
  | { report: "broke"; reason: string }
  | { report: "slow_down"; afterMs: number }
  | { report: "probed"; works: boolean };

/** The reports of an outcome that concerns all chats of the channel, in order. */
export function reportsOf(outcome: Outcome, { probe, trial }: Pick<Attempt, "probe" | "trial">): ChannelReport[] {
  if (outcome.outcome === "channel_broken") return [{ report: "broke", reason: outcome.reason }];
  const reports: ChannelReport[] = [];
  if (outcome.outcome === "retry" && outcome.wholeChannel) {
    reports.push({ report: "slow_down", afterMs: outcome.afterMs ?? 1_000 });
  }
  if (probe !== null || trial) reports.push({ report: "probed", works: provesChannel(outcome) });
  return reports;
}

/** Whether the outcome shows that the channel works: a success, or an error that is surely not about the channel. */
function provesChannel(outcome: Outcome): boolean {
  if (outcome.outcome === "failed") return outcome.works === true;
  return outcome.outcome === "sent" || outcome.outcome === "moved";
}

/** The attempt to report if a status says that the channel is broken; null if the status is too old to report. */
export function brokenChannelReport(
  { delivery, message }: { delivery: Pick<Delivery, "epoch">; message: Pick<Message, "updatedAt"> },
  now: number,
): Attempt | null {
  const { epoch } = delivery;
  if (epoch === undefined || now - Date.parse(message.updatedAt) > CHANNEL_NEWS_MS) return null;
  return { probe: null, epoch };
}
