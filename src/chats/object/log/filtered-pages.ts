import type { ListAnswer, MessageFilter, Unknown } from "../../../model/chat-answers.ts";
import { folded } from "../../../model/folding.ts";
import { MAX_PAGE_TEXT } from "../../../model/list-page.ts";
import type { Message } from "../../../model/message.ts";
import { ShortSteps } from "../../../platform/object/short-steps.ts";
import type { ChatTables, LateTable } from "./chat-tables.ts";
import type { MessageLog } from "./message-log.ts";
import { SEARCHED } from "./searched-text.ts";

/** The most messages that one page examines. */
export const MAX_EXAMINED = 10_000;
/** Messages that one statement reads. The longest take SQLite about 10 ms. */
const READ_AT_ONCE = 100;
/** SQLite parses this many characters of JSON in the time it takes to fold one. */
const PARSED_PER_FOLDED = 8;
const FIELDS = ["status", "direction", "type"] as const satisfies (keyof MessageFilter)[];

/** A message in a filter's range: the length of its JSON, and its text if the filter's fields select it. */
type Examined = { seq: number; size: number; text: string | null };

/** Pages of those messages of a chat that a filter selects, as JSON, newest first. */
export class FilteredPages {
  readonly #messages: LateTable;
  readonly #log: Pick<MessageLog, "bounds" | "cursor">;

  constructor(tables: ChatTables, log: Pick<MessageLog, "bounds" | "cursor">) {
    this.#messages = tables.messages;
    this.#log = log;
  }

  /**
   * Reads a page. It examines at most 10,000 messages, and fewer if they are long, so it may have fewer than `limit`
   * although more follow. Other calls come in between.
   * @param before the id of a message: only older ones; null for all
   * @param exists false after the chat was deleted
   */
  async read(
    filter: MessageFilter,
    before: string | null,
    limit: number,
    exists: () => boolean,
  ): Promise<ListAnswer | Unknown> {
    const { floor, newest } = this.#log.bounds();
    const end = before === null ? newest + 1 : this.#log.cursor(before);
    if (end === null) return { outcome: "unknown_cursor" };
    const low = Math.max(floor + 1, end - MAX_EXAMINED);
    const search = filter.search === undefined ? null : folded(filter.search);
    const steps = new ShortSteps();
    const found: string[] = [];
    let examined = end;
    for (const { seq, size, text } of this.#rows(filter, low, end - 1)) {
      if (steps.total >= MAX_PAGE_TEXT || found.length > limit) break;
      examined = seq;
      const form = text === null || search === null ? text : folded(text);
      const work = size / PARSED_PER_FOLDED + (search === null ? 0 : (text?.length ?? 0) + (form?.length ?? 0));
      // Read separately, because a redaction may have come in between.
      const doc = form?.includes(search ?? "") ? this.#at(seq) : undefined;
      if (doc !== undefined) found.push(doc);
      if (steps.did(work)) {
        await steps.pause();
        if (!exists()) return { outcome: "unknown" };
      }
    }
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : this.#at(examined > floor + 1 ? examined : 0);
    const cursor = last === undefined ? null : (JSON.parse(last) as Message).id;
    const pagination = JSON.stringify({ limit, hasMore: cursor !== null, cursor });
    const body = new TextEncoder().encode(`{"messages":[${shown.join()}],"pagination":${pagination}}`);
    return { outcome: "ok", body, version: "", work: Math.ceil(steps.total) };
  }

  /** The messages from `low` to `high`, newest first. Not one cursor, which would stay open between two steps. */
  *#rows(filter: MessageFilter, low: number, high: number): Generator<Examined> {
    const fields = FIELDS.filter((field) => filter[field] !== undefined);
    const conditions = fields.map((field) => `doc ->> '$.${field}' = ?`).join(" and ") || "true";
    const text = filter.search === undefined ? "''" : SEARCHED;
    const query = `select seq, length(doc) as size, case when ${conditions} then ${text} end as text
      from messages where seq between ? and ? order by seq desc limit ?`;
    const values = fields.map((field) => filter[field] ?? "");
    for (let top = high; top >= low; top -= READ_AT_ONCE) {
      yield* this.#messages.run<Examined>(query, ...values, low, top, READ_AT_ONCE);
    }
  }

  #at(seq: number): string | undefined {
    return this.#messages.run<{ doc: string }>("select doc from messages where seq = ?", seq)[0]?.doc;
  }
}
