const NEXT_AFTER_MS = { least: 5_000, most: 60_000 };
/** Up to this many reports a second, chats report at the shortest interval. */
const UNHURRIED = 50;
/** The reports per second that may come at once, and how many more in a burst. Doorbells have the same limit. */
const PROMPT = { perSecond: 10, burst: 20 };

/** What the answer to a report says of the next one; see `ReportAnswer`. */
interface Pace {
  nextAfterMs: number;
  restMs: number;
  /** From this number of reporting chats on, each one reports as if nobody listened. */
  isCrowded: boolean;
}

/** How often the chats of an organization should report: less often while many report, whether somebody listens or not. */
export class ReportPace {
  #second = 0;
  #reports = 0;
  /** How many reports came in the last full second. */
  #rate = 0;
  /** Until when the reports so far would last at `PROMPT.perSecond`: Unix milliseconds. */
  #lastsUntil = 0;

  /** Counts a report. */
  next(now: number): Pace {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#rate = second === this.#second + 1 ? this.#reports : 0;
      this.#second = second;
      this.#reports = 0;
    }
    this.#reports++;
    const { least, most } = NEXT_AFTER_MS;
    const nextAfterMs = Math.min(
      most,
      Math.max(least, Math.round((least * Math.max(this.#rate, this.#reports)) / UNHURRIED)),
    );
    const restMs = this.#restMs(now);
    const isCrowded = restMs >= least;
    return { nextAfterMs, restMs: isCrowded ? nextAfterMs : restMs, isCrowded };
  }

  /** For how long a chat must rest so that reports keep to `PROMPT`; at most the shortest interval. */
  #restMs(now: number): number {
    const eachMs = 1_000 / PROMPT.perSecond;
    const burstMs = PROMPT.burst * eachMs;
    // Not more: soon after a crowd, chats are listened to again. The clock can go back.
    const most = now + burstMs + NEXT_AFTER_MS.least;
    this.#lastsUntil = Math.min(most, Math.max(now, this.#lastsUntil) + eachMs);
    return Math.max(0, this.#lastsUntil - now - burstMs);
  }
}
