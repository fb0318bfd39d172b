/** `reload-when-idle.ts`: its name is the same in each build, so that a page of an earlier one finds it. */
const RELOAD = "/web-assets/reload.js";

/**
 * Fetches a part of the page, which the build gives a file of its own. A deploy replaces the files, so a page that was
 * left open may no longer find one: then it loads itself again, as soon as nothing is being written.
 * @param file matches the file's address
 * @param load imports the part
 */
export function fetchPart<Part>(file: RegExp, load: () => Promise<Part>): Promise<Part> {
  return load().catch((error: unknown) => {
    // The first is the file without what is added below.
    const entry = performance.getEntriesByType("resource").find(({ name }) => file.test(name));
    if (!entry) throw error;
    // Browsers remember an address whose module they could not fetch. So it is asked for under another one.
    const address = `${entry.name}?${Date.now()}`;
    return import(address).catch(async () => {
      if ((await fetch(address)).status === 404) await import(RELOAD);
      throw error;
    });
  });
}
