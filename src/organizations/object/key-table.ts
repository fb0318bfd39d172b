import { type Counts, subtractCounts } from "../../model/counts.ts";
import { addToHistory, type History } from "../../model/history.ts";
import type { RequestCounts } from "../../model/key.ts";
import type { KeyNumbers } from "../../model/organization.ts";

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
    if (stored && sum(before) >= sum(after)) return;
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
    this.#sql.exec("delete from keys where id in (select value from json_each(?))", JSON.stringify(ids));
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

function sum(counts: Counts<string>): number {
  return Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0);
}
