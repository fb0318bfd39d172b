/** How many rows a page can have. */
export const MAX_PAGE = 100;

/** Where to read in a list: a page, or the rows before or after the row with an id. */
export type ListPosition =
  | { page: number; limit: number }
  | { before: string; limit: number }
  | { after: string; limit: number };

/** The metadata of a page. */
export interface Pagination {
  page: number;
  limit: number;
  total: number;
  totalPages: number;
  hasMore: boolean;
}

/** The metadata of a list that was read with a cursor. */
export interface CursorPagination {
  limit: number;
  total: number;
  hasMore: boolean;
}

/**
 * The metadata of a list that is read with a cursor only. `cursor` continues it; null if nothing follows. Only some of
 * these lists know their `total`.
 */
export interface WalkPagination {
  limit: number;
  total?: number | undefined;
  hasMore: boolean;
  cursor: string | null;
}

/** The metadata of page `page` of `total` rows. */
export function pagination({ page, limit, total }: { page: number; limit: number; total: number }): Pagination {
  const totalPages = Math.ceil(total / limit);
  return { page, limit, total, totalPages, hasMore: page < totalPages };
}
