import * as z from "zod/mini";
import { atMost, notEmpty } from "./field.ts";
import { folded } from "./folding.ts";

const MIN_SEARCH = 2;
export const MAX_SEARCH = 100;

/** What is searched for in messages. */
export const searchText = z.string().check(
  z.refine((text) => text.length >= MIN_SEARCH, {
    error: `must have at least ${MIN_SEARCH} characters`,
    abort: true,
  }),
  // For the document: an emoji of two units is one character there.
  notEmpty,
  ...atMost(MAX_SEARCH),
  z.refine((text) => folded(text).trim() !== "", { error: "must have a visible character", abort: true }),
);

/** What is searched for in all messages of an organization. The index has no shorter parts of a text. */
export const indexedSearchText = searchText.check(
  z.refine((text) => folded(text).length >= MIN_SEARCH, "must have at least 2 characters without accents and marks"),
);
