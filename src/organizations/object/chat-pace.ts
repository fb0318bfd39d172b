/** How many chats the object calls at once. */
export const CHATS_A_STEP = 20;
const STEP_EVERY_MS = 1_000;

/** The pace of work that calls one chat after another: a step in a second. */
export class ChatPace {
  /** When the next step begins, Unix milliseconds. */
  #nextAt = 0;

  /** When work that is due at `at` gets its step. */
  after(at: number): number {
    return Math.max(at, this.#nextAt);
  }

  /** Whether a step begins now. The one after it comes a second later. */
  step(now: number): boolean {
    // The clock may have been set back.
    if (now < this.#nextAt && this.#nextAt - now <= STEP_EVERY_MS) return false;
    this.#nextAt = now + STEP_EVERY_MS;
    return true;
  }

  /** The next step begins at `at`. */
  beginAt(at: number): void {
    this.#nextAt = at;
  }
}
