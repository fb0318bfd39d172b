import type { Message } from "../../../model/message.ts";
import type { Outcome } from "../../../model/network.ts";
import { backoffMs } from "../../../platform/backoff.ts";
import type { Delivery, DeliveryError } from "../log/delivery-column.ts";

/**
 * When a message is attempted again, and when it fails. Pure functions of the message's row, the event and the time, so
 * that tests can run them against any sequence of failures. Times are Unix milliseconds.
 */

/** The result of an attempt: the message waits for the next one, or it is done. */
export type Step =
  | { state: "waiting"; delivery: Delivery; error: DeliveryError | null }
  | { state: "sent" }
  | { state: "failed"; error: DeliveryError };

export interface DeliveryPolicy {
  /** How long a status may still reveal an unknown outcome, in milliseconds; 0 if the network sends no statuses. */
  unknownWaitMs: number;
}

export const NOT_TRIED: Delivery = {
  attempts: 0,
  startedAt: null,
  firstAt: null,
  nextAt: null,
  reserved: false,
  heldSince: null,
  heldMs: 0,
};

/** The deadline for a network's answer. */
export const ATTEMPT_TIMEOUT_MS = 30_000;
/** An attempt that is open this long was lost with its object. */
const LEASE_MS = 60_000;
const DEADLINE_MS = 86_400_000;
const MAX_HELD_MS = 7 * 86_400_000;
const RETRY = { firstMs: 2_000, maxMs: 600_000 };

/**
 * The delivery of a new message. If it starts now, its first attempt is part of the insert, which saves a second write.
 */
export function newDelivery(startsNow: boolean, now: number): Delivery {
  return startsNow ? begin(NOT_TRIED, now) : NOT_TRIED;
}

export function begin(delivery: Delivery, now: number): Delivery {
  return {
    attempts: delivery.attempts + 1,
    startedAt: now,
    firstAt: delivery.firstAt ?? now,
    nextAt: null,
    reserved: false,
    heldSince: null,
    heldMs: heldFor(delivery, now),
    ...(delivery.brokenEpoch !== undefined && { brokenEpoch: delivery.brokenEpoch }),
    ...(delivery.past && { past: delivery.past }),
  };
}

/** The delivery without the attempt that was stored with the message and that did not begin. */
export function notBegun(delivery: Delivery): Delivery {
  if (delivery.startedAt === null) return delivery;
  const attempts = delivery.attempts - 1;
  return { ...delivery, attempts, startedAt: null, firstAt: attempts === 0 ? null : delivery.firstAt };
}

/** Why no attempt may start: the channel's pace, which reserves a time; its breaker; or no answer. */
export type HoldReason = "pace" | "broken" | "away";

/**
 * Holds a message until `until`. Waiting for a broken channel does not count toward the deadline, up to seven days. If
 * the message had no attempt yet, its deadline counts from `since`, when it began to wait for the channel.
 */
export function hold(delivery: Delivery, until: number, reason: HoldReason, now: number, since = now): Delivery {
  const { noAnswers = 0, ...rest } = notBegun(delivery);
  const { attempts, firstAt } = rest;
  const held = { ...rest, nextAt: until, reserved: reason === "pace" };
  if (reason === "away")
    return { ...held, firstAt, heldSince: null, heldMs: heldFor(delivery, now), noAnswers: noAnswers + 1 };
  if (reason !== "broken") return { ...held, firstAt, heldSince: null, heldMs: heldFor(delivery, now) };
  const heldSince = delivery.heldSince ?? (attempts === 0 ? since : now);
  return { ...held, firstAt: firstAt ?? heldSince, heldSince };
}

/**
 * Decides what follows an attempt. Only a repeat after an unknown outcome can deliver a message twice.
 * @param random from 0 to 1, for the jitter of the back-off
 * @param last the error of the previous attempt
 */
export function settle(
  delivery: Delivery,
  outcome: Outcome,
  policy: DeliveryPolicy,
  now: number,
  random: number,
  last: DeliveryError | null = null,
): Step {
  const backoff = backoffMs(RETRY, delivery.attempts - 1, random);
  const closed: Delivery = { ...delivery, startedAt: null, reserved: false };
  switch (outcome.outcome) {
    case "sent":
      return { state: "sent" };
    case "failed":
      return { state: "failed", error: { code: outcome.code, message: outcome.message } };
    case "retry": {
      const error = { code: outcome.code, message: outcome.message };
      if (outcome.once && last?.code === outcome.code) return { state: "failed", error };
      const nextAt = now + Math.max(backoff, outcome.afterMs ?? 0);
      return waiting({ ...closed, nextAt }, error);
    }
    case "moved": {
      // At once. But two addresses may lead to each other, so further moves wait.
      const nextAt = delivery.attempts > 1 ? now + backoff : now;
      const message =
        outcome.lostTopic === undefined ? "The contact has another address" : "The topic no longer exists";
      return waiting({ ...closed, nextAt }, { code: "moved", message });
    }
    case "unknown": {
      const nextAt = now + Math.max(backoff, policy.unknownWaitMs);
      return waiting({ ...closed, nextAt }, { code: "outcome_unknown", message: outcome.message });
    }
    case "channel_broken":
      return waiting(
        { ...closed, nextAt: now + backoff, heldSince: now },
        { code: "channel_broken", message: outcome.reason },
      );
  }
}

/** Whether a day has passed since the first attempt, without the time of a broken channel. */
export function isOverdue(delivery: Delivery, now: number): boolean {
  if (delivery.firstAt === null) return false;
  return now - delivery.firstAt - Math.min(heldFor(delivery, now), MAX_HELD_MS) >= DEADLINE_MS;
}

/**
 * When the outbox must look at the message at the head of the queue again.
 * @param expiresAt when the message expires; null for never
 */
export function wakeAt(delivery: Delivery, now: number, expiresAt: number | null = null): number {
  const { startedAt, nextAt } = delivery;
  if (startedAt !== null) return startedAt + LEASE_MS;
  return Math.max(now, Math.min(nextAt ?? now, lastStartBefore(delivery, expiresAt)));
}

/** When the next attempt begins, if the channel allows it; null if one is open, or if no more begins. */
export function nextAttemptAt(delivery: Delivery, now: number, expiresAt: number | null): number | null {
  if (delivery.startedAt !== null) return null;
  const at = Math.max(now, delivery.nextAt ?? now);
  return at < lastStartBefore(delivery, expiresAt) ? at : null;
}

/** From then on no attempt begins: the message expires or its deadline passes. A network may ask for a longer wait. */
function lastStartBefore({ firstAt, heldSince, heldMs }: Delivery, expiresAt: number | null): number {
  const never = Number.POSITIVE_INFINITY;
  const deadline =
    firstAt !== null && heldSince === null ? firstAt + DEADLINE_MS + Math.min(heldMs, MAX_HELD_MS) : never;
  return Math.min(deadline, expiresAt ?? never);
}

function heldFor({ heldSince, heldMs }: Delivery, now: number): number {
  return heldMs + (heldSince === null ? 0 : Math.max(0, now - heldSince));
}

function waiting(delivery: Delivery, error: DeliveryError): Step {
  return { state: "waiting", delivery, error };
}

/** A status only moves a message forward. No status changes a contact's message. */
const RANK = { SCHEDULED: -1, QUEUED: 0, SENT: 1, DELIVERED: 2, READ: 3, RECEIVED: 4 } as const;

/**
 * The status of a message after the network reported `reported`; null if it does not change. FAILED is final, unless the
 * network reports later that the message was delivered.
 */
export function statusAfter(
  current: Message["status"],
  reported: "SENT" | "DELIVERED" | "READ" | "FAILED",
): "SENT" | "DELIVERED" | "READ" | "FAILED" | null {
  if (reported === "FAILED") return current === "QUEUED" || current === "SENT" ? reported : null;
  if (current === "CANCELED") return null;
  if (current === "FAILED") return reported === "SENT" ? null : reported;
  return RANK[reported] > RANK[current] ? reported : null;
}
