import type { EventRange } from "../../model/webhook.ts";

/** Given-up events of a subscription, in ascending order. */
export interface FailedRange {
  lineId: string;
  range: EventRange;
}

type RangeRow = { line: string; first: number; last: number };

const INSERT = "insert into failed (line, first, last, at) values (?, ?, ?, ?)";
const UPSERT = `${INSERT} on conflict (line, first) do update set last = excluded.last, at = excluded.at`;

/** The events that the subscriptions of a webhook gave up, as ranges of numbers. */
export class FailedEvents {
  readonly #sql: Pick<SqlStorage, "exec">;

  static readonly schema = `
    create table failed (
      line text,
      first integer,
      last integer not null,
      at integer not null,
      primary key (line, first)
    ) without rowid;
    -- A row with how many events all ranges have, so that count() does not read them. The database keeps it right.
    create table failed_count (count integer not null);
    insert into failed_count (count) values (0);
    create trigger failed_added after insert on failed begin
      update failed_count set count = count + new.last - new.first + 1;
    end;
    create trigger failed_changed after update on failed begin
      update failed_count set count = count + new.last - new.first - old.last + old.first;
    end;
    create trigger failed_removed after delete on failed begin
      update failed_count set count = count - (old.last - old.first + 1);
    end;`;

  constructor(sql: Pick<SqlStorage, "exec">) {
    this.#sql = sql;
  }

  /**
   * Adds events. Those that follow the subscription's last range extend it. Those that are in a range get a new time.
   */
  add(subscriptionId: string, [first, last]: EventRange, now: number): void {
    const before = this.#before(subscriptionId, last);
    if (before && before.first <= first && before.last >= last) {
      this.#renew(before, [first, last], now);
      return;
    }
    const joined = before && before.last >= first - 1 ? before : null;
    // The chat was deleted and created again, so its numbers began again.
    if (before && before.first >= first) {
      this.#sql.exec("delete from failed where line = ? and first between ? and ?", subscriptionId, first, last);
    }
    this.#sql.exec(
      UPSERT,
      ...[subscriptionId, Math.min(first, joined?.first ?? first), Math.max(last, joined?.last ?? last), now],
    );
  }

  /** An event was accepted after all. */
  remove(subscriptionId: string, number: number): void {
    const row = this.#before(subscriptionId, number);
    if (!row || row.last < number) return;
    if (row.first === number)
      this.#sql.exec("delete from failed where line = ? and first = ?", subscriptionId, row.first);
    else
      this.#sql.exec("update failed set last = ? where line = ? and first = ?", number - 1, subscriptionId, row.first);
    if (row.last > number) {
      this.#sql.exec(INSERT, subscriptionId, number + 1, row.last, row.at);
    }
  }

  /** Removes what a subscription gave up until a time, Unix milliseconds. */
  removeSubscription(subscriptionId: string, until: number): void {
    this.#sql.exec("delete from failed where line = ? and at <= ?", subscriptionId, until);
  }

  /** The ranges after a position, in order of subscription and number. @param after null to begin */
  ranges(after: FailedRange | null, limit: number): FailedRange[] {
    const query = "select line, first, last from failed where (line, first) > (?, ?) order by line, first limit ?";
    // Behind its end: what is left of a range that was split meanwhile is handed out already.
    const rows = this.#sql.exec<RangeRow>(query, after?.lineId ?? "", after?.range[1] ?? 0, limit).toArray();
    return rows.map(({ line, first, last }) => ({ lineId: line, range: [first, last] }));
  }

  /** How many events were given up. A range that a subscription gave up at once counts also what its filter skips. */
  count(): number {
    return this.#sql.exec<{ count: number }>("select count from failed_count").one().count;
  }

  /**
   * Events of a range were given up again: the report is a repeat, or the chat was deleted and created again. Then the
   * range is of the chat before, and `removeSubscription` must leave these events.
   */
  #renew(row: RangeRow & { at: number }, [first, last]: EventRange, now: number): void {
    const before = row.first === first ? this.#before(row.line, first - 1) : undefined;
    const joined = before?.last === first - 1 ? before : null;
    this.#sql.exec("delete from failed where line = ? and first = ?", row.line, row.first);
    if (row.first < first) this.#sql.exec(INSERT, row.line, row.first, first - 1, row.at);
    this.#sql.exec(UPSERT, row.line, joined?.first ?? first, last, now);
    if (row.last > last) this.#sql.exec(INSERT, row.line, last + 1, row.last, row.at);
  }

  /** The range that begins last, at or before a number. */
  #before(subscriptionId: string, number: number): (RangeRow & { at: number }) | undefined {
    const query = "select * from failed where line = ? and first <= ? order by first desc limit 1";
    return this.#sql.exec<RangeRow & { at: number }>(query, subscriptionId, number).toArray()[0];
  }
}
