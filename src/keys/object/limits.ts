import type { KeyLimits, WindowState } from "../../model/key.ts";

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
 * Counts the units of admitted requests. `counters` is the same object if nothing must be stored for them.
 *
 * Below one request per second, each unit is written when it is used. Above that rate, a block of units is reserved: at
 * most 5 % of the limit and 1 % of the remaining quota, so that a busy key writes rarely. An object that loses its
 * memory counts the reserved units as used. So a limit is never exceeded, and a crash costs at most one block.
 * @param counters after `rollOver`, like `reservation`
 */
export function countUnits(
  limits: KeyLimits,
  counters: Counters,
  reservation: Reservation,
  units: number,
  now: number,
): { counters: Counters; reservation: Reservation } {
  const missing = units - reservation.units;
  if (missing <= 0) return { counters, reservation: { units: reservation.units - units, lastAt: now } };
  const busy = reservation.lastAt !== null && now - reservation.lastAt < BUSY_PACE_MS;
  const quotaLeft = remainingQuota(limits, counters, reservation);
  const block = Math.min(blockSize(limits, quotaLeft), limits.rateLimit - counters.windowCount);
  const reserved = Math.max(missing, busy ? block : 0);
  return {
    counters: {
      windowStart: counters.windowStart || now,
      windowCount: counters.windowCount + reserved,
      month: counters.month,
      monthCount: counters.monthCount + reserved,
    },
    reservation: { units: reserved - missing, lastAt: now },
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
export function usageOf(limits: KeyLimits, stored: Counters, held: Reservation, now: number) {
  const { counters, reservation } = rollOver(limits, stored, held, now);
  return {
    month: counters.month,
    used: counters.monthCount - reservation.units,
    quota: limits.monthlyQuota,
    window: windowState(limits, counters, reservation, now),
    running: counters.windowStart > 0,
  };
}

/**
 * The counters and the reservation at `now`: resets the count of an ended window or month. Both only move forward, so a
 * clock that is set back grants nothing twice. Reserved units belong to their window: when the window ends, the unused
 * ones are subtracted from the month.
 */
export function rollOver(limits: KeyLimits, counters: Counters, reservation: Reservation, now: number) {
  const month = monthOf(now);
  const newMonth = month > counters.month;
  const windowEnds = counters.windowStart + limits.windowSeconds * 1_000;
  if (now < windowEnds) {
    // The reserved units were counted in the old month, and count in the new one too.
    const rolled = newMonth ? { ...counters, month, monthCount: reservation.units } : counters;
    return releaseExcess(limits, rolled, reservation);
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
function releaseExcess(limits: KeyLimits, counters: Counters, reservation: Reservation) {
  const excess = reservation.units - blockSize(limits, remainingQuota(limits, counters, reservation));
  if (excess <= 0) return { counters, reservation };
  return {
    counters: {
      ...counters,
      windowCount: counters.windowCount - excess,
      monthCount: counters.monthCount - excess,
    },
    reservation: { ...reservation, units: reservation.units - excess },
  };
}

/** The window at `now`, after `rollOver`. */
export function windowState(limits: KeyLimits, counters: Counters, reservation: Reservation, now: number): WindowState {
  return {
    limit: limits.rateLimit,
    windowSeconds: limits.windowSeconds,
    remaining: Math.max(0, limits.rateLimit - (counters.windowCount - reservation.units)),
    reset: (counters.windowStart || now) + limits.windowSeconds * 1_000,
  };
}

/** What is left of the monthly quota after `rollOver`; infinity if the key has none. */
export function remainingQuota(limits: KeyLimits, counters: Counters, reservation: Reservation): number {
  if (limits.monthlyQuota === null) return Number.POSITIVE_INFINITY;
  return limits.monthlyQuota - (counters.monthCount - reservation.units);
}

/** The maximum number of reserved units. */
function blockSize(limits: KeyLimits, quotaLeft: number): number {
  return Math.max(0, Math.floor(Math.min(limits.rateLimit * WINDOW_BLOCK, quotaLeft * QUOTA_BLOCK)));
}
