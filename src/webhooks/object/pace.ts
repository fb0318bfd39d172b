import { mayProbe } from "./probes.ts";
import type { WebhookState } from "./state.ts";

/**
 * Decides when a subscription may call its webhook. Pure functions of the webhook's state, its pace and the current
 * time. Times are Unix milliseconds.
 */

/** The pace of a webhook's calls. It is only in memory: losing it makes a few starts early. */
export interface CallPace {
  /** The virtual clock: the earliest start that is not yet reserved. */
  clock: number;
  /** The earliest start of the next call. It spaces late reservations that arrive together. */
  nextStartAt: number;
}

/** A subscription's request for a permit, and what the webhook's object knows of its permits. */
export interface PermitCase {
  state: WebhookState;
  pace: CallPace;
  subscriptionId: string;
  /** The start that the subscription reserved; null if it reserved none. */
  reservedAt: number | null;
  /** Until when the subscription's last permit counts, which was not reported; null without one. */
  heldUntil: number | null;
  /** How many permits of other subscriptions count, and how many subscriptions were woken and have not asked yet. */
  used: number;
  perSecond: number;
  concurrency: number;
  /** Whether other subscriptions wait for the webhook and can be woken. */
  othersWait: boolean;
}

/**
 * - `granted`: the call may start at `at`, at most `MAX_HOLD_MS` from now.
 * - `held`: the subscription's last call may still be under way.
 * - `full`: no slot is free.
 * - `reserved`: the subscription asks again at `at`, with `at` as its reservation.
 * - `blocked`: the webhook is failing, disabled or paused, or no start is free for a minute. The subscription waits to
 *   be woken.
 */
export type PermitDecision =
  | { outcome: "granted"; at: number; isProbe: boolean }
  | { outcome: "held"; until: number }
  | { outcome: "full" }
  | { outcome: "reserved"; at: number }
  | { outcome: "blocked" };

export const INITIAL_CALL_PACE: CallPace = { clock: 0, nextStartAt: 0 };

/** How long a permit counts that is not reported: a call takes 30 seconds at most. */
export const PERMIT_MS = 35_000;
/** How long a request may wait in memory. */
export const MAX_HOLD_MS = 1_000;
/** Further ahead no start is reserved: the subscription waits to be woken. */
const MAX_RESERVED_MS = 60_000;
/** How long a reserved start is valid. After that, subscriptions that are all late get new starts. */
const RESERVATION_VALID_MS = 10_000;

/**
 * Decides a request. Starts are `1000 / perSecond` ms apart. At most `concurrency` permits count at a time, one on
 * trial and one while the webhook fails, and one of each subscription.
 */
export function decidePermit(asked: PermitCase, now: number): { decision: PermitDecision; pace: CallPace } {
  const { state, pace, subscriptionId, heldUntil, used, concurrency, perSecond, othersWait } = asked;
  const decided = (decision: PermitDecision) => ({ decision, pace });
  if (heldUntil !== null && heldUntil > now) return decided({ outcome: "held", until: heldUntil });
  const slots = slotsOf(state, concurrency, now);
  if (slots === 0) return decided({ outcome: "blocked" });
  if (state.probes && (used > 0 || !mayProbe(state.probes, subscriptionId, othersWait, now))) {
    return decided({ outcome: "blocked" });
  }
  // The subscription waits for the end of the pause in a row, where others find it: somebody may end the pause earlier.
  if (state.pausedUntil - now > MAX_HOLD_MS) return decided({ outcome: "blocked" });
  if (used >= slots) return decided({ outcome: "full" });
  const { start, isReserved } = startOf(asked, now);
  const at = Math.ceil(start);
  const next = start + 1_000 / perSecond;
  if (at - now <= MAX_HOLD_MS) {
    const clock = isReserved ? pace.clock : next;
    return { decision: { outcome: "granted", at, isProbe: state.probes !== null }, pace: { clock, nextStartAt: next } };
  }
  if (at - now > MAX_RESERVED_MS) return decided({ outcome: "blocked" });
  return { decision: { outcome: "reserved", at }, pace: isReserved ? pace : { ...pace, clock: next } };
}

/**
 * The earliest start for a subscription: its reservation if that is valid and not overtaken, or the next free start.
 */
function startOf({ state, pace, reservedAt }: PermitCase, now: number): { start: number; isReserved: boolean } {
  const { clock, nextStartAt } = pace;
  const isValid = reservedAt !== null && reservedAt >= state.pausedUntil && now - reservedAt <= RESERVATION_VALID_MS;
  if (isValid) {
    const start = Math.max(now, reservedAt, nextStartAt);
    if (start - now <= MAX_HOLD_MS || start === reservedAt) return { start, isReserved: true };
  }
  return { start: Math.max(now, clock, nextStartAt, state.pausedUntil), isReserved: false };
}

/** How many permits may count now. */
export function slotsOf({ name, probes, pausedUntil }: WebhookState, concurrency: number, now: number): number {
  if (name === "disabled") return 0;
  if (probes) return now >= Math.max(probes.probeAt, pausedUntil) ? 1 : 0;
  return name === "trial" ? 1 : concurrency;
}

/** Whether a granted start is still valid after the wait in memory. */
export function isStartValid(granted: WebhookState, state: WebhookState, at: number): boolean {
  const mayCall = (state.probes === null || state.probes.probeAt <= at) && state.pausedUntil <= at;
  return state.epoch === granted.epoch && state.skipBefore === granted.skipBefore && mayCall;
}

/** Takes the next start, before those that are reserved. @param earliest Unix milliseconds */
export function takeStart(
  { clock, nextStartAt }: CallPace,
  perSecond: number,
  earliest: number,
): { at: number; pace: CallPace } {
  const start = Math.max(earliest, nextStartAt);
  const following = start + 1_000 / perSecond;
  return { at: Math.ceil(start), pace: { clock: Math.max(clock, following), nextStartAt: following } };
}

/** Reserves the next free start for a subscription that is woken. @param earliest Unix milliseconds */
export function reserveStart(
  { clock, nextStartAt }: CallPace,
  perSecond: number,
  earliest: number,
): { at: number; pace: CallPace } {
  const start = Math.max(earliest, clock, nextStartAt);
  return { at: Math.ceil(start), pace: { clock: start + 1_000 / perSecond, nextStartAt } };
}

/** When the next waiting subscription may be woken. @returns null as long as the webhook is disabled */
export function wakeFrom({ name, probes, pausedUntil }: WebhookState, { clock }: CallPace): number | null {
  if (name === "disabled") return null;
  if (probes) return Math.max(probes.probeAt, pausedUntil);
  return Math.max(clock, pausedUntil) - MAX_HOLD_MS;
}
