import {
  ALL_CHATS,
  type ContactSearch,
  finds,
  isListedAt,
  lengthOf,
  prefixOf,
  type SearchPlace,
  TERM_KINDS,
  type Term,
} from "../../model/contact-search.ts";
import { ShortSteps } from "../../platform/object/short-steps.ts";
import type { Walk, WalkedPage } from "./chat-cursor.ts";
import { type ContactColumns, type ContactTable, contactOf } from "./contact-table.ts";

/** The most rows that one page reads. */
const MAX_EXAMINED = 10_000;
const TERMS_AT_ONCE = 200;
const CHATS_AT_ONCE = 50;
/** The cost of reading a row, in folded characters. */
const ROW_WORK = 400;
/** How often a character costs: a contact's texts, and each address, are folded and divided into words. */
const WORK_PER_CHARACTER = 4;
/** Greater than any text that can follow in a term. */
const LAST = "\u{10ffff}";

type TermPlace = Term & { id: string };

/** The columns that a search needs. */
type FoundColumns = ContactColumns & { name_move: number | null };

/** A search, as a page needs it. */
interface Asked<Row> {
  search: ContactSearch;
  channelIds: string[];
  /** The walk that the page continues; one without a place begins. */
  walk: Omit<Walk<SearchPlace>, "place"> & { place: SearchPlace | null };
  limit: number;
  /** Returns the row of a chat; undefined if it is being deleted. */
  read: (id: string) => Row | undefined;
  /** Returns rows of chats with greater ids, in the order of their ids, without those that are being deleted. */
  readAfter: (id: string, limit: number) => Row[];
  /** False after the organization was deleted. */
  isReady: () => boolean;
}

/** Pages of the contacts that a search finds. */
export class ContactPages {
  readonly #sql: SqlStorage;
  readonly #contacts: Pick<ContactTable, "isFilled">;

  constructor(sql: SqlStorage, contacts: Pick<ContactTable, "isFilled">) {
    this.#sql = sql;
    this.#contacts = contacts;
  }

  /**
   * Reads a page: contacts that are found by an address, then those that are found by their names, in the order of the
   * terms. It reads at most 10,000 rows, so it may have fewer than `limit` although more follow. Other calls come in
   * between. A contact that got another name since the walk began is left out, because it may have been shown.
   */
  async read<Row extends FoundColumns>(asked: Asked<Row>): Promise<WalkedPage<Row, SearchPlace>> {
    const { search, channelIds, walk, limit, read, isReady } = asked;
    const { place: after, start } = walk;
    if (!this.#contacts.isFilled() || after?.kind === ALL_CHATS) return this.#pageOfChats(asked);
    let { hasNewer } = walk;
    const channels = new Set(channelIds);
    const steps = new ShortSteps();
    const rows: Row[] = [];
    let last = after;
    const end = (isEnd: boolean) => ({
      rows,
      next: last && !isEnd ? { place: last, start, hasNewer } : null,
      hasNewer,
    });
    let examined = 0;
    for (const { place, channelId } of this.#walk(search, after, limit + 1)) {
      if (examined >= MAX_EXAMINED) return end(false);
      examined++;
      const row = channels.has(channelId) ? read(place.id) : undefined;
      const contact = row && contactOf(row);
      if (row) examined++;
      if (row && contact && isListedAt(search, contact, place)) {
        if ((row.name_move ?? 0) > start) hasNewer = true;
        else if (rows.length === limit) return end(false);
        else rows.push(row);
      }
      // A match beyond the page is read again by the next one.
      last = place;
      if (steps.did(ROW_WORK + (contact ? ROW_WORK + WORK_PER_CHARACTER * lengthOf(contact) : 0))) {
        await steps.pause();
        if (!isReady()) return { rows: [], next: null, hasNewer };
      }
    }
    return end(true);
  }

  /** The same while there are no terms to read, in the order of the chats' ids. */
  async #pageOfChats<Row extends FoundColumns>(asked: Asked<Row>): Promise<WalkedPage<Row, SearchPlace>> {
    const { search, channelIds, walk, limit, readAfter, isReady } = asked;
    const { place: after, start, hasNewer } = walk;
    const channels = new Set(channelIds);
    const steps = new ShortSteps();
    const rows: Row[] = [];
    let last = after?.kind === ALL_CHATS ? after.id : "";
    const here = () => ({ rows, next: { place: { kind: ALL_CHATS, text: "", id: last }, start, hasNewer }, hasNewer });
    for (let examined = 0; examined < MAX_EXAMINED; examined += CHATS_AT_ONCE) {
      const read = readAfter(last, CHATS_AT_ONCE);
      for (const row of read) {
        const contact = contactOf(row);
        if (channels.has(row.channel_id) && finds(search, contact)) {
          if (rows.length === limit) return here();
          rows.push(row);
        }
        last = row.id;
        if (steps.did(ROW_WORK + WORK_PER_CHARACTER * lengthOf(contact))) {
          await steps.pause();
          if (!isReady()) return { rows: [], next: null, hasNewer };
        }
      }
      if (read.length < CHATS_AT_ONCE) return { rows, next: null, hasNewer };
    }
    return here();
  }

  /** The terms that begin as the search asks, a few at a time. Not one cursor: while one is open, no table can be dropped. */
  *#walk(
    search: ContactSearch,
    after: SearchPlace | null,
    first: number,
  ): Generator<{ place: TermPlace; channelId: string }> {
    const kinds = TERM_KINDS.slice(after?.kind === "name" ? TERM_KINDS.indexOf("name") : 0);
    for (const kind of kinds) {
      const prefix = prefixOf(search, kind);
      if (prefix === "") continue;
      let last: TermPlace | null = after?.kind === kind ? { ...after, kind } : null;
      for (let count = first; ; count = TERMS_AT_ONCE) {
        const query = `select term as text, chat_id as id, channel_id as channelId from contact_terms
          where kind = ? and term < ? and ${last ? "(term, chat_id) > (?, ?)" : "term >= ?"}
          order by term, chat_id limit ?`;
        const values = [TERM_KINDS.indexOf(kind), prefix + LAST, ...(last ? [last.text, last.id] : [prefix]), count];
        const rows = this.#sql.exec<{ text: string; id: string; channelId: string }>(query, ...values).toArray();
        for (const { channelId, ...found } of rows) {
          last = { kind, ...found };
          yield { place: last, channelId };
        }
        if (rows.length < count) break;
      }
    }
  }
}
