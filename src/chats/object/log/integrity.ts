import type { SeqRange } from "./rows.ts";

/**
 * The range of rows that this instance has checked or written. Only the file at rest can be damaged, so each row is
 * checked once.
 */
export class CheckedRows {
  #range: SeqRange = { low: 1, high: 0 };

  covers({ low, high }: SeqRange): boolean {
    return low >= this.#range.low && high <= this.#range.high;
  }

  /** Extends the checked range. A range that does not adjoin it replaces it. */
  add({ low, high }: SeqRange): void {
    const { low: from, high: to } = this.#range;
    const adjoins = low <= to + 1 && high >= from - 1;
    this.#range = adjoins ? { low: Math.min(low, from), high: Math.max(high, to) } : { low, high };
  }

  forget(): void {
    this.#range = { low: 1, high: 0 };
  }
}

/**
 * Throws if rows are missing or don't contain JSON. The sequence has no gaps, so then the file is damaged, and a partial
 * page must not look complete.
 * @throws Error with SQLite's code for a damaged file
 */
export function checkComplete(found: number, expected: number): void {
  if (found < expected) throw new Error(`Only ${found} of ${expected} messages are readable: SQLITE_CORRUPT`);
}
