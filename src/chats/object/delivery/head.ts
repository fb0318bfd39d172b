import type { Attempt } from "../../../channels/object/pace.ts";
import type { StatusNews } from "../../../model/chat-answers.ts";
import { expiryOf, type Message } from "../../../model/message.ts";
import type { Outcome } from "../../../model/network.ts";
import { backoffMs } from "../../../platform/backoff.ts";
import type { Delivery, DeliveryError, QueuedMessage, StoredParts } from "../log/delivery-column.ts";
import type { MessageLog } from "../log/message-log.ts";
import { INTERRUPTED, withPast } from "./attempt-history.ts";
import { MESSAGE_REFUSED } from "./channel-reports.ts";
import { attemptOver, type Known, withoutEarly } from "./parts.ts";
import { begin, type DeliveryPolicy, type HoldReason, hold, isOverdue, settle, wakeAt } from "./retry.ts";

/**
 * The decisions about the message at the head of the queue: what the outbox does at each step. Pure functions of the
 * message's row, the event and the time. Times are Unix milliseconds.
 */

const STEPS_A_RUN = 50;
/** Well below the platform's limit of 15 minutes for an alarm, which would interrupt an attempt. */
const RUN_MS = 300_000;
/** The back-off while the channel's object does not answer. */
const AWAY = { firstMs: 10_000, maxMs: 300_000 };

type Waiting = Pick<QueuedMessage, "delivery" | "lastError">;
type Dated = { message: Pick<Message, "createdAt"> };
type Expiring = { message: Pick<Message, "expiresAt">; delivery: Pick<Delivery, "startedAt"> };

/** The error of a message that expired. */
export const MESSAGE_EXPIRED: DeliveryError = { code: "expired", message: "It expired before it was delivered" };

/** The error of a message whose every attempt ended in a fault of the service. */
export const STUCK: DeliveryError = {
  code: "delivery_timeout",
  message: "Not delivered within a day: an internal error interrupted each attempt",
};

/**
 * Whether a queued message fails because it has expired. An open attempt ends first, and counts.
 * @param isMarked whether the open attempt was stored with the message and this instance has not made it yet
 */
export function mayExpire({ message, delivery }: Expiring, isMarked: boolean, now: number): boolean {
  const expiresAt = expiryOf(message);
  return expiresAt !== null && expiresAt <= now && (delivery.startedAt === null || isMarked);
}

/** The next step: fail an expired or overdue message, close a lost attempt, wait, or ask the channel for a permit. */
export type NextStep =
  | { turn: "expire"; error: DeliveryError }
  | { turn: "close"; outcome: Outcome }
  | { turn: "wait" }
  | { turn: "ask"; reservedAt: number | null };

/** @param isMarked whether the open attempt was stored with the message and this instance has not made it yet */
export function nextStep(
  row: Expiring & Pick<QueuedMessage, "delivery" | "lastError" | "parts">,
  isMarked: boolean,
  now: number,
): NextStep {
  const { delivery, lastError, parts } = row;
  if (delivery.startedAt !== null && !isMarked) {
    const outcome: Outcome = { outcome: "unknown", message: INTERRUPTED.message, parts: parts.ids };
    return { turn: "close", outcome };
  }
  if (mayExpire(row, isMarked, now)) return { turn: "expire", error: MESSAGE_EXPIRED };
  if (isOverdue(delivery, now)) {
    const message = `Not delivered within a day: ${lastError?.message ?? "no attempt succeeded"}`;
    return { turn: "expire", error: { code: "delivery_timeout", message } };
  }
  if (delivery.startedAt === null && wakeAt(delivery, now) > now) return { turn: "wait" };
  return { turn: "ask", reservedAt: delivery.reserved ? delivery.nextAt : null };
}

/** Whether a run may take another step. Steps and time are limited; the alarm starts the next run. */
export function mayGoOn(steps: number, begunAt: number, now: number): boolean {
  return steps < STEPS_A_RUN && now - begunAt < RUN_MS;
}

/** The message at the head of the queue, and how often its channel has woken the chat. */
interface HeadState {
  seq: number | undefined;
  wakes: number;
}

/**
 * Whether a permit is outdated, because another message is at the head, the message has expired, or the broken channel
 * works again.
 */
export function isStalePermit(
  isBroken: boolean,
  asked: HeadState,
  current: HeadState & { isExpired: boolean },
): boolean {
  return current.seq !== asked.seq || current.isExpired || (isBroken && current.wakes !== asked.wakes);
}

/** Why a message gets no permit: the channel's pace, its breaker, or no answer. */
export type NotGranted =
  | { outcome: "later"; at: number; broken: { reason: string; since: number } | null }
  | { outcome: "away" };

/** The new state of a message that got no permit. Waiting for the channel's pace is not an error. */
export function afterHold(row: Waiting & Dated, permit: NotGranted, now: number, random: number): Waiting {
  const { delivery, lastError } = row;
  const stay = (until: number, reason: HoldReason, since: number, error: DeliveryError | null): Waiting => ({
    delivery: hold(delivery, until, reason, now, waitingSince(row, since)),
    lastError: error ?? lastError,
  });
  if (permit.outcome === "away") {
    const error = { code: "channel_away", message: "The channel does not answer" };
    return stay(now + backoffMs(AWAY, delivery.noAnswers ?? 0, random), "away", now, error);
  }
  const { at, broken } = permit;
  if (!broken) return stay(at, "pace", now, null);
  return stay(at, "broken", broken.since, { code: "channel_broken", message: broken.reason });
}

/**
 * Starts an attempt, unless the message was stored with one. A probe ends the wait for a broken channel, which began at
 * `brokenSince`.
 */
export function startAttempt(
  row: { delivery: Delivery } & Dated,
  brokenSince: number | null,
  isMarked: boolean,
  now: number,
): Delivery {
  if (brokenSince === null) return isMarked ? row.delivery : begin(row.delivery, now);
  return begin(hold(row.delivery, now, "broken", now, waitingSince(row, brokenSince)), now);
}

/** Whether a message may be at its network under an id that nobody knows: an attempt is open, or one got no answer. */
export function isOutcomeOpen({ delivery, parts }: Pick<QueuedMessage, "delivery" | "parts">): boolean {
  return delivery.startedAt !== null || (parts.lost?.some((count) => count > 0) ?? false);
}

/** The state of a message that takes `of` calls. */
export function known({ message, delivery, parts }: QueuedMessage, of: number): Known {
  return {
    status: message.status,
    error: message.error,
    parts: { ...parts, of: Math.max(of, parts.ids.length) },
    attempts: delivery.attempts,
    isOpen: delivery.startedAt !== null,
  };
}

/** Whether a row still shows this attempt. If not, its outcome has already been decided. */
export function isSameAttempt<T extends { delivery: Delivery }>(row: T | null, { attempts }: Delivery): row is T {
  return row?.delivery.attempts === attempts;
}

/** The channel's epoch after an attempt. A successful probe starts a new epoch. */
export function epochAfter({ epoch, probe }: Attempt, { outcome }: Outcome): number {
  return epoch + Number(probe !== null && outcome === "sent");
}

/**
 * The outcome that counts for the message. If a message breaks its channel a second time, although another chat's attempt
 * succeeded in between, the message itself is the cause: it fails, and the channel gets no report. So one message or
 * recipient can't block a channel's chats. Probes are exempt. An error that may be about the channel is, if the channel
 * never worked with its present credentials: messages must not fail for a wrong number.
 */
export function judged(
  outcome: Outcome,
  { probe, epoch, provenEpoch }: { probe: number | null; epoch: number; provenEpoch: number },
  brokenEpoch: number | null,
): Outcome {
  if (outcome.outcome === "failed" && outcome.unsure !== undefined && provenEpoch < epoch) {
    return { outcome: "channel_broken", reason: outcome.unsure, parts: outcome.parts };
  }
  if (outcome.outcome !== "channel_broken" || probe !== null || brokenEpoch === null || provenEpoch <= brokenEpoch)
    return outcome;
  const { reason, parts } = outcome;
  return { outcome: "failed", code: MESSAGE_REFUSED, message: reason, parts };
}

/** The state of a message after an attempt. `broken` is the reason if a status reported a broken channel. */
export interface AfterAttempt {
  delivery: Delivery;
  parts: StoredParts;
  lastError: DeliveryError | null;
  status: Message["status"];
  error: DeliveryError | null;
  broken: string | null;
}

/**
 * The state of a message after an attempt. If a status arrived first, the outcome only adds the ids of the parts sent.
 * @param attempt the first part it sent, the channel's epoch, and when it called the network; absent for a lost attempt
 */
export function afterAttempt(
  { delivery, lastError }: Waiting,
  row: Known,
  outcome: Outcome,
  policy: DeliveryPolicy,
  now: number,
  random: number,
  attempt?: { first: number; epoch: number; calledAt: number },
): AfterAttempt {
  const step = settle(delivery, outcome, policy, now, random, lastError);
  // The redaction came too late: the message was already being sent.
  const isOut = step.state === "sent" && row.error?.code === "redacted";
  const before: Known = isOut ? { ...row, status: "QUEUED", error: null } : row;
  const { status, error, parts, broken = null } = attemptOver(before, attempt?.first ?? row.parts.ids.length, outcome);
  const met: Delivery = step.state === "waiting" ? step.delivery : { ...delivery, startedAt: null };
  const hasBroken = attempt !== undefined && outcome.outcome === "channel_broken";
  const closed = withPast(hasBroken ? { ...met, brokenEpoch: attempt.epoch } : met, {
    number: delivery.attempts,
    at: attempt?.calledAt ?? delivery.startedAt ?? now,
    ms: attempt ? now - attempt.calledAt : null,
    outcome: outcome.outcome,
    error: step.state === "sent" ? null : step.error,
  });
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

/** The parts to store. Once the message is no longer queued or being sent, early statuses are dropped. */
export function partsKept({ status, isOpen, parts }: Known): StoredParts {
  return status !== "QUEUED" && !isOpen ? withoutEarly(parts) : parts;
}

/**
 * The message that a status belongs to: the message that it names, else the message with a part of its id, else the
 * message that is being sent or at the head of the queue.
 * @param sending the seq of the message that is being sent
 */
export function rowOfStatus(
  log: Pick<MessageLog, "byId" | "delivered" | "networkIds" | "queue">,
  { messageId, networkId }: Pick<StatusNews, "messageId" | "networkId">,
  sending: number | null,
): QueuedMessage | null {
  const row = messageId === null ? log.networkIds.ownMessage(networkId) : log.byId(messageId);
  if (row) return log.delivered(row.seq);
  if (messageId !== null) return null;
  return sending === null ? log.queue.head() : log.delivered(sending);
}

/** The new state of a delivery after its channel woke the chat; null if it did not wait for a broken channel. */
export function afterWake(delivery: Delivery, now: number): Delivery | null {
  return delivery.startedAt === null && delivery.heldSince !== null ? { ...delivery, nextAt: now } : null;
}

function waitingSince({ message }: Dated, since: number): number {
  return Math.max(since, Date.parse(message.createdAt));
}
