import { type EventFact, type EventType, ownChannelId } from "../events/event.ts";
import { randomBase62 } from "../ids.ts";
import type { EventBurst, FeedAnswer, FeedPointer } from "./rpc.ts";

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;
/** About 1 GB of pointers. */
const MAX_POINTERS = 8_000_000;
/** The life of a feed in event ids and cursors has this length; see `eventId`. */
const LIFE_LENGTH = 8;
/** How many of the organization's newest events are looked through for a repeated one. */
const RECENT_EVENTS = 100;

type PointerRow = {
  position: number;
  chat_id: string | null;
  life: number | null;
  channel_id: string | null;
  first: number;
  last: number;
  types: string;
  at: number;
};
type OwnRow = { n: number; type: EventType; note: string; at: number };
type Day = { day: number; first: number };

/** Whose events a pointer is for. The organization's own have no chat, and some have a channel. */
type PointedOwner = Pick<FeedPointer, "chatId" | "life" | "channelId">;

/**
 * An organization's feed: which events there are, in the order in which they were reported. It has pointers to the chats,
 * which have the events, and the events of the organization itself. Each day has a table of its own, because dropping a
 * table costs no rows.
 */
export class Feed {
  readonly #storage: DurableObjectStorage;
  readonly #onPointer: (chatId: string | null, last: number) => void;
  #days: Day[] | undefined;
  #newest: number | undefined;
  #newestOwn: number | undefined;

  /** @param onPointer called in the transaction that stores a pointer, with the number of its last event */
  constructor(storage: DurableObjectStorage, onPointer: (chatId: string | null, last: number) => void) {
    this.#storage = storage;
    this.#onPointer = onPointer;
  }

  /** New for each feed: an organization that was deleted and created again has another one. */
  get life(): string {
    let life = this.#storage.kv.get<string>("feed");
    if (!life) this.#storage.kv.put("feed", (life = randomBase62(LIFE_LENGTH)));
    return life;
  }

  /** The position of the newest pointer; 0 if there never was one. */
  get newest(): number {
    if (this.#newest === undefined) {
      const last = this.#allDays().at(-1);
      this.#newest = last ? (this.#maxOf(last.day) ?? last.first - 1) : 0;
    }
    return this.#newest;
  }

  /** Writes rows and what the feed tells of them, or nothing. */
  commit(write: () => void): void {
    try {
      this.#storage.transactionSync(write);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Points to events of a chat, or of the organization. Call it in `commit`, with what it tells. */
  point({ chatId, life, channelId }: PointedOwner, { first, last, types }: EventBurst, now: number): void {
    const position = this.newest + 1;
    const day = this.#dayFor(now, position);
    this.#sql.exec(
      `insert into feed_${day} (position, chat_id, life, channel_id, first, last, types, at) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      position,
      chatId,
      life,
      channelId,
      first,
      last,
      types.join(),
      now,
    );
    this.#newest = position;
    this.#onPointer(chatId, last);
  }

  /**
   * An event of the organization. Call it in `commit`, with what it tells.
   * @param source repeated calls with the same source store one event
   */
  append(type: EventType, note: Record<string, unknown>, source: string | null, now: number): void {
    const n = this.newestOwn + 1;
    const isRepeat =
      source !== null &&
      this.#sql.exec("select 1 from own_events where n > ? and source = ?", n - RECENT_EVENTS, source).toArray()
        .length > 0;
    if (isRepeat) return;
    this.#sql.exec(
      "insert into own_events (n, type, note, source, at) values (?, ?, ?, ?, ?)",
      n,
      type,
      JSON.stringify(note),
      source,
      now,
    );
    this.#newestOwn = n;
    const owner = { chatId: null, life: null, channelId: ownChannelId(note) };
    this.point(owner, { first: n, last: n, types: [type] }, now);
  }

  /** Up to `limit` pointers after a position, in order. */
  read(after: number, limit: number): FeedAnswer {
    const days = this.#allDays();
    const oldest = days[0]?.first ?? this.newest + 1;
    const pointers: FeedPointer[] = [];
    for (const [index, { day }] of days.entries()) {
      const next = days[index + 1];
      if (pointers.length === limit || (next && next.first <= after + 1)) continue;
      const rows = this.#sql
        .exec<PointerRow>(
          `select position, chat_id, life, channel_id, first, last, types, at from feed_${day} where position > ?
         order by position limit ?`,
          after,
          limit - pointers.length,
        )
        .toArray();
      pointers.push(...rows.map(pointerOf));
    }
    return { life: this.life, oldest, newest: this.newest, pointers };
  }

  /** Up to `limit` pointers after a position that were reported from `since` to `until`, Unix milliseconds. */
  between(since: number, until: number, after: number, limit: number): FeedPointer[] {
    const pointers: FeedPointer[] = [];
    for (const { day } of this.#allDays()) {
      if ((day + 1) * DAY_MS <= since || day * DAY_MS > until || pointers.length === limit) continue;
      const rows = this.#sql
        .exec<PointerRow>(
          `select position, chat_id, life, channel_id, first, last, types, at from feed_${day}
         where position > ? and at between ? and ? order by position limit ?`,
          after,
          since,
          until,
          limit - pointers.length,
        )
        .toArray();
      pointers.push(...rows.map(pointerOf));
    }
    return pointers;
  }

  /** The organization's own events of a range, including both ends, in order. */
  ownEvents(first: number, last: number): EventFact[] {
    const rows = this.#sql
      .exec<OwnRow>("select n, type, note, at from own_events where n between ? and ? order by n", first, last)
      .toArray();
    return rows.map(factOf);
  }

  /** The number of the organization's newest own event; 0 if there never was one. */
  get newestOwn(): number {
    this.#newestOwn ??= this.#sql.exec<{ n: number }>("select coalesce(max(n), 0) as n from own_events").one().n;
    return this.#newestOwn;
  }

  /** A write failed, or the storage was deleted. */
  forget(): void {
    this.#days = undefined;
    this.#newest = undefined;
    this.#newestOwn = undefined;
  }

  /** The day whose table takes the next pointer. The clock may go back: then the newest table takes it. */
  #dayFor(now: number, position: number): number {
    const days = this.#allDays();
    const newest = days.at(-1);
    const day = Math.floor(now / DAY_MS);
    if (newest && newest.day >= day) return newest.day;
    this.#sql.exec(
      `create table feed_${day} (
         position integer primary key,
         chat_id text,
         life integer,
         channel_id text,
         first integer not null,
         last integer not null,
         types text not null,
         at integer not null
       )`,
    );
    this.#sql.exec("insert into feed_days (day, first) values (?, ?)", day, position);
    days.push({ day, first: position });
    this.#dropOld(day, position);
    return day;
  }

  #dropOld(day: number, position: number): void {
    const days = this.#allDays();
    while (days.length > 1) {
      const [oldest, next] = days as [Day, Day];
      if (oldest.day > day - KEPT_DAYS && position - oldest.first <= MAX_POINTERS) break;
      this.#sql.exec(`drop table feed_${oldest.day}`);
      this.#sql.exec("delete from feed_days where day = ?", oldest.day);
      // The newest stays, so that no number is used again.
      this.#sql.exec("delete from own_events where at < ? and n < (select max(n) from own_events)", next.day * DAY_MS);
      days.shift();
    }
  }

  #allDays(): Day[] {
    this.#days ??= this.#sql.exec<Day>("select day, first from feed_days order by day").toArray();
    return this.#days;
  }

  #maxOf(day: number): number | null {
    return this.#sql.exec<{ position: number | null }>(`select max(position) as position from feed_${day}`).one()
      .position;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }
}

function factOf({ n, type, note, at }: OwnRow): EventFact {
  return { number: n, type, seq: null, note: JSON.parse(note) as EventFact["note"], at };
}

function pointerOf({ position, chat_id, life, channel_id, first, last, types, at }: PointerRow): FeedPointer {
  return {
    position,
    chatId: chat_id,
    life,
    channelId: channel_id,
    first,
    last,
    types: types.split(",") as EventType[],
    at,
  };
}
