import type { SeqRange } from "./message-log.ts";

/**
 * The rows of a log that this instance has found whole, or has written. A file is damaged at rest: what was looked at
 * once need not be looked at again.
 */
export class CheckedRows {
  #range: SeqRange = { low: 1, high: 0 };

  covers({ low, high }: SeqRange): boolean {
    return low >= this.#range.low && high <= this.#range.high;
  }

  /** One range is kept: one that lies apart from it takes its place. */
  add({ low, high }: SeqRange): void {
    const { low: from, high: to } = this.#range;
    const joins = low <= to + 1 && high >= from - 1;
    this.#range = joins ? { low: Math.min(low, from), high: Math.max(high, to) } : { low, high };
  }

  /** Everything was erased. */
  forget(): void {
    this.#range = { low: 1, high: 0 };
  }
}

/**
 * The sequence has no gap: where rows are missing, or are no JSON, the file is damaged, and the rest must not pass for
 * all. @throws Error as SQLite's own for a damaged file
 */
export function checkWhole(found: number, wanted: number): void {
  if (found < wanted) throw new Error(`${found} of ${wanted} messages are whole: SQLITE_CORRUPT`);
}
