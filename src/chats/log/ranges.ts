import { type CursorPagination, type Pagination, pagination } from "../../http/pagination.ts";
import type { SeqRange } from "./rows.ts";

/**
 * The rows of a page, counted from the newest message. The sequence has no gaps, so no query is needed, and the total is
 * the newest seq.
 */
export function pageRange(newest: number, page: number, limit: number): { range: SeqRange; pagination: Pagination } {
  const high = newest - (page - 1) * limit;
  return {
    range: { low: Math.max(1, high - limit + 1), high },
    pagination: pagination({ page, limit, total: newest }),
  };
}

/** The newest `limit` rows before the cursor, a seq. */
export function rangeBefore(newest: number, cursor: number, limit: number): Selection {
  const low = Math.max(1, cursor - limit);
  return { range: { low, high: cursor - 1 }, pagination: { limit, total: newest, hasMore: low > 1 } };
}

/** The oldest `limit` rows after the cursor, a seq. So a client that catches up skips none. */
export function rangeAfter(newest: number, cursor: number, limit: number): Selection {
  const high = Math.min(newest, cursor + limit);
  return { range: { low: cursor + 1, high }, pagination: { limit, total: newest, hasMore: high < newest } };
}

interface Selection {
  range: SeqRange;
  pagination: CursorPagination;
}
