import type { Clock } from "../../../src/platform/clock.ts";

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  constructor(now = 1_795_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return 0.5;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.timer(ms, resolve));
  }

  timer(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** When the next timer is due; null if there is none. */
  get nextAt(): number | null {
    return this.#timers.size === 0 ? null : Math.min(...[...this.#timers].map(({ at }) => at));
  }

  /** Moves on at once, and runs the timers that are due. What they cause runs later. */
  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.run();
    }
  }

  /** Moves on, timer by timer. What each of them caused is over before the next one runs. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at);
      if (!next) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settle();
    }
    this.#now = until;
  }
}

/** Lets all promises settle that wait for no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await Promise.resolve();
}
