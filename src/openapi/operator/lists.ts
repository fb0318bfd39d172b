import * as z from "zod";
import { pageQuery } from "../../http/pagination.ts";
import { pagination } from "../answers.ts";
import * as examples from "../examples.ts";
import { type Answer, answered } from "../operation.ts";

/** The query of the operator's lists. */
export const pages = {
  schema: pageQuery,
  descriptions: { page: "The page to read, from 1 on.", limit: "How many rows a page holds at most." },
};

/** The answer of a list, oldest first. */
export function listed<Name extends string, Row extends z.ZodType>(
  name: Name,
  row: Row,
  example: z.output<Row>,
): Answer[] {
  const schema = z.object({ [name]: z.array(row), pagination } as Record<string, z.ZodType>);
  const page = { [name]: [example], pagination: examples.pagination };
  return [answered(200, `A page of ${name}; empty past the end.`, schema, page)];
}
