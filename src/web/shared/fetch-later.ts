type Later = typeof import("./later.ts");

const FILE = /[^?]*\/(later|screens)-\w+\.js/;

let load: () => Promise<Later>;
let found: Promise<Later> | null = null;

/** Says which of a page’s files has what is fetched later. */
export function laterComesFrom(file: typeof load): void {
  load = file;
}

/** What a page fetches when somebody first wants it. After a failure, the next call tries again. */
export function fetchLater(): Promise<Later> {
  found ??= load()
    .catch(fetchAgain)
    .catch((error: unknown) => {
      found = null;
      throw error;
    });
  return found;
}

/** Browsers remember an address whose module they could not fetch. So it is asked for under another one. */
function fetchAgain(error: unknown): Promise<Later> {
  const [file] = performance.getEntriesByType("resource").flatMap(({ name }) => FILE.exec(name) ?? []);
  if (file === undefined) throw error;
  const address = `${file}?${Date.now()}`;
  return import(address) as Promise<Later>;
}
