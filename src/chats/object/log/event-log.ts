import type { EventFact, EventType } from "../../../model/event.ts";
import type { Message, Reaction } from "../../../model/message.ts";
import type { EventRange } from "../../../model/webhook.ts";

const RECENT_EVENTS = 1_000;

export type NewEvent = Pick<EventFact, "type" | "seq" | "note" | "at">;

type EventRow = { n: number; type: EventType; seq: number | null; note: string | null; at: number };

/**
 * What happened in a chat, in order, numbered from 1 without a gap. Each event is stored in the commit that it reports.
 * It has no text, so that a redaction has nothing to remove here.
 */
export class EventLog {
  readonly #sql: SqlStorage;
  readonly #onEvent: () => void;
  #newest: number | undefined;

  /** @param onEvent called after an event was stored */
  constructor(sql: SqlStorage, onEvent: () => void) {
    this.#sql = sql;
    this.#onEvent = onEvent;
  }

  /** The number of the newest event; 0 if there is none. */
  get newest(): number {
    this.#newest ??= this.#sql.exec<{ n: number }>("select coalesce(max(n), 0) as n from events").one().n;
    return this.#newest;
  }

  append({ type, seq, note, at }: NewEvent): void {
    const n = this.newest + 1;
    this.#sql.exec(
      "insert into events (n, type, seq, note, at) values (?, ?, ?, ?, ?)",
      ...[n, type, seq, note && JSON.stringify(note), at],
    );
    this.#newest = n;
    this.#onEvent();
  }

  /** The events of a range, including both ends, in order. */
  range(first: number, last: number): EventFact[] {
    const query = "select n, type, seq, note, at from events where n between ? and ? order by n";
    return this.#sql.exec<EventRow>(query, first, last).toArray().map(factOf);
  }

  /** The first events of these types in a range, including both ends, in order. */
  matching([first, last]: EventRange, types: EventType[], limit: number): EventFact[] {
    const query = `select n, type, seq, note, at from events where n between ? and ?
      and type in (select value from json_each(?)) order by n limit ?`;
    const rows = this.#sql.exec<EventRow>(query, first, last, JSON.stringify(types), limit).toArray();
    return rows.map(factOf);
  }

  /** How many events of these types are in a range, including both ends. */
  count([first, last]: EventRange, types: EventType[]): number {
    const query =
      "select count(*) as count from events where n between ? and ? and type in (select value from json_each(?))";
    return this.#sql.exec<{ count: number }>(query, first, last, JSON.stringify(types)).one().count;
  }

  /** The types of the events of a range, including both ends. */
  types(first: number, last: number): EventType[] {
    const query = "select distinct type from events where n between ? and ?";
    const rows = this.#sql.exec<{ type: EventType }>(query, first, last).toArray();
    return rows.map(({ type }) => type);
  }

  /** When a side last reacted to a message, as its app says; null if the newest 1,000 events don't show it. */
  lastReactionAt(seq: number, by: Reaction["by"]): number | null {
    const query = `select note ->> '$.at' as at from events where n > ? and type = 'message.reaction' and seq = ?
      and note ->> '$.by' = ? order by n desc limit 1`;
    const [row] = this.#sql.exec<{ at: number }>(query, this.newest - RECENT_EVENTS, seq, by).toArray();
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
