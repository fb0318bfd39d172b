import { Agenda } from "../../support/agenda.ts";

/** A seed found that an invariant does not hold: it ends there. */
export class Violation<I extends string> extends Error {
  readonly invariant: I;
  constructor(invariant: I, text: string) {
    super(text);
    this.invariant = invariant;
  }
}

/** An object whose code runs in turns: it runs, and then waits for a later event. */
export interface Turning {
  /** All its code waits. */
  endTurn(): void;
}

export const EPOCH = Date.parse("2026-11-20T12:00:00.000Z");

/** Time, chance and what is due: everything that one seed decides. Times are Unix milliseconds. */
export class World<F extends string, I extends string> {
  now = EPOCH;
  /** False once faults have stopped. */
  isFaulty = true;
  events = 0;
  readonly counts = new Map<string, number>();
  readonly checks = new Map<I, number>();
  readonly trace: string[] | null;
  /** The first error in an object's code, which may itself have caught it. */
  #failure: unknown;
  /** The object whose code the current event runs. */
  #running: Turning | null = null;
  readonly #faults: Set<F>;
  readonly #agenda = new Agenda();
  #state: number;

  /** @param faults what may go wrong; the seed picks some of it */
  constructor(seed: number, faults: readonly F[], isTraced = false) {
    this.trace = isTraced ? [] : null;
    // Neighboring seeds must not begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
    const share = this.random();
    this.#faults = new Set(faults.filter(() => this.random() < share));
  }

  /** From 0 to 1 (mulberry32). */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  /** Whether something goes wrong here; counted when it does. */
  fault(name: F, chance: number): boolean {
    if (!this.isFaulty || !this.#faults.has(name) || this.random() >= chance) return false;
    this.count(name);
    return true;
  }

  count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  note(text: () => string): void {
    this.trace?.push(`${((this.now - EPOCH) / 1_000).toFixed(3)} ${text()}`);
  }

  /** @throws Violation if it does not hold */
  check(invariant: I, holds: boolean, text: () => string): void {
    this.checks.set(invariant, (this.checks.get(invariant) ?? 0) + 1);
    if (holds) return;
    const violation = new Violation(invariant, `after ${(this.now - EPOCH) / 1_000} s: ${text()}`);
    this.fail(violation);
    throw violation;
  }

  /** The run ends with this error. */
  fail(error: unknown): void {
    this.#failure ??= error;
  }

  /** The object whose code the current event runs. */
  get running(): Turning | null {
    return this.#running;
  }

  /** The current event runs code of this object. Its turn ends when all of that waits. */
  entered(object: Turning): void {
    if (this.#running && this.#running !== object) throw new Error("An event runs code of two objects");
    this.#running = object;
  }

  after(ms: number, run: () => void): void {
    this.at(this.now + ms, run);
  }

  at(at: number, run: () => void): void {
    this.#agenda.add(Math.max(at, this.now), run);
  }

  /**
   * Runs what is due until `until`, or `most` events.
   * @returns whether something is left
   * @throws the first error in an object's code
   */
  run(until: number, most: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      let left = most;
      // Node begins a tick only when no microtask is left, so by then all code waits.
      const whenAllWaits = () => process.nextTick(goOn);
      const goOn = () => {
        try {
          this.#endTurn();
          for (; left > 0; left--) {
            const next = this.#agenda.first;
            if (!next || next.at > until) {
              this.now = Math.max(this.now, Math.min(until, next?.at ?? this.now));
              return resolve(next !== undefined);
            }
            this.#agenda.removeFirst();
            this.now = next.at;
            this.events++;
            next.run();
            if (this.#running) return queueMicrotask(whenAllWaits);
          }
          resolve(true);
        } catch (error) {
          reject(error);
        }
      };
      goOn();
    });
  }

  #endTurn(): void {
    const object = this.#running;
    if (!object) return;
    this.#running = null;
    if (this.#failure !== undefined) throw this.#failure;
    object.endTurn();
  }
}
