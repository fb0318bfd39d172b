import * as z from "zod/mini";
import { queryInteger, queryText } from "./fields.ts";
import { fault } from "./validation.ts";

const page = z.optional(queryInteger(1, 999_999_999_999_999));
const limit = z._default(z.optional(queryInteger(1, 100)), 20);
const cursor = z.optional(queryText(64));

/** The query of a list that is read by page number alone. */
export const pageQuery = z.object({ page: z._default(page, 1), limit });

/** The parameters of a list that is read by page number or from a cursor on; `placeOf` tells which. */
export const placeParameters = { page, limit, before: cursor, after: cursor };

/** Where in a list to read: a page, or what lies on one side of the row with an id. */
export type Place =
  | { page: number; limit: number }
  | { before: string; limit: number }
  | { after: string; limit: number };

interface PlaceQuery {
  page?: number | undefined;
  limit: number;
  before?: string | undefined;
}

/**
 * The one place that a query names; page 1 when it names none.
 * @throws ApiError `validation_failed` when it names two
 */
export function placeOf(query: PlaceQuery & { after?: undefined }): Exclude<Place, { after: string }>;
export function placeOf(query: PlaceQuery & { after?: string | undefined }): Place;
export function placeOf({ page, limit, before, after }: PlaceQuery & { after?: string | undefined }): Place {
  const cursor = before === undefined ? "after" : "before";
  if (page !== undefined && (before ?? after) !== undefined) throw fault("page", `can't be given with ${cursor}`);
  if (before !== undefined && after !== undefined) throw fault("after", "can't be given with before");
  if (before !== undefined) return { before, limit };
  return after === undefined ? { page: page ?? 1, limit } : { after, limit };
}

/** What a list by page says of itself. */
export interface Pagination {
  page: number;
  limit: number;
  total: number;
  totalPages: number;
  hasMore: boolean;
}

/** What a list from a cursor on says of itself. */
export interface CursorPagination {
  limit: number;
  total: number;
  hasMore: boolean;
}

/** The metadata of page `page` of `total` rows. */
export function pagination({ page, limit, total }: { page: number; limit: number; total: number }): Pagination {
  const totalPages = Math.ceil(total / limit);
  return { page, limit, total, totalPages, hasMore: page < totalPages };
}
