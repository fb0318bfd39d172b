import { type AdmissionCheck, type Decision, decide } from "../../../../src/keys/object/decide.ts";
import { type Counters, NO_COUNTERS, NO_RESERVATION, type Reservation } from "../../../../src/keys/object/limits.ts";
import type { KeyRules, RefusalReason, WindowState } from "../../../../src/model/key.ts";

/** Noon in the middle of a month. */
export const NOON = Date.UTC(2026, 10, 17, 12);

export function rulesOf(overrides: Partial<KeyRules> = {}): KeyRules {
  return {
    permissions: ["chats:read"],
    rateLimit: 10,
    windowSeconds: 60,
    monthlyQuota: null,
    expiresAt: null,
    revokedAt: null,
    hash: "hash",
    previousHash: null,
    previousUntil: null,
    ...overrides,
  };
}

/** A key's object around `decide`: a row that persists, and memory that an eviction clears. Inputs are frozen. */
export class Key {
  rules: KeyRules;
  row: Counters = NO_COUNTERS;
  reservation: Reservation = NO_RESERVATION;
  writes = 0;
  #counters: Counters = NO_COUNTERS;

  constructor(overrides: Partial<KeyRules> = {}) {
    this.rules = rulesOf(overrides);
  }

  ask(now: number, asked: Partial<AdmissionCheck> = {}): Decision {
    const request = {
      hash: "hash",
      permission: "chats:read",
      addressAllowed: true,
      units: 1,
      pace: 0,
      ...asked,
    } as const;
    const decision = decide(
      Object.freeze(this.rules),
      Object.freeze(this.#counters),
      Object.freeze(this.reservation),
      Object.freeze(request),
      now,
    );
    if (decision.outcome === "refused") return decision;
    this.#counters = decision.counters;
    this.reservation = decision.reservation;
    if (decision.write) {
      this.row = decision.counters;
      this.writes++;
    }
    return decision;
  }

  /** How many of `units` concurrent units are granted. */
  grant(now: number, units = 1): number {
    const decision = this.ask(now, { units });
    return decision.outcome === "admitted" ? decision.granted : 0;
  }

  /** How many of `requests` consecutive requests are granted. */
  grantEach(now: number, requests: number): number {
    let granted = 0;
    for (let request = 0; request < requests; request++) granted += this.grant(now);
    return granted;
  }

  change(overrides: Partial<KeyRules>): void {
    this.rules = { ...this.rules, ...overrides };
  }

  /** Clears the memory and keeps the row. Returns the number of reserved units that are lost. */
  evict(): number {
    const lost = this.reservation.units;
    this.reservation = NO_RESERVATION;
    this.#counters = this.row;
    return lost;
  }

  /** The state of the object, to compare before and after. */
  state() {
    return { row: this.row, counters: this.#counters, reservation: this.reservation };
  }
}

type Expected =
  | { outcome: "admitted"; granted: number; window: WindowState }
  | { outcome: "refused"; reason: RefusalReason; window: WindowState };

/** The simplest model: a fixed window that starts with its first request, and a count for each month. */
export class Model {
  #start: number | null = null;
  #used = 0;
  #month = 0;
  #monthUsed = 0;

  ask(rules: KeyRules, units: number, now: number): Expected {
    const length = rules.windowSeconds * 1_000;
    const start = this.#start !== null && now < this.#start + length ? this.#start : null;
    const used = start === null ? 0 : this.#used;
    const month = Math.max(this.#month, monthNumber(now));
    const monthUsed = month === this.#month ? this.#monthUsed : 0;

    const free = Math.max(0, rules.rateLimit - used);
    const left = rules.monthlyQuota === null ? Number.POSITIVE_INFINITY : rules.monthlyQuota - monthUsed;
    const granted = Math.max(0, Math.min(units, free, left));
    const { rateLimit: limit, windowSeconds } = rules;
    const window = { limit, windowSeconds, remaining: free - granted, reset: (start ?? now) + length };
    if (granted === 0) return { outcome: "refused", reason: free < 1 ? "rate_limited" : "quota_exceeded", window };

    this.#start = start ?? now;
    this.#used = used + granted;
    this.#month = month;
    this.#monthUsed = monthUsed + granted;
    return { outcome: "admitted", granted, window };
  }

  /** Units that an eviction cost: the window and the month that they were reserved in count them as used. */
  lose(units: number): void {
    this.#used += units;
    this.#monthUsed += units;
  }
}

function monthNumber(now: number): number {
  const date = new Date(now);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
