import { type Clock, SYSTEM_CLOCK } from "../../../platform/clock.ts";
import { perIsolate } from "../../../platform/per-isolate.ts";

/** Three times the time that a chat needs to place ten messages, so that other messages are sent in between. */
const TURN_MS = 8;
/** How often a chat waits. After a busy time, many turns come at once: one chat begins, the others wait again. */
const MAX_WAITS = 3;
/** A chat whose turn would come later begins at once: one customer's many chats must not delay another customer's. */
const MAX_DELAY_MS = 10_000;

/**
 * Takes turns between the chats of one isolate that have messages due at the same time. They share a thread. Without
 * turns, all chats would do one step before the first chat did its next one, and nothing would be sent until all had
 * placed their messages. A single chat never waits.
 */
export class Turns {
  readonly #clock: Pick<Clock, "now" | "wait">;
  /** When the next turn can begin, Unix milliseconds. */
  #nextAt = 0;
  #begunAt = 0;
  #askedAt = 0;

  constructor(clock: Pick<Clock, "now" | "wait">) {
    this.#clock = clock;
  }

  async begin(): Promise<void> {
    let now = this.#clock.now();
    const until = now + MAX_DELAY_MS;
    for (let waits = 0; waits < MAX_WAITS; waits++) {
      const waitMs = this.#take(now, until);
      if (waitMs === 0) break;
      await this.#clock.wait(waitMs);
      now = this.#clock.now();
      if (now - this.#begunAt >= TURN_MS) break;
    }
    this.#begunAt = now;
    if (this.#nextAt < now + TURN_MS) this.#nextAt = now + TURN_MS;
  }

  /** @param until when it must begin at the latest. @returns in how many milliseconds the turn begins */
  #take(now: number, until: number): number {
    // If the clock was set back, the turns that were taken say nothing.
    const beginsIn = now < this.#askedAt ? 0 : Math.max(0, this.#nextAt - now);
    this.#askedAt = now;
    if (now + beginsIn > until) return 0;
    this.#nextAt = now + beginsIn + TURN_MS;
    return beginsIn;
  }
}

/** The turns of this isolate's chats. */
export const turnsOf = perIsolate(() => new Turns(SYSTEM_CLOCK));
