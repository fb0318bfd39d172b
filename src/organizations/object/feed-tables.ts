const DAY_MS = 86_400_000;

/** How many pointers a feed keeps. */
export interface FeedLimits {
  /** The maximum number of pointers in a table: the more it has, the longer it takes to drop it. */
  inTable: number;
  /** Beyond this number, pointers that are older than a day are deleted. */
  usual: number;
  /** Beyond this number, the oldest pointers are deleted. */
  most: number;
}

/** 8,000,000 pointers take about 1 GB, of the 10 GB that an object holds. */
export const FEED_LIMITS: FeedLimits = { inTable: 100_000, usual: 8_000_000, most: 32_000_000 };
export const KEPT_MS = 30 * DAY_MS;

/** A table of pointers, `feed_<number>`: its first position, and when it began, Unix milliseconds. */
export interface FeedTable {
  number: number;
  first: number;
  since: number;
}

/**
 * When the oldest of a feed's tables may go: once all its pointers are 30 days old, earlier if there are many. Null if
 * there is only one, which stays so that no position is used again.
 */
export function mayGoAt([oldest, next]: readonly FeedTable[], newest: number, limits: FeedLimits): number | null {
  if (!oldest || !next) return null;
  const count = newest - oldest.first + 1;
  if (count > limits.most) return next.since;
  return next.since + (count > limits.usual ? DAY_MS : KEPT_MS);
}

/**
 * The tables of a feed, oldest first. Each day begins a new one, and so does a number of pointers. What is old goes with
 * its table, because dropping one costs no written rows.
 */
export class FeedTables {
  readonly #sql: SqlStorage;
  readonly #limits: FeedLimits;
  #all: FeedTable[] | undefined;

  constructor(sql: SqlStorage, limits: FeedLimits) {
    this.#sql = sql;
    this.#limits = limits;
  }

  all(): readonly FeedTable[] {
    return this.#tables;
  }

  /** The table that takes the pointer of this position. `isNew` if it was created. */
  at(position: number, now: number): { table: FeedTable; isNew: boolean } {
    const newest = this.#tables.at(-1);
    // The clock may go back: then the newest table takes it.
    const isFull = newest && (position - newest.first >= this.#limits.inTable || dayOf(now) > dayOf(newest.since));
    if (newest && !isFull) return { table: newest, isNew: false };
    const number = Math.max(dayOf(now), (newest?.number ?? 0) + 1);
    const table = { number, first: position, since: Math.max(now, newest?.since ?? 0) };
    this.#sql.exec(
      `create table feed_${number} (
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
    this.#sql.exec("insert into feed_days (day, first, since) values (?, ?, ?)", number, position, table.since);
    this.#tables.push(table);
    return { table, isNew: true };
  }

  /** When to call `drop`; null if there is nothing to wait for. @param newest the newest position */
  dueAt(newest: number): number | null {
    return mayGoAt(this.#tables, newest, this.#limits);
  }

  /** Drops the oldest table if it may go. */
  drop(newest: number, now: number): void {
    const [oldest] = this.#tables;
    const at = this.dueAt(newest);
    if (!oldest || at === null || at > now) return;
    const { number } = oldest;
    this.#sql.exec(`drop table feed_${number}`);
    this.#sql.exec("delete from feed_days where day = ?", number);
    this.#tables.shift();
  }

  /** A write failed, or the storage was deleted. */
  forget(): void {
    this.#all = undefined;
  }

  get #tables(): FeedTable[] {
    const query = "select day as number, first, since from feed_days order by day";
    this.#all ??= this.#sql.exec<{ number: number; first: number; since: number }>(query).toArray();
    return this.#all;
  }
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}
