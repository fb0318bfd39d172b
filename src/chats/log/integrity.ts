import type { SeqRange } from "./rows.ts";

/**
 * The rows of a log that this instance has checked or written. Files are damaged at rest, so one check of each row is
 * enough.
 */
export class CheckedRows {
  #range: SeqRange = { low: 1, high: 0 };

  covers({ low, high }: SeqRange): boolean {
    return low >= this.#range.low && high <= this.#range.high;
  }

  /** Extends the range that is kept. A range that does not touch it replaces it. */
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
 * The sequence has no gap. If rows are missing or hold no JSON, the file is damaged, and a partial page must not look
 * complete. @throws Error like SQLite's own for a damaged file
 */
export function checkWhole(found: number, wanted: number): void {
  if (found < wanted) throw new Error(`${found} of ${wanted} messages are whole: SQLITE_CORRUPT`);
}
