import type { EventRange } from "../../model/webhook.ts";
import { type Backoff, backoffMs } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";

/** A subscription that did not take its events, with the first of them. */
export interface UnreachedSubscription {
  subscriptionId: string;
  ranges: EventRange[];
  /** How often it did not take them. */
  tries: number;
}

const RETRY: Backoff = { firstMs: 15_000, maxMs: 600_000 };

/**
 * The subscriptions that did not answer a replay, with what they must still send again and when they are asked next.
 */
export class UnreachedSubscriptions {
  readonly #sql: Pick<SqlStorage, "exec">;
  readonly #clock: Pick<Clock, "now" | "random">;

  static readonly schema = `create table unreached (
      line text primary key,
      tries integer not null,
      next_at integer not null
    ) without rowid;
    -- Finds the subscriptions that are asked next.
    create index unreached_by_time on unreached (next_at);
    create table unreached_ranges (
      line text,
      first integer,
      last integer not null,
      primary key (line, first)
    ) without rowid;`;

  constructor(sql: Pick<SqlStorage, "exec">, clock: Pick<Clock, "now" | "random">) {
    this.#sql = sql;
    this.#clock = clock;
  }

  has(subscriptionId: string): boolean {
    return this.#sql.exec("select 1 from unreached where line = ?", subscriptionId).toArray().length > 0;
  }

  count(): number {
    return this.#sql.exec<{ count: number }>("select count(*) as count from unreached").one().count;
  }

  /** Adds ranges of a subscription. A subscription that is known keeps its time. */
  add(subscriptionId: string, ranges: EventRange[]): void {
    this.#sql.exec(
      "insert into unreached (line, tries, next_at) values (?, 1, ?) on conflict (line) do nothing",
      ...[subscriptionId, this.#retryAt(1)],
    );
    this.#sql.exec(
      `insert into unreached_ranges (line, first, last) select ?, value ->> 0, value ->> 1 from json_each(?) where true
       on conflict (line, first) do update set last = max(last, excluded.last)`,
      ...[subscriptionId, JSON.stringify(ranges)],
    );
  }

  /** Subscriptions that are due, each with up to `limit` of its ranges. */
  due(subscriptions: number, limit: number): UnreachedSubscription[] {
    const query = "select line, tries from unreached where next_at <= ? order by next_at limit ?";
    const due = this.#sql.exec<{ line: string; tries: number }>(query, this.#clock.now(), subscriptions).toArray();
    return due.map(({ line, tries }) => ({ subscriptionId: line, tries, ranges: this.#ranges(line, limit) }));
  }

  /** The earliest time at which a subscription is due; null if there is none. */
  nextAt(): number | null {
    return this.#sql.exec<{ at: number | null }>("select min(next_at) as at from unreached").one().at;
  }

  /** A subscription did not take its events again. */
  failed({ subscriptionId, tries }: UnreachedSubscription): void {
    const again = tries + 1;
    this.#sql.exec(
      "update unreached set tries = ?, next_at = ? where line = ?",
      again,
      this.#retryAt(again),
      subscriptionId,
    );
  }

  /** A subscription took its events. What it has left is due at once. */
  took({ subscriptionId, ranges }: UnreachedSubscription): void {
    const last = ranges.at(-1)?.[0] ?? 0;
    this.#sql.exec("delete from unreached_ranges where line = ? and first <= ?", subscriptionId, last);
    if (this.#ranges(subscriptionId, 1).length === 0)
      this.#sql.exec("delete from unreached where line = ?", subscriptionId);
    else
      this.#sql.exec("update unreached set tries = 0, next_at = ? where line = ?", this.#clock.now(), subscriptionId);
  }

  clear(): void {
    this.#sql.exec("delete from unreached");
    this.#sql.exec("delete from unreached_ranges");
  }

  #ranges(subscriptionId: string, limit: number): EventRange[] {
    const query = "select first, last from unreached_ranges where line = ? order by first limit ?";
    const rows = this.#sql.exec<{ first: number; last: number }>(query, subscriptionId, limit).toArray();
    return rows.map(({ first, last }) => [first, last]);
  }

  #retryAt(tries: number): number {
    return this.#clock.now() + backoffMs(RETRY, tries - 1, this.#clock.random());
  }
}
