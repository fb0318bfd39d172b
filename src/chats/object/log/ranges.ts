import { type CursorPagination, type Pagination, pagination } from "../../../model/list-page.ts";
import type { SeqRange } from "./rows.ts";

/**
 * The messages that a chat has: those above `floor` up to `newest`, both seqs, without a gap. So no query is needed for the
 * range of a page, and the total is their difference.
 */
export interface SeqBounds {
  floor: number;
  newest: number;
}

/** The rows of a page, counted from the newest message. */
export function pageRange(
  { floor, newest }: SeqBounds,
  page: number,
  limit: number,
): { range: SeqRange; pagination: Pagination } {
  const high = newest - (page - 1) * limit;
  return {
    range: { low: Math.max(floor + 1, high - limit + 1), high },
    pagination: pagination({ page, limit, total: newest - floor }),
  };
}

/** The newest `limit` rows before the cursor, a seq. */
export function rangeBefore({ floor, newest }: SeqBounds, cursor: number, limit: number): Selection {
  const low = Math.max(floor + 1, cursor - limit);
  return { range: { low, high: cursor - 1 }, pagination: { limit, total: newest - floor, hasMore: low > floor + 1 } };
}

/** The oldest `limit` rows after the cursor, a seq. So a client that catches up skips none. */
export function rangeAfter({ floor, newest }: SeqBounds, cursor: number, limit: number): Selection {
  const low = Math.max(floor, cursor) + 1;
  const high = Math.min(newest, low + limit - 1);
  return { range: { low, high }, pagination: { limit, total: newest - floor, hasMore: high < newest } };
}

interface Selection {
  range: SeqRange;
  pagination: CursorPagination;
}
