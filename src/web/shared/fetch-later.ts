import { fetchPart } from "./fetch-part.ts";

type Later = typeof import("./later.ts");

let load: () => Promise<Later>;
let found: Promise<Later> | null = null;

/** Says which of a page’s files has what is fetched later. */
export function laterComesFrom(file: typeof load): void {
  load = file;
}

/** What a page fetches when somebody first wants it. After a failure, the next call tries again. */
export function fetchLater(): Promise<Later> {
  found ??= fetchPart(/\/(later|screens)-/, load).catch((error: unknown) => {
    found = null;
    throw error;
  });
  return found;
}
