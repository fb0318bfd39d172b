import { type EventFact, type EventType, ownChannelId } from "../../model/event.ts";
import { randomBase62 } from "../../model/id.ts";
import type { EventBurst, FeedAnswer, FeedPointer } from "../../model/organization.ts";
import { isRecent } from "../../platform/clock.ts";
import { causeOf } from "../../platform/log.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import { FEED_LIMITS, FeedTables, KEPT_MS } from "./feed-tables.ts";
import { factOf, type OwnRow } from "./own-events.ts";

/** The life of a feed in event ids and cursors has this length; see `eventId`. */
const LIFE_LENGTH = 8;
/** How many of the organization's newest events are looked through for a repeated one. */
const RECENT_EVENTS = 100;
const DELETED_OWN_AT_ONCE = 1_000;
/** The wait after a deletion that failed. */
const PURGE_AGAIN_AFTER_MS = 3_600_000;

type PointerRow = Omit<FeedPointer, "types"> & { types: string };

/** Whose events a pointer is for. The organization's own have no chat, and some have a channel. */
type PointedOwner = Pick<FeedPointer, "chatId" | "life" | "channelId">;

/** What a feed tells the organization's object. */
interface FeedListener {
  /** Called in the transaction that stores a pointer, with the number of its last event. */
  onPointer(chatId: string | null, last: number): void;
  /** Something can be deleted at this time. */
  standBy(at: number): void;
}

/**
 * An organization's feed: which events there are, in the order in which they were reported. It has pointers to the chats,
 * which have the events, and it has the events of the organization itself. Pointers stay 30 days. Beyond 8,000,000,
 * only those of the last day are sure to stay, up to 32,000,000.
 */
export class Feed implements DuePart {
  readonly #storage: DurableObjectStorage;
  readonly #listener: FeedListener;
  readonly #tables: FeedTables;
  #purgeFailedAt = Number.NEGATIVE_INFINITY;
  #newest: number | undefined;
  #newestOwn: number | undefined;

  constructor(storage: DurableObjectStorage, listener: FeedListener, limits = FEED_LIMITS) {
    this.#storage = storage;
    this.#listener = listener;
    this.#tables = new FeedTables(storage.sql, limits);
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
      const last = this.#tables.all().at(-1);
      this.#newest = last ? (this.#maxOf(last.number) ?? last.first - 1) : 0;
    }
    return this.#newest;
  }

  /** Writes rows together with their entries in the feed, or nothing. */
  commit(write: () => void): void {
    try {
      this.#storage.transactionSync(write);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Points to events of a chat, or of the organization. Call it in `commit`, with the rows of the change. */
  point({ chatId, life, channelId }: PointedOwner, { first, last, types }: EventBurst, now: number): void {
    const position = this.newest + 1;
    const { table, isNew } = this.#tables.at(position, now);
    const values = [position, chatId, life, channelId, first, last, types.join(), Math.max(now, table.since)];
    this.#sql.exec(
      `insert into feed_${table.number} (position, chat_id, life, channel_id, first, last, types, at) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...values,
    );
    this.#newest = position;
    this.#listener.onPointer(chatId, last);
    const purgeAt = isNew ? this.dueAt(now) : null;
    // After the transaction, which may still fail.
    if (purgeAt !== null) queueMicrotask(() => this.#listener.standBy(purgeAt));
  }

  /**
   * Adds an event of the organization. Call it in `commit`, with the rows of the change.
   * @param source repeated calls with the same source store one event
   */
  append(type: EventType, note: Record<string, unknown>, source: string | null, now: number): void {
    const n = this.newestOwn + 1;
    const isRepeat =
      source !== null &&
      this.#sql.exec("select 1 from own_events where n > ? and source = ?", n - RECENT_EVENTS, source).toArray()
        .length > 0;
    if (isRepeat) return;
    const values = [n, type, JSON.stringify(note), source, now];
    this.#sql.exec("insert into own_events (n, type, note, source, at) values (?, ?, ?, ?, ?)", ...values);
    this.#newestOwn = n;
    const owner = { chatId: null, life: null, channelId: ownChannelId(note) };
    this.point(owner, { first: n, last: n, types: [type] }, now);
  }

  /** Up to `limit` pointers after a position, in order. */
  read(after: number, limit: number): FeedAnswer {
    const tables = this.#tables.all();
    const oldest = tables[0]?.first ?? this.newest + 1;
    const pointers: FeedPointer[] = [];
    for (const [index, { number }] of tables.entries()) {
      const next = tables[index + 1];
      if (pointers.length === limit || (next && next.first <= after + 1)) continue;
      pointers.push(...this.#pointers(number, "position > ?", [after], limit - pointers.length));
    }
    return { life: this.life, oldest, newest: this.newest, pointers };
  }

  /** Up to `limit` pointers after a position that were reported from `since` to `until`, Unix milliseconds. */
  between(since: number, until: number, after: number, limit: number): FeedPointer[] {
    const pointers: FeedPointer[] = [];
    const tables = this.#tables.all();
    for (const [index, table] of tables.entries()) {
      const next = tables[index + 1];
      if (table.since > until || pointers.length === limit) break;
      if (next && (next.since < since || next.first <= after + 1)) continue;
      const where = "position > ? and at between ? and ?";
      pointers.push(...this.#pointers(table.number, where, [after, since, until], limit - pointers.length));
    }
    return pointers;
  }

  /** The organization's own events of a range, including both ends, in order. */
  ownEvents(first: number, last: number): EventFact[] {
    const query = "select n, type, note, at from own_events where n between ? and ? order by n";
    return this.#sql.exec<OwnRow>(query, first, last).toArray().map(factOf);
  }

  /** The number of the organization's newest own event; 0 if there never was one. */
  get newestOwn(): number {
    this.#newestOwn ??= this.#sql.exec<{ n: number }>("select coalesce(max(n), 0) as n from own_events").one().n;
    return this.#newestOwn;
  }

  /** A write failed, or the storage was deleted. */
  forget(): void {
    this.#tables.forget();
    this.#newest = undefined;
    this.#newestOwn = undefined;
  }

  /** When the alarm must call `run`; null if nothing is due. */
  dueAt(now: number): number | null {
    const times = [this.#tables.dueAt(this.newest), this.#hasOldOwn(now) ? now : null].filter((at) => at !== null);
    if (times.length === 0) return null;
    const at = Math.min(...times);
    return isRecent(this.#purgeFailedAt, PURGE_AGAIN_AFTER_MS, now)
      ? Math.max(at, this.#purgeFailedAt + PURGE_AGAIN_AFTER_MS)
      : at;
  }

  /** Deletes what is too old, a table and 1,000 of the organization's own events at most. Never throws. */
  run(now: number): void {
    try {
      this.commit(() => this.#tables.drop(this.newest, now));
      if (this.#hasOldOwn(now)) this.#deleteOldOwn(now);
    } catch (error) {
      this.#purgeFailedAt = now;
      console.error({ event: "feed_not_purged", error: causeOf(error) });
    }
  }

  #pointers(table: number, where: string, values: number[], limit: number): FeedPointer[] {
    const query = `select position, chat_id as chatId, life, channel_id as channelId, first, last, types, at
      from feed_${table} where ${where} order by position limit ?`;
    const rows = this.#sql.exec<PointerRow>(query, ...values, limit).toArray();
    return rows.map(({ types, ...pointer }) => ({ ...pointer, types: types.split(",") as EventType[] }));
  }

  #hasOldOwn(now: number): boolean {
    const query = "select n, at from own_events order by n limit 1";
    const [oldest] = this.#sql.exec<{ n: number; at: number }>(query).toArray();
    return oldest !== undefined && oldest.at <= now - KEPT_MS && oldest.n < this.newestOwn;
  }

  #deleteOldOwn(now: number): void {
    // The newest stays, so that no number is used again. One bound, because SQLite would read up to the first of two.
    this.#sql.exec(
      `delete from own_events where at <= ?
         and n < min((select max(n) from own_events), (select min(n) from own_events) + ?)`,
      ...[now - KEPT_MS, DELETED_OWN_AT_ONCE],
    );
  }

  #maxOf(table: number): number | null {
    return this.#sql.exec<{ position: number | null }>(`select max(position) as position from feed_${table}`).one()
      .position;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }
}
