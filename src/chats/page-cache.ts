import { type JsonWithETag, withETag } from "../http/etag.ts";
import type { ListAnswer } from "../model/chat-answers.ts";

type CachedPage = JsonWithETag & { version: string };

/** What an entry takes beside its page, about. */
export const ENTRY_BYTES = 512;

/** First pages of lists, each with the version of the list that it shows. */
export class PageCache {
  readonly #pages = new Map<string, CachedPage>();
  readonly #maxBytes: number;
  readonly #maxPageBytes: number;
  #bytes = 0;

  /** A larger page is not cached. The page that was kept first goes first. */
  constructor({ maxBytes, maxPageBytes }: { maxBytes: number; maxPageBytes: number }) {
    this.#maxBytes = maxBytes;
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
    if (name !== null && page.body.byteLength <= this.#maxPageBytes) this.#keep(name, { ...page, version });
    return page;
  }

  #keep(name: string, page: CachedPage): void {
    this.#drop(name);
    this.#pages.set(name, page);
    this.#bytes += sizeOf(page);
    // A map iterates its keys in the order of insertion.
    while (this.#bytes > this.#maxBytes) this.#drop(this.#pages.keys().next().value as string);
  }

  #drop(name: string): void {
    const page = this.#pages.get(name);
    if (page && this.#pages.delete(name)) this.#bytes -= sizeOf(page);
  }
}

function sizeOf({ body }: CachedPage): number {
  return body.byteLength + ENTRY_BYTES;
}
