const NEXT_AFTER_MS = { least: 5_000, most: 60_000 };
/** Up to this many reports a second, chats report at the shortest interval. */
const UNHURRIED = 50;

/** How often the chats of an organization should report: less often while many report. */
export class ReportPace {
  #second = 0;
  #reports = 0;
  /** How many reports came in the last full second. */
  #rate = 0;

  /** Counts a report. @returns for how many milliseconds its chat should collect changes before the next one */
  next(now: number): number {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#rate = second === this.#second + 1 ? this.#reports : 0;
      this.#second = second;
      this.#reports = 0;
    }
    this.#reports++;
    const { least, most } = NEXT_AFTER_MS;
    return Math.min(most, Math.max(least, Math.round((least * Math.max(this.#rate, this.#reports)) / UNHURRIED)));
  }
}
