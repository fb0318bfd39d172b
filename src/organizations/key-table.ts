import type { RequestCounts } from "../keys/key-stats.ts";

/** A key's counts since it was created. `at`: when they changed last, Unix milliseconds. */
export type KeyNumbers = RequestCounts & { id: string; at: number };

/** The counts of an organization's keys. */
export class KeyTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores a key's counts, unless greater ones are stored: a count never falls. */
  report(id: string, counts: RequestCounts, now: number): void {
    const [stored] = this.#sql.exec<{ counts: string }>("select counts from keys where id = ?", id);
    if (stored && sum(JSON.parse(stored.counts) as RequestCounts) >= sum(counts)) return;
    this.#sql.exec(
      `insert into keys (id, counts, at) values (?, ?, ?)
       on conflict (id) do update set counts = excluded.counts, at = excluded.at`,
      id,
      JSON.stringify(counts),
      now,
    );
  }

  numbers(ids: string[]): KeyNumbers[] {
    const rows = this.#sql.exec<{ id: string; counts: string; at: number }>(
      "select id, counts, at from keys where id in (select value from json_each(?))",
      JSON.stringify(ids),
    );
    return [...rows].map(({ id, counts, at }) => ({ ...(JSON.parse(counts) as RequestCounts), id, at }));
  }
}

function sum({ admitted, refused }: RequestCounts): number {
  return Object.values(refused).reduce((total, count) => total + count, admitted);
}
