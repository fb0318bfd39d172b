/** How many requests can wait at once. Further requests must ask again later. */
const MAX_WAITING = 1_000;

/** A change of an object's state that requests wait for in memory. */
export class ChangeSignal {
  /** Resumes each request that waits, in the order in which they began to. */
  readonly #waiting = new Set<() => void>();

  /** Whether another request can wait. */
  get hasRoom(): boolean {
    return this.#waiting.size < MAX_WAITING;
  }

  /** Resumes everything that waits. */
  announce(): void {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  /** Resumes the request that has waited longest: what it waits for is enough for one. */
  announceToOne(): void {
    const [first] = this.#waiting;
    if (!first) return;
    this.#waiting.delete(first);
    first();
  }

  /** Waits for the next change, but not longer than `limit`. */
  async wait(limit: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await Promise.race([limit, promise]);
    } finally {
      this.#waiting.delete(resolve);
    }
  }
}
