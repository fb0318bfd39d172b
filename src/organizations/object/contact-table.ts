import { type Contact, TERM_KINDS, type Term, termsOf } from "../../model/contact-search.ts";
import { FOLDING_VERSION } from "../../model/folding.ts";
import type { DuePart } from "../../platform/object/due-work.ts";

/** The columns of a chat that are about its contact. `others`: further addresses as JSON. */
export type ContactColumns = {
  id: string;
  channel_id: string;
  address: string;
  others: string | null;
  name: string | null;
};

/** The maximum number of terms, or of chats, in one step of filling. */
const TERMS_AT_ONCE = 500;
const FILLED_AT_ONCE = 500;
/** Each step takes a few milliseconds. A call fills the terms of about 10,000 chats. */
const STEPS_A_CALL = 60;

/**
 * The terms under which the contacts of an organization are found. `ChatTable` keeps them with its rows. If another
 * version of the folding made them, the table is emptied and filled by searches and the alarm. Meanwhile a search
 * examines the chats themselves.
 */
export class ContactTable implements DuePart {
  readonly #storage: DurableObjectStorage;
  readonly #isReady: () => boolean;
  /** Known to be filled. */
  #isFilled = false;

  /** @param isReady false after the organization was deleted */
  constructor(storage: DurableObjectStorage, isReady: () => boolean) {
    this.#storage = storage;
    this.#isReady = isReady;
  }

  /** Adds the terms of a chat. Those that it has stay. */
  add(row: ContactColumns): void {
    if (this.#isCurrent()) this.#insert(row, termsOf(contactOf(row)));
  }

  /** The contact of a chat gets another name. @param row the chat before */
  rename(row: ContactColumns, name: string | null): void {
    if (name === row.name || !this.#isCurrent()) return;
    const before = termsOf(contactOf(row));
    const after = termsOf(contactOf({ ...row, name }));
    this.#delete(row, without(before, after));
    this.#insert(row, without(after, before));
  }

  remove(row: ContactColumns): void {
    if (this.#isCurrent()) this.#delete(row, termsOf(contactOf(row)));
  }

  forget(): void {
    this.#isFilled = false;
  }

  /** When the alarm must call `run`; null if the table is filled. */
  dueAt(now: number): number | null {
    return this.isFilled() ? null : now;
  }

  /** Whether all contacts can be found by their terms. */
  isFilled(): boolean {
    this.#isFilled ||= this.#isCurrent() && this.#sql.exec("select 1 from contact_fill limit 1").toArray().length === 0;
    return this.#isFilled;
  }

  /** Empties and fills the table if that is needed, as far as one call may. Other calls come in between. */
  async run(): Promise<void> {
    for (let steps = 0; steps < STEPS_A_CALL && this.#isReady() && !this.isFilled(); steps++) {
      this.#storage.transactionSync(() => (this.#isCurrent() ? this.#fillStep() : this.#emptyStep()));
      await scheduler.wait(0);
    }
  }

  #insert({ id, channel_id }: ContactColumns, terms: Term[]): void {
    const insert =
      "insert into contact_terms (kind, term, chat_id, channel_id) values (?, ?, ?, ?) on conflict do nothing";
    for (const { kind, text } of terms) this.#sql.exec(insert, TERM_KINDS.indexOf(kind), text, id, channel_id);
  }

  #delete({ id }: ContactColumns, terms: Term[]): void {
    const remove = "delete from contact_terms where kind = ? and term = ? and chat_id = ?";
    for (const { kind, text } of terms) this.#sql.exec(remove, TERM_KINDS.indexOf(kind), text, id);
  }

  /** Whether the terms are those of this folding. Others are deleted first, and none are added until then. */
  #isCurrent(): boolean {
    if (this.#isFilled) return true;
    const [row] = this.#sql.exec<{ version: number }>("select version from contact_folding").toArray();
    return row?.version === FOLDING_VERSION;
  }

  #emptyStep(): void {
    const query = "select kind, term, chat_id from contact_terms order by kind, term, chat_id limit 1 offset ?";
    const [end] = this.#sql.exec<{ kind: number; term: string; chat_id: string }>(query, TERMS_AT_ONCE).toArray();
    if (end) {
      const { kind, term, chat_id } = end;
      this.#sql.exec("delete from contact_terms where (kind, term, chat_id) < (?, ?, ?)", kind, term, chat_id);
      return;
    }
    this.#sql.exec("delete from contact_terms");
    this.#sql.exec("delete from contact_fill");
    this.#sql.exec("insert into contact_fill (after) values ('')");
    this.#sql.exec("update contact_folding set version = ?", FOLDING_VERSION);
  }

  #fillStep(): void {
    const [fill] = this.#sql.exec<{ after: string }>("select after from contact_fill").toArray();
    if (!fill) return;
    const query = "select id, channel_id, address, others, name, state from chats where id > ? order by id limit ?";
    const rows = this.#sql.exec<ContactColumns & { state: string }>(query, fill.after, FILLED_AT_ONCE).toArray();
    let terms = 0;
    let last = "";
    for (const row of rows) {
      if (terms >= TERMS_AT_ONCE) break;
      last = row.id;
      if (row.state === "deleting") continue;
      const own = termsOf(contactOf(row));
      this.#insert(row, own);
      terms += own.length;
    }
    if (last === (rows.at(-1)?.id ?? "") && rows.length < FILLED_AT_ONCE) this.#sql.exec("delete from contact_fill");
    else this.#sql.exec("update contact_fill set after = ?", last);
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }
}

export function contactOf({ address, others, name }: ContactColumns): Contact {
  return { name, addresses: [address, ...(others === null ? [] : (JSON.parse(others) as string[]))] };
}

function without(terms: Term[], others: Term[]): Term[] {
  return terms.filter(({ kind, text }) => !others.some((other) => other.kind === kind && other.text === text));
}
