import * as z from "zod";
import { pageQuery } from "../../http/pagination.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type ResponseSpec } from "../operation.ts";
import { paginationSchema } from "../resources.ts";
import { walkPaginationSchema } from "../webhook-resources.ts";

/** The query of the operator's lists. */
export const pages = {
  schema: pageQuery,
  descriptions: { page: "The page to read, starting at 1.", limit: "The maximum number of rows on a page." },
};

/** The response of a list, oldest first. */
export function listResponse<Row extends z.ZodType>(name: string, row: Row, example: z.output<Row>): ResponseSpec[] {
  const schema = z.object({ [name]: z.array(row), pagination: paginationSchema } as Record<string, z.ZodType>);
  const page = { [name]: [example], pagination: examples.pagination };
  return [jsonResponse(200, `A page of ${name}. It is empty past the end of the list.`, schema, page)];
}

/** The response of a list that is read with a cursor. @param what what it lists */
export function walkResponse<Row extends z.ZodType>(
  name: string,
  row: Row,
  example: z.output<Row>,
  what = name,
): ResponseSpec[] {
  const schema = z.object({ [name]: z.array(row), pagination: walkPaginationSchema } as Record<string, z.ZodType>);
  const page = { [name]: [example], pagination: { limit: 20, hasMore: false, cursor: null } };
  return [jsonResponse(200, `A page of ${what}.`, schema, page)];
}
