import { folded } from "../../platform/folding.ts";
import type { Message } from "../message.ts";
import type { ListAnswer, MessageFilter } from "../rpc.ts";
import type { MessageLog } from "./message-log.ts";

/** The most messages that one page examines. SQLite takes about 15 ms for them, and a search about 60 ms. */
const MAX_EXAMINED = 10_000;
/** The most texts of a search that are in memory at once. */
const SEARCHED_AT_ONCE = 500;
const FIELDS = ["status", "direction", "type"] as const satisfies (keyof MessageFilter)[];

/** Pages of those messages of a chat that a filter selects, as JSON, newest first. */
export class FilteredPages {
  readonly #sql: SqlStorage;
  readonly #log: Pick<MessageLog, "bounds" | "cursor">;

  constructor(sql: SqlStorage, log: Pick<MessageLog, "bounds" | "cursor">) {
    this.#sql = sql;
    this.#log = log;
  }

  /**
   * Reads a page. It examines at most 10,000 messages, so it may have fewer than `limit` although more follow.
   * @param before the id of a message: only older ones; null for all
   */
  read(filter: MessageFilter, before: string | null, limit: number): ListAnswer {
    const { floor, newest } = this.#log.bounds();
    const end = before === null ? newest + 1 : this.#log.cursor(before);
    if (end === null) return { outcome: "unknown_cursor" };
    const low = Math.max(floor + 1, end - MAX_EXAMINED);
    const found = this.#matching(filter, low, end - 1, limit + 1);
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : this.#at(low > floor + 1 ? low : 0);
    const cursor = last === undefined ? null : (JSON.parse(last) as Message).id;
    const pagination = JSON.stringify({ limit, hasMore: cursor !== null, cursor });
    const body = new TextEncoder().encode(`{"messages":[${shown.join()}],"pagination":${pagination}}`);
    return { outcome: "ok", body, version: "" };
  }

  /** The JSON of up to `count` messages from `low` to `high` that the filter selects, newest first. */
  #matching(filter: MessageFilter, low: number, high: number, count: number): string[] {
    if (filter.search !== undefined) return this.#containing(folded(filter.search), filter, low, high, count);
    return this.#rows<{ doc: string }>("doc", filter, low, high, count).map(({ doc }) => doc);
  }

  /** The same for those whose text contains `search`. Only their JSON is read. */
  #containing(search: string, filter: MessageFilter, low: number, high: number, count: number): string[] {
    const found: string[] = [];
    for (let top = high; top >= low; top -= SEARCHED_AT_ONCE) {
      const columns = "seq, doc ->> '$.text' as text";
      const rows = this.#rows<{ seq: number; text: string }>(
        columns,
        filter,
        Math.max(low, top - SEARCHED_AT_ONCE + 1),
        top,
        SEARCHED_AT_ONCE,
      );
      for (const { seq, text } of rows) {
        const doc = folded(text).includes(search) ? this.#at(seq) : undefined;
        if (doc !== undefined && found.push(doc) === count) return found;
      }
    }
    return found;
  }

  /** @param columns SQL */
  #rows<Row extends Record<string, SqlStorageValue>>(
    columns: string,
    filter: MessageFilter,
    low: number,
    high: number,
    count: number,
  ): Row[] {
    const fields = FIELDS.filter((field) => filter[field] !== undefined);
    const conditions = fields.map((field) => `and doc ->> '$.${field}' = ?`).join(" ");
    return this.#sql
      .exec<Row>(
        `select ${columns} from messages where seq between ? and ? ${conditions} order by seq desc limit ?`,
        low,
        high,
        ...fields.map((field) => filter[field] ?? ""),
        count,
      )
      .toArray();
  }

  #at(seq: number): string | undefined {
    return this.#sql.exec<{ doc: string }>("select doc from messages where seq = ?", seq).toArray()[0]?.doc;
  }
}
