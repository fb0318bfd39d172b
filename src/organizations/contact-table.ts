import {
  type Contact,
  type ContactSearch,
  isListedAt,
  type Place,
  prefixOf,
  TERM_KINDS,
  type Term,
  termsOf,
} from "./contact-search.ts";

/** The columns of a chat that are about its contact. `others`: further addresses as JSON. */
export type ContactColumns = {
  id: string;
  channel_id: string;
  address: string;
  others: string | null;
  name: string | null;
};

/** The most rows that one page reads. */
const MAX_EXAMINED = 10_000;
const READ_AT_ONCE = 200;
const FILLED_AT_ONCE = 500;
const FILLS_A_CALL = 20;
/** Greater than each text that a term can go on with. */
const LAST = "\u{10ffff}";

/**
 * The terms under which the contacts of an organization are found. `ChatTable` keeps them with its rows. In an object from
 * before this table, the first search fills it.
 */
export class ContactTable {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Adds the terms of a chat. Those that it has stay. */
  add(row: ContactColumns): void {
    this.#insert(row, termsOf(contactOf(row)));
  }

  /** The contact of a chat gets another name. @param row the chat before */
  rename(row: ContactColumns, name: string | null): void {
    if (name === row.name) return;
    const before = termsOf(contactOf(row));
    const after = termsOf(contactOf({ ...row, name }));
    this.#delete(row, without(before, after));
    this.#insert(row, without(after, before));
  }

  remove(row: ContactColumns): void {
    this.#delete(row, termsOf(contactOf(row)));
  }

  /**
   * Fills the table for chats from before it, 10,000 in a call at most. Other calls come in between.
   * @param isReady false after the organization was deleted
   * @returns whether it is filled
   */
  async fill(isReady: () => boolean): Promise<boolean> {
    for (let pages = 0; pages < FILLS_A_CALL && isReady(); pages++) {
      if (this.#fillPage()) return true;
      await scheduler.wait(0);
    }
    return false;
  }

  /**
   * Reads a page: contacts that are found by an address, then those that are found by their names, in the order of the
   * terms. It reads at most 10,000 rows, so it may have fewer than `limit` although more follow.
   * @param read returns the row of a chat; undefined if it is being deleted
   * @returns the rows, and where to go on; null if nothing follows
   */
  page<Row extends ContactColumns>(
    search: ContactSearch,
    channelIds: string[],
    after: Place | null,
    limit: number,
    read: (id: string) => Row | undefined,
  ): { rows: Row[]; next: Place | null } {
    const channels = new Set(channelIds);
    const rows: Row[] = [];
    let last: Place | null = null;
    let examined = 0;
    for (const { place, channelId } of this.#walk(search, after, limit + 1)) {
      if (examined >= MAX_EXAMINED) return { rows, next: last };
      examined++;
      const row = channels.has(channelId) ? read(place.id) : undefined;
      if (row) examined++;
      if (row && isListedAt(search, contactOf(row), place)) {
        if (rows.length === limit) return { rows, next: last };
        rows.push(row);
      }
      // A match beyond the page is read again by the next one.
      last = place;
    }
    return { rows, next: null };
  }

  /** The terms that begin as the search asks, a few at a time. Not one cursor: while one is open, no table can be dropped. */
  *#walk(search: ContactSearch, after: Place | null, first: number): Generator<{ place: Place; channelId: string }> {
    for (const kind of TERM_KINDS.slice(after ? TERM_KINDS.indexOf(after.kind) : 0)) {
      const prefix = prefixOf(search, kind);
      if (prefix === "") continue;
      let last = after?.kind === kind ? after : null;
      for (let count = first; ; count = READ_AT_ONCE) {
        const rows = this.#sql
          .exec<{ text: string; id: string; channelId: string }>(
            `select term as text, chat_id as id, channel_id as channelId from contact_terms
             where kind = ? and term < ? and ${last ? "(term, chat_id) > (?, ?)" : "term >= ?"}
             order by term, chat_id limit ?`,
            TERM_KINDS.indexOf(kind),
            prefix + LAST,
            ...(last ? [last.text, last.id] : [prefix]),
            count,
          )
          .toArray();
        for (const { channelId, ...found } of rows) {
          last = { kind, ...found };
          yield { place: last, channelId };
        }
        if (rows.length < count) break;
      }
    }
  }

  #insert({ id, channel_id }: ContactColumns, terms: Term[]): void {
    for (const { kind, text } of terms) {
      this.#sql.exec(
        "insert into contact_terms (kind, term, chat_id, channel_id) values (?, ?, ?, ?) on conflict do nothing",
        TERM_KINDS.indexOf(kind),
        text,
        id,
        channel_id,
      );
    }
  }

  #delete({ id }: ContactColumns, terms: Term[]): void {
    for (const { kind, text } of terms) {
      this.#sql.exec(
        "delete from contact_terms where kind = ? and term = ? and chat_id = ?",
        TERM_KINDS.indexOf(kind),
        text,
        id,
      );
    }
  }

  /** @returns whether no page is left */
  #fillPage(): boolean {
    return this.#storage.transactionSync(() => {
      const [fill] = this.#sql.exec<{ after: string }>("select after from contact_fill").toArray();
      if (!fill) return true;
      const rows = this.#sql
        .exec<ContactColumns & { state: string }>(
          "select id, channel_id, address, others, name, state from chats where id > ? order by id limit ?",
          fill.after,
          FILLED_AT_ONCE,
        )
        .toArray();
      for (const row of rows) if (row.state !== "deleting") this.add(row);
      const last = rows.at(-1);
      if (last && rows.length === FILLED_AT_ONCE) this.#sql.exec("update contact_fill set after = ?", last.id);
      else this.#sql.exec("delete from contact_fill");
      return rows.length < FILLED_AT_ONCE;
    });
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }
}

function contactOf({ address, others, name }: ContactColumns): Contact {
  return { name, addresses: [address, ...(others === null ? [] : (JSON.parse(others) as string[]))] };
}

function without(terms: Term[], others: Term[]): Term[] {
  return terms.filter(({ kind, text }) => !others.some((other) => other.kind === kind && other.text === text));
}
