/** How many requests can wait at once. Further requests must ask again later. */
const MAX_WAITING = 1_000;

/** A change of an object's state that requests wait for in memory. */
export class ChangeSignal {
  #change = Promise.withResolvers<void>();
  #waiting = 0;

  /** Whether another request can wait. */
  get hasRoom(): boolean {
    return this.#waiting < MAX_WAITING;
  }

  /** Resolves with the next change. */
  get next(): Promise<void> {
    return this.#change.promise;
  }

  /** Resumes everything that waits. */
  announce(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  /** Lets a request wait for the next change, but not longer than `limit`. */
  async wait(limit: Promise<unknown>): Promise<void> {
    this.#waiting++;
    try {
      await Promise.race([limit, this.next]);
    } finally {
      this.#waiting--;
    }
  }
}
