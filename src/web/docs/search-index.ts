import type { Section } from "./guide.ts";

/** A search entry in the form that the pages fetch: `[page, heading, href, text]`. */
export type SearchEntry = [page: string, heading: string, href: string, text: string];

/** The search index: one entry for each heading with its text. */
export function searchIndex(sections: readonly (Section & { page: string })[]): SearchEntry[] {
  return sections
    .filter(({ heading, text }) => heading !== "" || text !== "")
    .map(({ page, heading, href, text }) => [page, heading, href, text]);
}
