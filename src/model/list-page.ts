/** How many rows a page can have. */
export const MAX_PAGE = 100;
/**
 * How much text a search or a filter examines for a page, in characters: before and after it is folded, and an eighth of
 * what only has to be parsed. 10,000 messages of usual length have less.
 */
export const MAX_PAGE_TEXT = 4_194_304;

/** Where to read in a list: a page, or the rows before or after the row with an id. */
export type ListPosition =
  | { page: number; limit: number }
  | { before: string; limit: number }
  | { after: string; limit: number };

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
 * The metadata of a list that is walked with a cursor. `cursor` continues it; null if nothing follows. Only some of these
 * lists know their `total`. `hasNewer`: rows are known to be left out because they came or moved since the walk began.
 */
export interface WalkPagination {
  limit: number;
  total?: number | undefined;
  hasMore: boolean;
  cursor: string | null;
  hasNewer?: boolean | undefined;
}

/** The metadata of a page of chats. `cursor` walks on behind it; null if nothing follows. */
export type ChatsPagination = Pagination & Pick<WalkPagination, "cursor">;

/** The metadata of page `page` of `total` rows. */
export function pagination({ page, limit, total }: { page: number; limit: number; total: number }): Pagination {
  const totalPages = Math.ceil(total / limit);
  return { page, limit, total, totalPages, hasMore: page < totalPages };
}
