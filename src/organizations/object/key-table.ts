import { addCounts, type Counts, subtractCounts } from "../../model/counts.ts";
import { addToHistory, BUCKETS, type History } from "../../model/history.ts";
import type { RequestCounts } from "../../model/key.ts";
import type { KeyNumbers } from "../../model/organization.ts";

/** The row with the counts of all keys that were removed: the sum of all keys never falls. */
const REMOVED = "";

/** The counts of an organization's keys. */
export class KeyTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores a key's counts, unless greater ones are stored: a count never falls. */
  report(id: string, counts: RequestCounts, now: number): void {
    const query = "select counts, history from keys where id = ?";
    const [stored] = this.#sql.exec<{ counts: string; history: string | null }>(query, id).toArray();
    const before = stored ? flat(JSON.parse(stored.counts) as RequestCounts) : {};
    const after = flat(counts);
    if (stored && sum(Object.values(before)) >= sum(Object.values(after))) return;
    const history = addToHistory(stored?.history ?? null, subtractCounts(after, before), now);
    this.#sql.exec(
      `insert into keys (id, counts, history, at) values (?, ?, ?, ?)
       on conflict (id) do update set counts = excluded.counts, history = excluded.history, at = excluded.at`,
      ...[id, JSON.stringify(counts), history, now],
    );
  }

  /** A key's requests, accepted and refused, by the time of the report; null if there were none. */
  history(id: string): History | null {
    const [row] = this.#sql.exec<{ history: string | null }>("select history from keys where id = ?", id).toArray();
    return row?.history ? (JSON.parse(row.history) as History) : null;
  }

  ids(): string[] {
    return this.#sql
      .exec<{ id: string }>("select id from keys order by id")
      .toArray()
      .map(({ id }) => id);
  }

  remove(ids: string[]): void {
    const removed = this.numbers(ids);
    if (removed.length === 0) return;
    const counts = sumOf([...this.numbers([REMOVED]), ...removed]);
    this.#sql.exec("delete from keys where id in (select value from json_each(?))", JSON.stringify(ids));
    this.#sql.exec(
      `insert into keys (id, counts, at) values (?, ?, ?)
       on conflict (id) do update set counts = excluded.counts, at = excluded.at`,
      ...[REMOVED, JSON.stringify(counts), Math.max(...removed.map(({ at }) => at))],
    );
  }

  /** The counts of all keys, also of those that were removed. */
  total(): RequestCounts {
    const rows = this.#sql.exec<{ counts: string }>("select counts from keys").toArray();
    return sumOf(rows.map(({ counts }) => JSON.parse(counts) as RequestCounts));
  }

  /** How many requests of each key were accepted since the beginning of a day in UTC, Unix milliseconds. */
  admittedSince(ids: string[], since: number): Record<string, number> {
    const first = Math.floor(since / BUCKETS.day.ms);
    const admitted = ids.map((id) => {
      const days = Object.entries(this.history(id)?.day ?? {}) as [string, Counts<"admitted">][];
      return [id, sum(days.filter(([day]) => Number(day) >= first).map(([, counts]) => counts.admitted ?? 0))];
    });
    return Object.fromEntries(admitted);
  }

  numbers(ids: string[]): KeyNumbers[] {
    const query = "select id, counts, at from keys where id in (select value from json_each(?))";
    const rows = this.#sql.exec<{ id: string; counts: string; at: number }>(query, JSON.stringify(ids)).toArray();
    return rows.map(({ id, counts, at }) => ({ ...(JSON.parse(counts) as RequestCounts), id, at }));
  }
}

/** The counts without levels. No reason to refuse a request is named `admitted`. */
function flat({ admitted, refused }: RequestCounts): Counts<string> {
  return { admitted, ...refused };
}

function sumOf(all: RequestCounts[]): RequestCounts {
  return {
    admitted: sum(all.map(({ admitted }) => admitted)),
    refused: all.reduce<RequestCounts["refused"]>((refused, counts) => addCounts(refused, counts.refused), {}),
  };
}

function sum(counts: (number | undefined)[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}
