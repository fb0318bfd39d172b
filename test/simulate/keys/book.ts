import type { Versions } from "./versions.ts";

interface Window {
  limit: number;
  windowSeconds: number;
  remaining: number;
  reset: number;
}

/** An admitted request. `decision` is the id of that which gave it its unit. */
export interface Admitted {
  outcome: "admitted";
  decision: string;
  isAhead?: boolean;
  window: Window;
  caller: { permissions: string[] };
}

/** What an isolate asks a key's object. */
export interface AskedOfObject {
  call: string;
  hash: string;
  address: string | null;
  permission: string | null;
  units: number;
  pace?: number;
  returned?: { id: string }[];
}

export type ObjectAnswer =
  | { outcome: "refused" }
  | {
      outcome: "admitted";
      granted: number;
      window: Window;
      grant?: { units: number; endsInMs: number };
      decision: { id: string; windowStart: number; month: string };
    };

/** What a key's object has decided about one call. */
export interface Decision {
  id: string;
  asked: AskedOfObject;
  windowStart: number;
  windowMs: number;
  limit: number;
  month: string;
  granted: number;
  ahead: number;
  endsInMs: number;
  /** By the world's time. */
  at: number;
  objectNow: number;
  /** How many admitted requests had a unit of it. */
  used: number;
}

interface Arrival {
  asked: AskedOfObject;
  /** When its instance was known to be lost, before it answered: until then it may have been counted. */
  lostBy: number;
  isAnswered: boolean;
}

/** An object forgets a grant that is not returned in this time. */
const FORGOTTEN_AFTER_MS = 3_000;

/** All that is known of one key: what it was, and what its object decided. */
export class KeyBook {
  readonly versions: Versions;
  readonly decisions = new Map<string, Decision>();
  readonly arrivals: Arrival[] = [];
  /** The grants that may be open, by the call's id. */
  readonly #open = new Map<string, Decision>();
  /** The calls whose isolate returned its grant, and uses none of a repeated one. */
  readonly #returned = new Set<string>();
  readonly #refusals = new Map<string, number>();
  readonly #windows = new Map<number, { limit: number; used: number }>();
  readonly #months = new Map<string, number>();
  newestWindow = 0;
  /** When its object woke last, by the world's time, and how often its clock was set until then. */
  awakeAt = 0;
  clockChanges = 0;
  losses: number[] = [];
  grantedAt = 0;
  deletedAt = Number.POSITIVE_INFINITY;
  lastWindow: Window | null = null;

  constructor(versions: Versions) {
    this.versions = versions;
  }

  /** An instance of its object begins. */
  woke(now: number, clockChanges: number): void {
    this.awakeAt = now;
    this.clockChanges = clockChanges;
    this.losses.push(now);
    this.#open.clear();
    for (const arrival of this.arrivals) if (!arrival.isAnswered) arrival.lostBy = Math.min(arrival.lostBy, now);
  }

  arrived(asked: AskedOfObject): Arrival {
    const arrival = { asked, lostBy: Number.POSITIVE_INFINITY, isAnswered: false };
    this.arrivals.push(arrival);
    return arrival;
  }

  returned(grants: { id: string }[]): void {
    for (const { id } of grants) {
      this.#open.delete(id);
      this.#returned.add(id);
    }
  }

  decided(decision: Decision): void {
    const { id, asked, ahead, windowStart, limit } = decision;
    this.decisions.set(id, decision);
    if (ahead > 0 && !this.#returned.has(asked.call)) this.#open.set(asked.call, decision);
    this.newestWindow = Math.max(this.newestWindow, windowStart);
    const { used = 0, limit: before = 0 } = this.#windows.get(windowStart) ?? {};
    this.#windows.set(windowStart, { used, limit: Math.max(before, limit) });
  }

  /** Counts an admitted request. @returns how many there are of its window and of its month */
  admittedIn({ windowStart, month }: Decision): { inWindow: number; inMonth: number; limit: number } {
    const { used, limit } = this.#windows.get(windowStart) ?? { used: 0, limit: 0 };
    this.#windows.set(windowStart, { used: used + 1, limit });
    const inMonth = this.usedInMonth(month) + 1;
    this.#months.set(month, inMonth);
    return { inWindow: used + 1, inMonth, limit };
  }

  usedInWindow(windowStart: number): number {
    return this.#windows.get(windowStart)?.used ?? 0;
  }

  usedInMonth(month: string): number {
    return this.#months.get(month) ?? 0;
  }

  get used(): number {
    return [...this.#months.values()].reduce((sum, used) => sum + used, 0);
  }

  /** The greatest quota that the key ever had; infinity if it had none. */
  quota(): number {
    return Math.max(...this.versions.rows.map(({ quota }) => quota ?? Number.POSITIVE_INFINITY));
  }

  /** The shortest window that the key ever had. */
  shortestWindowMs(): number {
    return 1_000 * Math.min(...this.versions.rows.map(({ windowSeconds }) => windowSeconds));
  }

  /** The greatest block that the key ever had. */
  block(): number {
    return Math.max(...this.versions.rows.map(({ limit }) => Math.floor(limit * 0.05)));
  }

  /** The units of a window that are ahead at least, as its object knows them. */
  openUnits(now: number, objectNow: number, windowStart: number): number {
    let units = 0;
    for (const [call, decision] of this.#open) {
      const isForgotten = Math.max(now - decision.at, objectNow - decision.objectNow) >= FORGOTTEN_AFTER_MS;
      if (isForgotten) this.#open.delete(call);
      else if (decision.windowStart === windowStart) units += decision.ahead;
    }
    return units;
  }

  /** Whether an isolate may ever have got units ahead. */
  get mayBeAhead(): boolean {
    return this.arrivals.some(({ isAnswered, asked }) => !isAnswered && (asked.pace ?? 0) > 2) || this.grantedAt > 0;
  }

  /** What an object may have counted at most beside what was admitted, since `from`. */
  mostLost(decisions: Decision[], from: number): number {
    const known = decisions.reduce((sum, { granted, ahead, used }) => sum + granted + ahead - used, 0);
    const unknown = this.arrivals.filter(({ lostBy, isAnswered }) => lostBy >= from && !isAnswered);
    const block = this.block();
    const losses = this.losses.filter((at) => at >= from).length;
    return known + unknown.reduce((sum, { asked }) => sum + asked.units + block, 0) + losses * block;
  }

  refusedAt({ hash, address, permission }: AskedOfObject, now: number): void {
    this.#refusals.set(JSON.stringify([hash, address, permission]), now);
  }

  /** When its object last refused such a request, by the world's time. */
  lastRefusal({
    hash,
    address,
    permission,
  }: {
    hash: string;
    address: string;
    permission: string;
  }): number | undefined {
    return this.#refusals.get(JSON.stringify([hash, address, permission]));
  }
}
