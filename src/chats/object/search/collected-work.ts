/** What comes within this time goes to an index in one call. */
const COLLECT_MS = 2_000;

/** When a part sends what waits for it. */
export class CollectedWork {
  readonly #waits: () => boolean;
  /** Since when something waits, as this instance knows it, Unix milliseconds. */
  #since: number | undefined;

  /** @param waits whether there is something to send */
  constructor(waits: () => boolean) {
    this.#waits = waits;
  }

  /** Unix milliseconds; null if nothing waits. */
  dueAt(now: number): number | null {
    this.#since = this.#waits() ? Math.min(this.#since ?? now, now) : undefined;
    return this.#since === undefined ? null : this.#since + COLLECT_MS;
  }

  isDue(now: number): boolean {
    return (this.dueAt(now) ?? Number.POSITIVE_INFINITY) <= now;
  }

  forget(): void {
    this.#since = undefined;
  }
}
