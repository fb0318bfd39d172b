import { ACTOR_ROWS_A_DAY, type FullAudit, ORGANIZATION_ROWS_A_DAY } from "../../model/audit.ts";
import type { Principal } from "../../model/caller.ts";

const DAY_MS = 86_400_000;
/** Stands for the organization in the table. */
const ALL = "";

/** How many rows of the audit log each actor of an organization wrote today. The operator's are not counted. */
export class AuditDays {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Which ceiling refuses one more row of this actor; null for none. */
  whatIsFull({ type, id }: Principal, now: number): FullAudit | null {
    if (type === "operator") return null;
    if (this.#rows(id, now) >= ACTOR_ROWS_A_DAY) return "actor";
    return this.#rows(ALL, now) >= ORGANIZATION_ROWS_A_DAY ? "organization" : null;
  }

  /** Counts a row. */
  add({ type, id }: Principal, now: number): void {
    if (type === "operator") return;
    const day = dayOf(now);
    if (this.#rows(ALL, now) === 0) this.#sql.exec("delete from audit_days where day < ?", day);
    const insert = `insert into audit_days (actor_id, day, rows) values (?, ?, 1)
      on conflict (actor_id) do update set rows = iif(day = excluded.day, rows + 1, 1), day = excluded.day`;
    for (const actor of [id, ALL]) this.#sql.exec(insert, actor, day);
  }

  #rows(actor: string, now: number): number {
    const read = "select rows from audit_days where actor_id = ? and day = ?";
    return this.#sql.exec<{ rows: number }>(read, actor, dayOf(now)).toArray()[0]?.rows ?? 0;
  }
}

function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}
