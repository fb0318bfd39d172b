import * as z from "zod/mini";
import { queryInteger, queryText } from "../model/field.ts";
import { type ListPosition, MAX_PAGE } from "../model/list-page.ts";
import { fault } from "./validation.ts";

const page = z.optional(queryInteger(1, 999_999_999_999_999));
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
