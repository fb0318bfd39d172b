import { type CursorPagination, type Pagination, pagination } from "../../http/pagination.ts";
import type { SeqRange } from "./rows.ts";

/**
 * The rows of page `page` in a chat whose newest message is `newest`: plain arithmetic, because the sequence is dense.
 * The total is the newest number.
 */
export function pageRange(newest: number, page: number, limit: number): { range: SeqRange; pagination: Pagination } {
  const high = newest - (page - 1) * limit;
  return {
    range: { low: Math.max(1, high - limit + 1), high },
    pagination: pagination({ page, limit, total: newest }),
  };
}

/** The newest `limit` rows before the cursor. */
export function rangeBefore(newest: number, cursor: number, limit: number): Selection {
  const low = Math.max(1, cursor - limit);
  return { range: { low, high: cursor - 1 }, pagination: { limit, total: newest, hasMore: low > 1 } };
}

/** The *oldest* `limit` rows after the cursor, so that a client that catches up skips none. */
export function rangeAfter(newest: number, cursor: number, limit: number): Selection {
  const high = Math.min(newest, cursor + limit);
  return { range: { low: cursor + 1, high }, pagination: { limit, total: newest, hasMore: high < newest } };
}

interface Selection {
  range: SeqRange;
  pagination: CursorPagination;
}
