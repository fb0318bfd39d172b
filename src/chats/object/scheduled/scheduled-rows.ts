import type { Due, Media, UsedTemplate } from "../../../model/chat-answers.ts";
import type { MessageWithoutSeq } from "../../../model/message.ts";
import type { ChatTables, LateTable } from "../log/chat-tables.ts";

/** A message without a place in the chat, and the columns that go with it. */
export interface RowWithoutSeq {
  message: MessageWithoutSeq;
  dedupe: string | null;
  fingerprint: string | null;
  template: UsedTemplate | null;
  media: Media | null;
  /** See `NewMessage`. */
  isNamed?: boolean | undefined;
  isBot?: boolean | undefined;
  /** See `Draft`. */
  ifOpen?: boolean | undefined;
}

/** What an instance keeps in memory of a scheduled message. */
export interface ScheduledEntry extends Due {
  id: string;
  dedupe: string | null;
  /** The number of the event with which it last got another time; 0 if it has its first one. */
  timedBy: number;
}

type Columns = {
  doc: string;
  dedupe: string | null;
  fingerprint: string | null;
  template: string | null;
  media: string | null;
  named?: number | null;
  ifOpen?: number | null;
  byBot?: number | null;
};

/**
 * The messages that wait for their time. An instance reads their times once, because each send asks for them. A change
 * that fails leaves memory and storage different: call `forget` then.
 */
export class ScheduledRows {
  readonly #scheduled: LateTable;
  #copy: Map<string, ScheduledEntry> | undefined;

  constructor(tables: ChatTables) {
    this.#scheduled = tables.scheduled;
  }

  /** All scheduled messages, in no order. */
  entries(): ScheduledEntry[] {
    return [...this.#entries().values()];
  }

  get count(): number {
    return this.#entries().size;
  }

  has(id: string): boolean {
    return this.#entries().has(id);
  }

  /** A scheduled message; null if there is none with this id. */
  byId(id: string): RowWithoutSeq | null {
    const entry = this.#entries().get(id);
    return entry ? this.read(entry) : null;
  }

  read({ id }: ScheduledEntry): RowWithoutSeq {
    const query =
      "select doc, dedupe, fingerprint, template, media, named, if_open as ifOpen, by_bot as byBot from scheduled where id = ?";
    const [row] = this.#scheduled.run<Columns>(query, id);
    if (!row) throw new Error("A scheduled message is missing: SQLITE_CORRUPT");
    return rowWithoutSeq(row);
  }

  insert(row: RowWithoutSeq, { dueAt, turn }: Due): void {
    const { message, dedupe, fingerprint, template, media, isNamed, isBot, ifOpen } = row;
    const { id } = message;
    this.#scheduled.insert(
      `insert into scheduled (id, doc, due_at, turn, dedupe, fingerprint, template, media, named, if_open, by_bot)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, JSON.stringify(message), dueAt, turn, dedupe, fingerprint, template && JSON.stringify(template)],
      ...[media && JSON.stringify(media), isNamed ? 1 : null, ifOpen ? 1 : null, isBot ? 1 : null],
    );
    this.#entries().set(id, { id, dueAt, turn, dedupe, timedBy: 0 });
  }

  /** Writes a message's new times. Its turn stays. @param timedBy the number of the event, if it is due at another time */
  move(message: MessageWithoutSeq, dueAt: number, timedBy: number | null): void {
    const { id } = message;
    this.#scheduled.run(
      "update scheduled set doc = ?, due_at = ?, moved = coalesce(?, moved) where id = ?",
      ...[JSON.stringify(message), dueAt, timedBy, id],
    );
    const entry = this.#entries().get(id);
    if (entry) this.#entries().set(id, { ...entry, dueAt, timedBy: timedBy ?? entry.timedBy });
  }

  remove(id: string): void {
    this.#scheduled.run("delete from scheduled where id = ?", id);
    this.#entries().delete(id);
  }

  /** Those that the key of the channel's bot scheduled. */
  ofBot(): RowWithoutSeq[] {
    const query = "select id from scheduled where by_bot = 1 order by due_at, turn";
    return this.#scheduled.run<{ id: string }>(query).flatMap(({ id }) => this.byId(id) ?? []);
  }

  /** A change failed, or the storage was deleted. */
  forget(): void {
    this.#copy = undefined;
  }

  #entries(): Map<string, ScheduledEntry> {
    if (!this.#copy) {
      const query = "select id, due_at as dueAt, turn, dedupe, coalesce(moved, 0) as timedBy from scheduled";
      type Row = { id: string; dueAt: number; turn: number; dedupe: string | null; timedBy: number };
      const rows = this.#scheduled.run<Row>(query);
      this.#copy = new Map(rows.map((entry) => [entry.id, entry]));
    }
    return this.#copy;
  }
}

export function rowWithoutSeq(row: Columns): RowWithoutSeq {
  const { doc, dedupe, fingerprint, template, media, named, ifOpen, byBot } = row;
  return {
    message: JSON.parse(doc) as MessageWithoutSeq,
    dedupe,
    fingerprint,
    template: template === null ? null : (JSON.parse(template) as UsedTemplate),
    media: media === null ? null : (JSON.parse(media) as Media),
    isNamed: named === 1,
    ifOpen: ifOpen === 1,
    isBot: byBot === 1,
  };
}
