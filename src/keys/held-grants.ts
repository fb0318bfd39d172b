import type { Caller } from "../model/caller.ts";
import { type Grant, MIN_GRANT_PACE, type ReturnedGrant, type WindowState } from "../model/key.ts";
import { BoundedMap } from "../platform/bounded-map.ts";

/** A request that was admitted: who makes it, and the window after it. */
export interface AdmittedRequest {
  caller: Caller;
  window: WindowState;
}

/** Units that a key's object may grant this isolate, from the time before the call. Its id is the call's. */
export interface HeldGrant {
  readonly id: string;
  /** By this isolate's clock, Unix milliseconds. */
  readonly askedAt: number;
  endsInMs: number;
  /** Those that are not used. */
  units: number;
  caller: Caller | null;
  isOver: boolean;
}

const MAX_KEPT = 10_000;
const MAX_UNRETURNED = 100;
/** A call that takes longer is lost, with the request that made it. */
const CALL_LOST_AFTER_MS = 10_000;
const NEVER = Number.NEGATIVE_INFINITY;
const SECOND_MS = 1_000;

/** The grants that an isolate holds, by key and by requester. */
export class HeldGrants {
  readonly #keys = new BoundedMap<string, HeldKey>(MAX_KEPT);
  readonly #requesters = new BoundedMap<string, Requester>(MAX_KEPT);

  key(id: string): HeldKey {
    const known = this.#keys.get(id);
    if (known) return known;
    const key = new HeldKey();
    this.#keys.set(id, key);
    return key;
  }

  /** @param name of a secret, an address and a permission */
  requester(keyId: string, name: string): Requester {
    const known = this.#requesters.get(name);
    if (known) {
      // So that one client with many addresses does not displace those that are busy.
      if (this.#requesters.size > MAX_KEPT / 2) this.#requesters.set(name, known);
      return known;
    }
    const requester = new Requester(this.key(keyId));
    this.#requesters.set(name, requester);
    return requester;
  }
}

/** What an isolate holds of one key. */
export class HeldKey {
  window: WindowState | null = null;
  #calls = 0;
  #windowOf = 0;
  /** All units that are not used. */
  units = 0;
  readonly grants = new Set<HeldGrant>();
  /** Whether units of a failed call wait to be returned. */
  isReturning = false;
  /** The key's object may not know of their end. */
  #unreturned: ReturnedGrant[] = [];

  /** Numbers the calls of the key's object. */
  nextCall(): number {
    return ++this.#calls;
  }

  /** Keeps the window of the newest call: its answer may come before that of an older one. */
  answered(call: number, window: WindowState): void {
    if (call < this.#windowOf) return;
    this.#windowOf = call;
    this.window = window;
  }

  /** A window with what this isolate holds. Units of a window before it may not be returned yet. */
  withUnits(window: WindowState, left = window.remaining): WindowState {
    return { ...window, remaining: Math.min(window.limit, left + this.units) };
  }

  /** Takes the grants that are over or used up, to return them. */
  takeEnded(): ReturnedGrant[] {
    const now = Date.now();
    const unreturned = this.#unreturned;
    this.#unreturned = [];
    const ended = [...this.grants].filter((grant) => grant.units === 0 || !holds(grant, now));
    for (const grant of ended) {
      grant.isOver = true;
      this.grants.delete(grant);
      this.units -= grant.units;
    }
    return [...unreturned, ...ended.map(({ id, units }) => ({ id, unused: units }))];
  }

  /** A call that returned grants failed: the next one returns them again, and each counts once. */
  notReturned(returned: ReturnedGrant[]): void {
    this.#unreturned = [...this.#unreturned, ...returned].slice(-MAX_UNRETURNED);
  }
}

/**
 * Requests with one secret, address and permission. Only they use a grant that one of them got. It holds from the time
 * before its call, so it is over before its object expects that. If this isolate's clock is set back, it ends at once, or
 * a timer ends it.
 */
export class Requester {
  readonly key: HeldKey;
  #grant: HeldGrant | null = null;
  /** When a call for a grant began that has not ended, Unix milliseconds. */
  #askedAt = NEVER;
  #secondBegan = 0;
  #inSecond = 0;
  #inSecondBefore = 0;

  constructor(key: HeldKey) {
    this.key = key;
  }

  /** Its requests in about a second. */
  get pace(): number {
    return Math.max(this.#inSecond, this.#inSecondBefore);
  }

  /** Counts a request for the pace. */
  count(): void {
    const now = Date.now();
    const passed = now - this.#secondBegan;
    if (passed >= SECOND_MS || passed < 0) {
      this.#inSecondBefore = passed >= 0 && passed < 2 * SECOND_MS ? this.#inSecond : 0;
      this.#inSecond = 0;
      this.#secondBegan = now;
    }
    this.#inSecond++;
  }

  /**
   * A grant that a call may bring. Null if there are few requests, or if another call may bring one: the requests that wait
   * for their own calls would not use both.
   */
  newGrant(call: string): HeldGrant | null {
    const askedAt = Date.now();
    const sinceAsked = askedAt - this.#askedAt;
    if (this.pace <= MIN_GRANT_PACE || (sinceAsked >= 0 && sinceAsked < CALL_LOST_AFTER_MS)) return null;
    this.#askedAt = askedAt;
    return { id: call, askedAt, endsInMs: 0, units: 0, caller: null, isOver: false };
  }

  /** The call for a grant has ended. */
  asked(): void {
    this.#askedAt = NEVER;
  }

  /** Admits a request without a call; null if there is no unit for it. */
  use(): AdmittedRequest | null {
    const grant = this.#grant;
    const { key } = this;
    if (!grant?.caller || !key.window || grant.units === 0 || !holds(grant, Date.now())) return null;
    grant.units--;
    key.units--;
    return { caller: grant.caller, window: key.withUnits(key.window) };
  }

  /** Keeps what the answer to a call granted. @param held from before the call */
  keep(held: HeldGrant, { units, endsInMs }: Grant, caller: Caller): void {
    Object.assign(held, { units, endsInMs, caller });
    this.#grant = held;
    this.key.grants.add(held);
    this.key.units += units;
  }
}

function holds({ isOver, askedAt, endsInMs }: HeldGrant, now: number): boolean {
  return !isOver && askedAt <= now && now < askedAt + endsInMs;
}
