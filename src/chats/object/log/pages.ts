import type { ListAnswer } from "../../../model/chat-answers.ts";
import type { ListPosition } from "../../../model/list-page.ts";
import type { MessageLog } from "./message-log.ts";
import { pageRange, rangeAfter, rangeBefore } from "./ranges.ts";

/**
 * Pages of a chat's messages as JSON, newest first. Clients poll the first page, so it stays in memory until the chat
 * changes.
 */
export class MessagePages {
  readonly #log: MessageLog;
  /** Part of each version, so that no other instance produces the same versions. */
  readonly #instance = crypto.randomUUID();
  #first: { version: string; limit: number; body: Uint8Array } | undefined;

  constructor(log: MessageLog) {
    this.#log = log;
  }

  /**
   * Reads a page.
   * @param cachedVersion the version of this page that the caller has cached
   */
  read(position: ListPosition, cachedVersion: string | undefined): ListAnswer {
    const version = `${this.#instance} ${this.#log.changes}`;
    if (cachedVersion === version) return { outcome: "unchanged" };
    if ("page" in position) {
      if (position.page === 1) return { outcome: "ok", body: this.#firstPage(position.limit, version), version };
      return { outcome: "ok", body: this.#page(pageRange(this.#log.bounds(), position.page, position.limit)), version };
    }
    const cursor = this.#log.cursor("before" in position ? position.before : position.after);
    if (cursor === null) return { outcome: "unknown_cursor" };
    const select = "before" in position ? rangeBefore : rangeAfter;
    return { outcome: "ok", body: this.#page(select(this.#log.bounds(), cursor, position.limit)), version };
  }

  #firstPage(limit: number, version: string): Uint8Array {
    if (this.#first?.version !== version || this.#first.limit !== limit) {
      this.#first = { version, limit, body: this.#page(pageRange(this.#log.bounds(), 1, limit)) };
    }
    return this.#first.body;
  }

  #page({ range, pagination }: ReturnType<typeof pageRange> | ReturnType<typeof rangeBefore>): Uint8Array {
    return this.#log.documents.page(range, JSON.stringify(pagination));
  }
}
