import type { Permission } from "./permissions.ts";

/** The rules that a key's requests are checked against. Times are Unix milliseconds. */
export interface KeyRules {
  permissions: readonly Permission[];
  rateLimit: number;
  windowSeconds: number;
  monthlyQuota: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  hash: string;
  previousHash: string | null;
  previousUntil: number | null;
}

/** A key's counts, stored as one value. Both counts include reserved units. */
export interface Counters {
  /** When the running window began; 0 before the first request. */
  windowStart: number;
  windowCount: number;
  /** The UTC month that `monthCount` counts, `2026-11`. */
  month: string;
  monthCount: number;
}

/** The part of an object's state that is only in memory and may be lost at any moment. */
export interface Reservation {
  /** Units that the stored counters include but no request has used. Using them needs no write. */
  units: number;
  /** When the last request was admitted; null if unknown. */
  lastAt: number | null;
}

export interface AdmissionCheck {
  /** SHA-256 of the key text in the request. */
  hash: string;
  permission: Permission | null;
  addressAllowed: boolean;
  /** The number of requests in the batch. */
  units: number;
}

export interface WindowState {
  limit: number;
  windowSeconds: number;
  remaining: number;
  /** When the running window ends, or when a window that begins now would end; Unix milliseconds. */
  reset: number;
}

export type RefusalReason =
  | "invalid_api_key"
  | "ip_not_allowed"
  | "permission_denied"
  | "rate_limited"
  | "quota_exceeded";

/** `granted` is from 1 to the requested units. `window.remaining` is the rest after these. */
export type Decision =
  | {
      outcome: "admitted";
      granted: number;
      window: WindowState;
      counters: Counters;
      reservation: Reservation;
      write: boolean;
    }
  | { outcome: "refused"; reason: RefusalReason; window: WindowState };

const BUSY_PACE_MS = 1_000;
const WINDOW_BLOCK = 0.05;
const QUOTA_BLOCK = 0.01;

export const NO_COUNTERS: Counters = { windowStart: 0, windowCount: 0, month: "", monthCount: 0 };
export const NO_RESERVATION: Reservation = { units: 0, lastAt: null };

/** The last result of `monthOf`: formatting a month takes longer than the rest of a decision. */
let cachedMonth = { from: 0, until: 0, month: "" };

/** The UTC calendar month of a time, `2026-11`. */
function monthOf(now: number): string {
  if (now < cachedMonth.from || now >= cachedMonth.until) {
    const date = new Date(now);
    const first = (month: number) => Date.UTC(date.getUTCFullYear(), month);
    const month = date.toISOString().slice(0, 7);
    cachedMonth = { from: first(date.getUTCMonth()), until: first(date.getUTCMonth() + 1), month };
  }
  return cachedMonth.month;
}

/**
 * Admits or refuses the next requests of a key, and computes its new counts. If `write` is true, the caller must store
 * `counters` before it responds. A refusal changes nothing and starts no window.
 *
 * Below one request per second, each unit is written when it is used. Above that rate, a block of units is reserved: at
 * most 5 % of the limit and 1 % of the remaining quota, so that a busy key writes rarely. An object that loses its
 * memory counts the reserved units as used. So a limit is never exceeded, and a crash costs at most one block.
 */
export function decide(
  rules: KeyRules,
  stored: Counters,
  held: Reservation,
  asked: AdmissionCheck,
  now: number,
): Decision {
  const { counters, reservation } = rollOver(rules, stored, held, now);
  const window = windowState(rules, counters, reservation, now);
  const refuse = (reason: RefusalReason): Decision => ({ outcome: "refused", reason, window });

  if (!isLive(rules, asked.hash, now)) return refuse("invalid_api_key");
  if (!asked.addressAllowed) return refuse("ip_not_allowed");
  if (asked.permission && !rules.permissions.includes(asked.permission)) return refuse("permission_denied");
  if (window.remaining < 1) return refuse("rate_limited");
  const quotaLeft = remainingQuota(rules, counters, reservation);
  if (quotaLeft < 1) return refuse("quota_exceeded");

  const granted = Math.min(asked.units, window.remaining, quotaLeft);
  const missing = granted - reservation.units;
  if (missing <= 0) {
    const after = { units: reservation.units - granted, lastAt: now };
    const write = counters !== stored;
    return { outcome: "admitted", granted, window: take(window, granted), counters, reservation: after, write };
  }
  const busy = reservation.lastAt !== null && now - reservation.lastAt < BUSY_PACE_MS;
  const block = Math.min(blockSize(rules, quotaLeft), rules.rateLimit - counters.windowCount);
  const reserved = Math.max(missing, busy ? block : 0);
  return {
    outcome: "admitted",
    granted,
    window: take(window, granted),
    counters: {
      windowStart: counters.windowStart || now,
      windowCount: counters.windowCount + reserved,
      month: counters.month,
      monthCount: counters.monthCount + reserved,
    },
    reservation: { units: reservation.units + reserved - granted, lastAt: now },
    write: true,
  };
}

/** Subtracts unused reserved units from both counts, before the object may lose its memory. */
export function releaseReservation(
  counters: Counters,
  { units, lastAt }: Reservation,
): { counters: Counters; reservation: Reservation } {
  const { windowCount, monthCount } = counters;
  return {
    counters: { ...counters, windowCount: windowCount - units, monthCount: monthCount - units },
    reservation: { units: 0, lastAt },
  };
}

/** A key's usage at `now`. */
export function usageOf(rules: KeyRules, stored: Counters, held: Reservation, now: number) {
  const { counters, reservation } = rollOver(rules, stored, held, now);
  return {
    month: counters.month,
    used: counters.monthCount - reservation.units,
    quota: rules.monthlyQuota,
    window: windowState(rules, counters, reservation, now),
    running: counters.windowStart > 0,
  };
}

/** Whether the key and the secret with this hash are valid. */
function isLive(rules: KeyRules, hash: string, now: number): boolean {
  if (rules.revokedAt !== null || (rules.expiresAt !== null && rules.expiresAt <= now)) return false;
  if (hash === rules.hash) return true;
  return hash === rules.previousHash && rules.previousUntil !== null && rules.previousUntil > now;
}

/**
 * The counters at `now`: resets the count of an ended window or month. Both only move forward, so a clock that is set
 * back grants nothing twice. Reserved units belong to their window: when the window ends, the unused ones are
 * subtracted from the month.
 */
function rollOver(rules: KeyRules, counters: Counters, reservation: Reservation, now: number) {
  const month = monthOf(now);
  const newMonth = month > counters.month;
  const windowEnds = counters.windowStart + rules.windowSeconds * 1_000;
  if (counters.windowStart === 0 || now < windowEnds) {
    // The reserved units were counted in the old month, and count in the new one too.
    const rolled = newMonth ? { ...counters, month, monthCount: reservation.units } : counters;
    return releaseExcess(rules, rolled, reservation);
  }
  return {
    counters: {
      windowStart: 0,
      windowCount: 0,
      month: newMonth ? month : counters.month,
      monthCount: newMonth ? 0 : counters.monthCount - reservation.units,
    },
    reservation: { units: 0, lastAt: reservation.lastAt },
  };
}

/** After a key's limits were lowered, releases the reserved units above the new block size. */
function releaseExcess(rules: KeyRules, counters: Counters, reservation: Reservation) {
  const excess = reservation.units - blockSize(rules, remainingQuota(rules, counters, reservation));
  if (reservation.units === 0 || excess <= 0) return { counters, reservation };
  return {
    counters: {
      ...counters,
      windowCount: counters.windowCount - excess,
      monthCount: counters.monthCount - excess,
    },
    reservation: { ...reservation, units: reservation.units - excess },
  };
}

function windowState(rules: KeyRules, counters: Counters, reservation: Reservation, now: number): WindowState {
  return {
    limit: rules.rateLimit,
    windowSeconds: rules.windowSeconds,
    remaining: Math.max(0, rules.rateLimit - (counters.windowCount - reservation.units)),
    reset: (counters.windowStart || now) + rules.windowSeconds * 1_000,
  };
}

function take(window: WindowState, units: number): WindowState {
  return { ...window, remaining: window.remaining - units };
}

function remainingQuota(rules: KeyRules, counters: Counters, reservation: Reservation): number {
  if (rules.monthlyQuota === null) return Number.POSITIVE_INFINITY;
  return rules.monthlyQuota - (counters.monthCount - reservation.units);
}

/** The maximum number of reserved units. */
function blockSize(rules: KeyRules, quotaLeft: number): number {
  return Math.max(0, Math.floor(Math.min(rules.rateLimit * WINDOW_BLOCK, quotaLeft * QUOTA_BLOCK)));
}
