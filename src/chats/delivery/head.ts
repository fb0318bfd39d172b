import { MEDIA_URL_REQUIRED, type Outcome } from "../../channels/adapter.ts";
import type { Attempt } from "../../channels/pace.ts";
import { backoffMs } from "../../platform/backoff.ts";
import type { Message } from "../message.ts";
import type { StatusNews } from "../rpc.ts";
import type { DeliveryLog } from "./delivery-log.ts";
import { attemptOver, type Known, type StoredParts, withoutEarly } from "./parts.ts";
import {
  begin,
  type Delivery,
  type DeliveryError,
  type DeliveryPolicy,
  type HoldReason,
  hold,
  isOverdue,
  settle,
  wakeAt,
} from "./retry.ts";
import type { QueuedMessage } from "./row.ts";

/**
 * The decisions on the message whose turn it is in its chat, as functions of its row, of what happened, and of now: what
 * the outbox does at each step. Nothing here knows of storage, clocks or networks. Times are Unix milliseconds.
 */

const STEPS_A_RUN = 50;
/** The platform ends an alarm after 15 minutes, and an attempt that is cut off may be repeated. */
const RUN_MS = 300_000;
/** The error of a message that the network refuses in the words in which it refuses a channel, while others come through. */
const MESSAGE_REFUSED = "message_refused";
/** Waits while the channel does not answer. */
const AWAY = { firstMs: 10_000, maxMs: 300_000 };
/** What a status says of the channel is old news when the message is older than this. */
const CHANNEL_NEWS_MS = 3_600_000;

type Waiting = Pick<QueuedMessage, "delivery" | "lastError">;
type Dated = { message: Pick<Message, "createdAt" | "updatedAt"> };

/** What the message at the head of the line needs next: to be given up, its lost attempt closed, to wait, or to go. */
export type NextStep =
  | { turn: "expire"; error: DeliveryError }
  | { turn: "close"; outcome: Outcome }
  | { turn: "wait" }
  | { turn: "ask"; reservedAt: number | null };

/** @param isMarked the open attempt, if there is one, was marked by this instance, which has yet to make it */
export function nextStep(
  { delivery, lastError, parts }: Pick<QueuedMessage, "delivery" | "lastError" | "parts">,
  isMarked: boolean,
  now: number,
): NextStep {
  if (isOverdue(delivery, now)) {
    const message = `Not delivered within a day: ${lastError?.message ?? "no attempt came through"}`;
    return { turn: "expire", error: { code: "delivery_timeout", message } };
  }
  if (delivery.startedAt !== null) {
    const outcome: Outcome = { outcome: "unknown", message: "The attempt was cut off", parts: parts.ids };
    if (!isMarked) return { turn: "close", outcome };
  } else if (wakeAt(delivery, now) > now) return { turn: "wait" };
  return { turn: "ask", reservedAt: delivery.reserved ? delivery.nextAt : null };
}

/** Whether a run may take another step: it is bounded in steps and in time, and the alarm starts the next run. */
export function mayGoOn(steps: number, begunAt: number, now: number): boolean {
  return steps < STEPS_A_RUN && now - begunAt < RUN_MS;
}

/** Which message asked for a permit, and how often the channel was told to work until then. */
interface Asking {
  seq: number | undefined;
  wakes: number;
}

/** Whether the channel's answer is old news: it is another message's turn, or a broken channel works meanwhile. */
export function isStalePermit(isBroken: boolean, asked: Asking, current: Asking): boolean {
  return current.seq !== asked.seq || (isBroken && current.wakes !== asked.wakes);
}

/** Why a message gets no permit: its channel's pace, its breaker, or no answer. */
export type NotGranted =
  | { outcome: "later"; at: number; broken: { reason: string; since: number } | null }
  | { outcome: "away" };

/** What is written of a message that got no permit, and what it says of that; a pace is no error. */
export function afterHold(row: Waiting & Dated, permit: NotGranted, now: number, random: number): Waiting {
  const { delivery, lastError } = row;
  const stay = (until: number, reason: HoldReason, since: number, error: DeliveryError | null): Waiting => ({
    delivery: hold(delivery, until, reason, now, waitsSince(row, since)),
    lastError: error ?? lastError,
  });
  if (permit.outcome === "away") {
    const error = { code: "channel_away", message: "The channel does not answer" };
    return stay(now + backoffMs(AWAY, delivery.aways ?? 0, random), "away", now, error);
  }
  const { at, broken } = permit;
  if (!broken) return stay(at, "pace", now, null);
  return stay(at, "broken", broken.since, { code: "channel_broken", message: broken.reason });
}

/**
 * The attempt that a message goes with: the one that was marked in the insert, else one more. A probe ends the wait for
 * the broken channel, which began at `brokenSince`.
 */
export function startAttempt(
  row: { delivery: Delivery } & Dated,
  brokenSince: number | null,
  isMarked: boolean,
  now: number,
): Delivery {
  if (brokenSince === null) return isMarked ? row.delivery : begin(row.delivery, now);
  return begin(hold(row.delivery, now, "broken", now, waitsSince(row, brokenSince)), now);
}

/** What a row knows of a message that takes `of` calls. */
export function known({ message, delivery, parts }: QueuedMessage, of: number): Known {
  return {
    status: message.status,
    error: message.error,
    parts: { ...parts, of: Math.max(of, parts.ids.length) },
    attempts: delivery.attempts,
    isOpen: delivery.startedAt !== null,
  };
}

/** Whether a row still shows the attempt that is over: else what became of it is decided already. */
export function isSameAttempt<T extends { delivery: Delivery }>(row: T | null, { attempts }: Delivery): row is T {
  return row?.delivery.attempts === attempts;
}

/** The channel's epoch after an attempt: a probe that succeeds begins a new one. */
export function epochAfter({ epoch, probe }: Attempt, { outcome }: Outcome): number {
  return epoch + Number(probe !== null && outcome === "sent");
}

/**
 * The outcome as it counts for the message. A message that breaks its channel a second time, after another chat's
 * attempt came through in between, is itself the cause: it fails, and the channel is not told. So one message, or one
 * recipient, can't hold up the chats of a channel. A probe breaks nothing.
 */
export function judged(
  outcome: Outcome,
  { probe, provenEpoch }: { probe: number | null; provenEpoch: number },
  brokenEpoch: number | null,
): Outcome {
  if (outcome.outcome !== "channel_broken" || probe !== null || brokenEpoch === null || provenEpoch <= brokenEpoch)
    return outcome;
  const { reason, parts } = outcome;
  return { outcome: "failed", code: MESSAGE_REFUSED, message: reason, parts };
}

/** What an outcome makes of a message's row. `broken`: in which words a status said that the channel is broken. */
export interface AfterAttempt {
  delivery: Delivery;
  parts: StoredParts;
  lastError: DeliveryError | null;
  status: Message["status"];
  error: DeliveryError | null;
  broken: string | null;
}

/**
 * What an attempt's outcome makes of a message, unless a status has overtaken it: then only which parts are out.
 * @param attempt the part that it began with, and how often the channel was mended by then; absent for a lost one
 */
export function afterAttempt(
  { delivery, lastError }: Waiting,
  row: Known,
  outcome: Outcome,
  policy: DeliveryPolicy,
  now: number,
  random: number,
  attempt?: { first: number; epoch: number },
): AfterAttempt {
  const step = settle(delivery, outcome, policy, now, random, lastError);
  // Redacted too late: it was on its way already, and has come through.
  const isOut = step.state === "sent" && row.error?.code === "redacted";
  const before: Known = isOut ? { ...row, status: "QUEUED", error: null } : row;
  const { status, error, parts, broken = null } = attemptOver(before, attempt?.first ?? row.parts.ids.length, outcome);
  const met: Delivery = step.state === "waiting" ? step.delivery : { ...delivery, startedAt: null };
  const hasBroken = attempt !== undefined && outcome.outcome === "channel_broken";
  const closed: Delivery = hasBroken ? { ...met, brokenEpoch: attempt.epoch } : met;
  const isFailed = step.state === "failed" && status === "QUEUED";
  return {
    delivery: attempt ? { ...closed, epoch: attempt.epoch } : closed,
    parts: step.state === "waiting" && status === "QUEUED" ? parts : withoutEarly(parts),
    lastError: step.state === "sent" || status !== "QUEUED" ? null : step.error,
    status: isFailed ? "FAILED" : status,
    error: isFailed ? step.error : error,
    broken,
  };
}

/** Whose parts may still be told of under ids that nobody knows: not those of a message that is done with. */
export function partsKept({ status, isOpen, parts }: Known): StoredParts {
  return status !== "QUEUED" && !isOpen ? withoutEarly(parts) : parts;
}

/**
 * The message that news is of: the one that it names, or that has a part of that id, or the one under way.
 * @param sending the number of the message whose attempt is under way
 */
export function rowOfStatus(
  log: Pick<DeliveryLog, "byId" | "byNetworkId" | "delivered" | "head">,
  { messageId, networkId }: Pick<StatusNews, "messageId" | "networkId">,
  sending: number | null,
): QueuedMessage | null {
  const row = messageId === null ? log.byNetworkId(networkId) : log.byId(messageId);
  if (row) return log.delivered(row.seq);
  if (messageId !== null) return null;
  return sending === null ? log.head() : log.delivered(sending);
}

/** Which attempt's news it is that the channel is broken; null where it says nothing of the channel as it is now. */
export function brokenChannelReport(
  { delivery, message }: { delivery: Delivery } & Dated,
  now: number,
): Attempt | null {
  const { epoch } = delivery;
  if (epoch === undefined || now - Date.parse(message.updatedAt) > CHANNEL_NEWS_MS) return null;
  return { probe: null, epoch };
}

/** What the channel is told when it works again, or may: one that was held because it was broken may try now. */
export function afterWake(delivery: Delivery, now: number): Delivery | null {
  return delivery.startedAt === null && delivery.heldSince !== null ? { ...delivery, nextAt: now } : null;
}

/** What a channel is told of an attempt. */
export type ChannelReport =
  | { report: "broke"; reason: string }
  | { report: "slow_down"; afterMs: number }
  | { report: "probed"; works: boolean };

/** What of an attempt's outcome concerns all chats of the channel, in the order in which it is told. */
export function reportsOf(outcome: Outcome, { probe, trial }: Pick<Attempt, "probe" | "trial">): ChannelReport[] {
  if (outcome.outcome === "channel_broken") return [{ report: "broke", reason: outcome.reason }];
  const reports: ChannelReport[] = [];
  if (outcome.outcome === "retry" && outcome.wholeChannel) {
    reports.push({ report: "slow_down", afterMs: outcome.afterMs ?? 1_000 });
  }
  if (probe !== null || trial) reports.push({ report: "probed", works: hasAnswered(outcome) });
  return reports;
}

/** An answer to this message, or to its contact, shows that the channel itself works. */
function hasAnswered(outcome: Outcome): boolean {
  // The first one was decided without the network, and the second one's answer was about the channel.
  if (outcome.outcome === "failed") return ![MEDIA_URL_REQUIRED, MESSAGE_REFUSED].includes(outcome.code);
  return outcome.outcome === "sent" || outcome.outcome === "moved";
}

function waitsSince({ message }: Dated, since: number): number {
  return Math.max(since, Date.parse(message.createdAt));
}
