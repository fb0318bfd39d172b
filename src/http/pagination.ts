import * as z from "zod/mini";
import { queryInteger, queryText } from "../model/field.ts";
import { fault } from "./validation.ts";

const page = z.optional(queryInteger(1, 999_999_999_999_999));
/** How many rows a page can have. */
export const MAX_PAGE = 100;
const limit = z._default(z.optional(queryInteger(1, MAX_PAGE)), 20);
const cursor = z.optional(queryText(64));

/** The query of a list that has only pages. */
export const pageQuery = z.object({ page: z._default(page, 1), limit });

/** The query of a list that is read from the oldest row on, with a cursor only. */
export const afterQuery = z.object({ limit, after: cursor });

/** The query of a list that is read from the newest row on, with a cursor only. */
export const beforeQuery = z.object({ limit, before: cursor });

/** The query parameters of a list with pages and cursors. `positionOf` reads them. */
export const positionParameters = { page, limit, before: cursor, after: cursor };

/** Where to read in a list: a page, or the rows before or after the row with an id. */
export type ListPosition =
  | { page: number; limit: number }
  | { before: string; limit: number }
  | { after: string; limit: number };

interface PositionQuery {
  page?: number | undefined;
  limit: number;
  before?: string | undefined;
}

/**
 * The position that a query asks for. Default: page 1.
 * @throws ApiError `validation_failed` if the query has more than one position
 */
export function positionOf(query: PositionQuery & { after?: undefined }): Exclude<ListPosition, { after: string }>;
export function positionOf(query: PositionQuery & { after?: string | undefined }): ListPosition;
export function positionOf({
  page,
  limit,
  before,
  after,
}: PositionQuery & { after?: string | undefined }): ListPosition {
  const cursor = before === undefined ? "after" : "before";
  if (page !== undefined && (before ?? after) !== undefined) throw fault("page", `can't be given with ${cursor}`);
  if (before !== undefined && after !== undefined) throw fault("after", "can't be given with before");
  if (before !== undefined) return { before, limit };
  return after === undefined ? { page: page ?? 1, limit } : { after, limit };
}

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
