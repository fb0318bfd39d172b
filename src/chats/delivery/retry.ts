import type { Outcome } from "../../channels/adapter.ts";
import { backoffMs } from "../../platform/backoff.ts";

/**
 * The decisions of delivery, as functions of a message's row, what happened, and now. Nothing here knows of storage,
 * clocks or networks, so the same decisions can be run against all that may go wrong. Times are Unix milliseconds.
 */

/** What a waiting message's row knows of its delivery. An attempt is a lease: it is in the row before the network is called. */
export interface Delivery {
  /** How many attempts were begun. */
  attempts: number;
  /** When the open attempt began; null when none is open. */
  startedAt: number | null;
  /** When the first attempt began: what the deadline counts from. */
  firstAt: number | null;
  /** Not before this; null: at once. */
  nextAt: number | null;
  /** `nextAt` is a start that the channel has reserved for it. */
  reserved: boolean;
  /** Since when it stands still because its channel is broken; null while the channel works. */
  heldSince: number | null;
  /** How long it stood still before that. */
  heldMs: number;
  /** The channel's epoch when the last attempt started; set when that attempt has ended. */
  epoch?: number;
  /** The channel's epoch when this message last met it broken; absent if it never did. */
  brokenEpoch?: number;
  /** How often in a row the channel did not answer; absent where it did. */
  aways?: number;
}

export interface DeliveryError {
  code: string;
  message: string;
}

/** What a message becomes: it waits on, or it is done with. */
export type Step =
  | { state: "waiting"; delivery: Delivery; error: DeliveryError | null }
  | { state: "sent" }
  | { state: "failed"; error: DeliveryError };

/** How a network wants to be treated. */
export interface DeliveryPolicy {
  /** After an attempt of unknown outcome, how long a status may still tell; 0 where the network has no statuses. */
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

/** The network is given this long to answer. */
export const ATTEMPT_TIMEOUT_MS = 30_000;
/** When the alarm looks after an attempt whose object was lost. */
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

/** Starts an attempt. */
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
  };
}

/** Why no attempt may begin: the channel's pace, which reserves a start; its breaker; or it does not answer. */
export type HoldReason = "pace" | "broken" | "away";

/**
 * No attempt may begin before `until`. The days of a broken channel do not count against the message, up to seven: so
 * one that meets it before its first attempt counts from `since`, when it began to wait for the channel.
 */
export function hold(delivery: Delivery, until: number, reason: HoldReason, now: number, since = now): Delivery {
  // An attempt that was marked in the insert, and was not let through, was none.
  const attempts = delivery.startedAt === null ? delivery.attempts : delivery.attempts - 1;
  const firstAt = delivery.startedAt !== null && attempts === 0 ? null : delivery.firstAt;
  const { aways = 0, ...rest } = delivery;
  const held = { ...rest, attempts, startedAt: null, nextAt: until, reserved: reason === "pace" };
  if (reason === "away") return { ...held, firstAt, heldSince: null, heldMs: heldFor(delivery, now), aways: aways + 1 };
  if (reason !== "broken") return { ...held, firstAt, heldSince: null, heldMs: heldFor(delivery, now) };
  const heldSince = delivery.heldSince ?? (attempts === 0 ? since : now);
  return { ...held, firstAt: firstAt ?? heldSince, heldSince };
}

/**
 * What an attempt's outcome makes of the message. `random` is from 0 to 1, for the jitter.
 * A repeat after an unknown outcome is the only way in which a message can reach its contact twice.
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
      // At once; but addresses that lead to each other must not go round without a pause.
      const nextAt = delivery.attempts > 1 ? now + backoff : now;
      return waiting({ ...closed, nextAt }, { code: "moved", message: "The contact has another address" });
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

/** Whether a message has waited for a day since its first attempt, the days of a broken channel not counted. */
export function isOverdue(delivery: Delivery, now: number): boolean {
  if (delivery.firstAt === null) return false;
  return now - delivery.firstAt - Math.min(heldFor(delivery, now), MAX_HELD_MS) >= DEADLINE_MS;
}

/** When the message at the head of the line wants to be looked at again. */
export function wakeAt(delivery: Delivery, now: number): number {
  const { startedAt, firstAt, nextAt, heldSince, heldMs } = delivery;
  if (startedAt !== null) return startedAt + LEASE_MS;
  // A network may wish for a longer wait than the message has left.
  const deadline =
    firstAt !== null && heldSince === null ? firstAt + DEADLINE_MS + Math.min(heldMs, MAX_HELD_MS) : null;
  return Math.max(now, Math.min(nextAt ?? now, deadline ?? Number.POSITIVE_INFINITY));
}

function heldFor({ heldSince, heldMs }: Delivery, now: number): number {
  return heldMs + (heldSince === null ? 0 : Math.max(0, now - heldSince));
}

function waiting(delivery: Delivery, error: DeliveryError): Step {
  return { state: "waiting", delivery, error };
}

/** How far a message is; a status only moves it forward, and what a contact wrote is moved by none. */
const RANK = { QUEUED: 0, SENT: 1, DELIVERED: 2, READ: 3, RECEIVED: 4 } as const;

/**
 * The status of a message after the network said `told`, or null where that is no news. FAILED is final, unless the
 * network says later that the message came through after all.
 */
export function statusAfter(
  current: "QUEUED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "RECEIVED",
  told: "SENT" | "DELIVERED" | "READ" | "FAILED",
): "SENT" | "DELIVERED" | "READ" | "FAILED" | null {
  if (told === "FAILED") return current === "QUEUED" || current === "SENT" ? told : null;
  if (current === "FAILED") return told === "SENT" ? null : told;
  return RANK[told] > RANK[current] ? told : null;
}
