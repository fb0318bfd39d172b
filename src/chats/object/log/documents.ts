import type { ChatTables, LateTable } from "./chat-tables.ts";
import { CheckedRows, checkComplete } from "./integrity.ts";
import type { SeqRange } from "./rows.ts";

/** The messages of a range as JSON, newest first. Throws if some are missing. */
export class MessageDocuments {
  readonly #messages: LateTable;
  readonly #checked = new CheckedRows();

  constructor(tables: ChatTables) {
    this.#messages = tables.messages;
  }

  /**
   * The response body of a list, in UTF-8. SQLite joins the messages, which is cheaper than reading rows.
   * @param pagination JSON
   */
  page(range: SeqRange, pagination: string): Uint8Array {
    const { low, high } = range;
    try {
      const query = `select cast('{"messages":[' || coalesce(group_concat(doc, ',' order by seq desc), '')
        || '],"pagination":' || ? || '}' as blob) as page, ${this.#countSql(range)} as found
        from messages where seq between ? and ?`;
      type Row = { page: ArrayBuffer; found: number };
      const [row] = this.#messages.run<Row>(query, pagination, low, high);
      this.#check(range, row?.found ?? 0);
      if (row) return new Uint8Array(row.page);
    } catch (error) {
      // SQLite limits a text to 2 MB, and a hundred long messages can have more.
      if (!String(error).includes("SQLITE_TOOBIG")) throw error;
    }
    return new TextEncoder().encode(`{"messages":[${this.joined(range)}],"pagination":${pagination}}`);
  }

  /** The messages, joined by commas. */
  joined(range: SeqRange): string {
    const { low, high } = range;
    try {
      const query = `select group_concat(doc, ',' order by seq desc) as docs, ${this.#countSql(range)} as found
        from messages where seq between ? and ?`;
      const [row] = this.#messages.run<{ docs: string | null; found: number }>(query, low, high);
      this.#check(range, row?.found ?? 0);
      return row?.docs ?? "";
    } catch (error) {
      // SQLite limits a text to 2 MB, so each half is read separately.
      if (low >= high || !String(error).includes("SQLITE_TOOBIG")) throw error;
      const middle = Math.floor((low + high) / 2);
      return `${this.joined({ low: middle + 1, high })},${this.joined({ low, high: middle })}`;
    }
  }

  /** A message was stored. */
  stored(seq: number): void {
    this.#checked.add({ low: seq, high: seq });
  }

  forget(): void {
    this.#checked.forget();
  }

  /** SQL that counts the readable rows of a range. Rows that were checked before are not parsed again. */
  #countSql(range: SeqRange): string {
    return this.#checked.covers(range) ? "count(*)" : "count(*) filter (where json_valid(doc))";
  }

  #check(range: SeqRange, found: number): void {
    checkComplete(found, range.high - range.low + 1);
    if (range.low <= range.high) this.#checked.add(range);
  }
}
