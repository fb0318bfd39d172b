import { type JsonWithETag, withETag } from "../http/etag.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import type { ListAnswer } from "./rpc.ts";

type CachedPage = JsonWithETag & { version: string };

/** First pages of lists, each with the version of the list that it shows. */
export class PageCache {
  readonly #pages: BoundedMap<string, CachedPage>;
  readonly #maxPageBytes: number;

  /** A larger page is not cached. */
  constructor({ maxPages, maxPageBytes }: { maxPages: number; maxPageBytes: number }) {
    this.#pages = new BoundedMap(maxPages);
    this.#maxPageBytes = maxPageBytes;
  }

  /**
   * Reads a page. `ask` calls the list's object, which sends the page only if its version is not `cachedVersion`.
   * @param name the page's name in the cache; null for a page that is not cached
   * @returns null if the list does not have the page's cursor
   */
  async read(
    name: string | null,
    ask: (cachedVersion: string | undefined) => Promise<ListAnswer>,
  ): Promise<JsonWithETag | null> {
    const cached = name === null ? undefined : this.#pages.get(name);
    const answer = await ask(cached?.version);
    if (answer.outcome === "unchanged" && cached) return cached;
    if (answer.outcome !== "ok") return null;
    const page = await withETag(answer.body);
    const { version } = answer;
    if (name !== null && page.body.byteLength <= this.#maxPageBytes) this.#pages.set(name, { ...page, version });
    return page;
  }
}
