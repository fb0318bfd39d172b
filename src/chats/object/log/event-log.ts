import type { EventFact, EventType } from "../../../model/event.ts";
import type { Message, Reaction } from "../../../model/message.ts";
import type { EventRange } from "../../../model/webhook.ts";
import type { ChatTables } from "./chat-tables.ts";

const RECENT_EVENTS = 1_000;

export type NewEvent = Pick<EventFact, "type" | "seq" | "note" | "at">;

type EventRow = { n: number; type: EventType; seq: number | null; note: string | null; at: number };

/**
 * What happened in a chat, in order, numbered from 1 without a gap. Each event is stored in the commit that it reports.
 * It has no text, so that a redaction has nothing to remove here.
 */
export class EventLog {
  readonly #tables: Pick<ChatTables, "sql" | "events">;
  readonly #begunAt: () => number;
  readonly #onEvent: () => void;
  #newest: number | undefined;

  /**
   * @param begunAt when the chat was created, Unix milliseconds
   * @param onEvent called after an event was stored
   */
  constructor(tables: Pick<ChatTables, "sql" | "events">, begunAt: () => number, onEvent: () => void) {
    this.#tables = tables;
    this.#begunAt = begunAt;
    this.#onEvent = onEvent;
  }

  /** The number of the newest event. */
  get newest(): number {
    this.#newest ??= this.#tables.sql.exec<{ n: number }>(`select max(n) as n from ${this.#source}`).one().n;
    return this.#newest;
  }

  /** SQL of the rows. A chat in which nothing has happened has only been created, which its identity says. */
  get #source(): string {
    if (this.#tables.events.exists) return "events";
    return `(select 1 as n, 'chat.created' as type, null as seq, null as note, ${this.#begunAt()} as at)`;
  }

  /** Writes the first event. @param at when the chat was created, Unix milliseconds */
  begin(at: number): void {
    this.#insert(1, { type: "chat.created", seq: null, note: null, at });
  }

  append(event: NewEvent): void {
    const n = this.newest + 1;
    if (!this.#tables.events.exists) this.begin(this.#begunAt());
    this.#insert(n, event);
    this.#newest = n;
    this.#onEvent();
  }

  #insert(n: number, { type, seq, note, at }: NewEvent): void {
    this.#tables.events.insert(
      "insert into events (n, type, seq, note, at) values (?, ?, ?, ?, ?)",
      ...[n, type, seq, note && JSON.stringify(note), at],
    );
  }

  /** The events of a range, including both ends, in order. */
  range(first: number, last: number): EventFact[] {
    const query = `select n, type, seq, note, at from ${this.#source} where n between ? and ? order by n`;
    return this.#tables.sql.exec<EventRow>(query, first, last).toArray().map(factOf);
  }

  /** The first events of these types in a range, including both ends, in order. */
  matching([first, last]: EventRange, types: EventType[], limit: number): EventFact[] {
    const query = `select n, type, seq, note, at from ${this.#source} where n between ? and ?
      and type in (select value from json_each(?)) order by n limit ?`;
    const rows = this.#tables.sql.exec<EventRow>(query, first, last, JSON.stringify(types), limit).toArray();
    return rows.map(factOf);
  }

  /** How many events of these types are in a range, including both ends. */
  count([first, last]: EventRange, types: EventType[]): number {
    const query = `select count(*) as count from ${this.#source}
      where n between ? and ? and type in (select value from json_each(?))`;
    return this.#tables.sql.exec<{ count: number }>(query, first, last, JSON.stringify(types)).one().count;
  }

  /** The types of the events of a range, including both ends. */
  types(first: number, last: number): EventType[] {
    const query = `select distinct type from ${this.#source} where n between ? and ?`;
    const rows = this.#tables.sql.exec<{ type: EventType }>(query, first, last).toArray();
    return rows.map(({ type }) => type);
  }

  /** When a side last reacted to a message, as its app says; null if the newest 1,000 events don't show it. */
  lastReactionAt(seq: number, by: Reaction["by"]): number | null {
    const query = `select note ->> '$.at' as at from events where n > ? and type = 'message.reaction' and seq = ?
      and note ->> '$.by' = ? order by n desc limit 1`;
    const [row] = this.#tables.events.run<{ at: number }>(query, this.newest - RECENT_EVENTS, seq, by);
    return row?.at ?? null;
  }

  /** A write failed, or the storage was deleted. */
  forget(): void {
    this.#newest = undefined;
  }
}

function factOf({ n, type, seq, note, at }: EventRow): EventFact {
  return { number: n, type, seq, note: note === null ? null : (JSON.parse(note) as EventFact["note"]), at };
}

/** A message's new status. */
export function statusEvent({ seq, status, error, updatedAt }: Message): NewEvent {
  const note = { status, ...(error && { code: error.code }) };
  return { type: "message.status", seq, note, at: Date.parse(updatedAt) };
}
