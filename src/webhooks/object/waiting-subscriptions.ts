import type { Clock } from "../../platform/clock.ts";

/** A subscription that waits to be woken. `number` grows each time that the subscription asks and gets no permit. */
export interface WaitingSubscription {
  subscriptionId: string;
  number: number;
}

/** How many subscriptions are read at a time: reading them in order reads all rows. More than can be unreachable. */
const BATCH = 10_000;

/** The subscriptions that wait until the webhook can be called again, in the order in which they began to wait. */
export class WaitingSubscriptions {
  readonly #sql: Pick<SqlStorage, "exec">;
  readonly #clock: Pick<Clock, "now">;
  #lastNumber = 0;
  /** The next subscriptions in order. Some may have stopped waiting. */
  #queue: string[] = [];
  /** Whether no subscription is stored, so that most calls read nothing. Unknown at first. */
  #isEmpty = false;

  static readonly schema =
    "create table waiting (line text primary key, place integer not null, number integer not null) without rowid";

  constructor(sql: Pick<SqlStorage, "exec">, clock: Pick<Clock, "now">) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /**
   * Adds a subscription, or raises its number. A subscription that waits already keeps its place.
   * @returns the number
   */
  add(subscriptionId: string): number {
    // From the clock, so that numbers grow even after the object was evicted. The next instance's clock may be behind.
    const least = Math.max(this.#lastNumber + 1, this.#clock.now());
    const insert = `insert into waiting (line, place, number) values (?, ?, ?)
      on conflict (line) do update set number = max(number + 1, excluded.number) returning number`;
    const { number } = this.#sql.exec<{ number: number }>(insert, subscriptionId, least, least).one();
    this.#lastNumber = number;
    this.#isEmpty = false;
    return number;
  }

  /** The number of a subscription; null if it does not wait. */
  numberOf(subscriptionId: string): number | null {
    return this.#isEmpty ? null : (this.#row(subscriptionId)?.number ?? null);
  }

  /** The subscription no longer waits. @param number only if this is still its number */
  remove(subscriptionId: string, number?: number): void {
    if (this.#isEmpty) return;
    if (number === undefined) this.#sql.exec("delete from waiting where line = ?", subscriptionId);
    else this.#sql.exec("delete from waiting where line = ? and number = ?", subscriptionId, number);
  }

  /** The next subscription that `isExcluded` does not exclude; null if there is none. */
  next(isExcluded: (subscriptionId: string) => boolean): WaitingSubscription | null {
    while (!this.#isEmpty) {
      for (
        let subscriptionId = this.#queue.shift();
        subscriptionId !== undefined;
        subscriptionId = this.#queue.shift()
      ) {
        const subscription = isExcluded(subscriptionId) ? null : this.#row(subscriptionId);
        if (subscription) return subscription;
      }
      const rows = this.#sql.exec<{ line: string }>("select line from waiting order by place limit ?", BATCH).toArray();
      this.#isEmpty = rows.length === 0;
      this.#queue = rows.map(({ line }) => line).filter((line) => !isExcluded(line));
      if (this.#queue.length === 0) return null;
    }
    return null;
  }

  /** Whether a subscription other than these waits. */
  hasOthers(subscriptionIds: readonly string[]): boolean {
    if (this.#isEmpty) return false;
    const other = "select 1 from waiting where line not in (select value from json_each(?)) limit 1";
    return this.#sql.exec(other, JSON.stringify(subscriptionIds)).toArray().length > 0;
  }

  hasAny(): boolean {
    if (!this.#isEmpty) this.#isEmpty = !this.hasOthers([]);
    return !this.#isEmpty;
  }

  count(): number {
    return this.#sql.exec<{ count: number }>("select count(*) as count from waiting").one().count;
  }

  #row(subscriptionId: string): WaitingSubscription | null {
    const query = "select number from waiting where line = ?";
    const [row] = this.#sql.exec<{ number: number }>(query, subscriptionId).toArray();
    return row ? { subscriptionId, number: row.number } : null;
  }
}
