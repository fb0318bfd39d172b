import { EVENT_TYPES, type EventFact, type EventType } from "../../model/event.ts";
import { matches } from "../../model/event-filter.ts";
import type { EventRange, WebhookFilter } from "../../model/webhook.ts";

/** A row of `own_events`. */
export type OwnRow = { n: number; type: EventType; note: string; at: number };

/** What a filter lets through, as `matches` has it: an event without a channel passes a filter of channels. */
const MATCHING = `own_events where n between ?1 and ?2 and type in (select value from json_each(?3))
  and (?4 is null or note ->> '$.channelId' is null or note ->> '$.channelId' in (select value from json_each(?4)))`;

/** The organization's own events that a filter lets through, in a range of numbers that includes both ends. */
export class OwnEvents {
  readonly #sql: SqlStorage;
  readonly #types: EventType[];

  /** @param isOne whether events of a type are among these */
  constructor(sql: SqlStorage, isOne: (type: EventType) => boolean) {
    this.#sql = sql;
    this.#types = EVENT_TYPES.filter(isOne);
  }

  /** The first events of a range, in order. */
  matching(range: EventRange, filter: WebhookFilter, limit: number): EventFact[] {
    const query = `select n, type, note, at from ${MATCHING} order by n limit ?5`;
    const rows = this.#sql.exec<OwnRow>(query, ...this.#given(range, filter), limit).toArray();
    return rows.map(factOf);
  }

  count(range: EventRange, filter: WebhookFilter): number {
    const query = `select count(*) as count from ${MATCHING}`;
    return this.#sql.exec<{ count: number }>(query, ...this.#given(range, filter)).one().count;
  }

  #given([first, last]: EventRange, { types, channels }: WebhookFilter): SqlStorageValue[] {
    const matching = this.#types.filter((type) => matches({ types, channels: null }, type, null));
    return [first, last, JSON.stringify(matching), channels && JSON.stringify(channels)];
  }
}

export function factOf({ n, type, note, at }: OwnRow): EventFact {
  return { number: n, type, seq: null, note: JSON.parse(note) as EventFact["note"], at };
}
