import { startOfIds, timeOfId } from "../ids.ts";
import type { Principal } from "../keys/caller.ts";
import type { StandingAlarm } from "../platform/alarm.ts";
import type { Existence } from "./existence.ts";

/** An act that begins. */
export interface NewAct {
  /** A sortable id, which has the time of the act. */
  id: string;
  actor: Principal;
  action: string;
  target: string | null;
  requestId: string;
  /** The names of the fields that the request sets. */
  changed: string[];
}

/** A row of the audit log. */
export interface Act extends NewAct {
  /** The status of the response; null while the request runs, and for good if it broke off. */
  status: number | null;
}

/** How an act ended. */
export interface ActEnd {
  status: number;
  target: string | null;
}

/** Only the acts with all of these values. */
export interface ActFilter {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
}

/** A page of the log. `cursor` continues it; null if nothing follows. */
export interface ActPage {
  acts: Act[];
  cursor: string | null;
}

interface ActRow extends Record<string, SqlStorageValue> {
  id: string;
  actor_type: string;
  actor_id: string;
  actor_name: string;
  action: string;
  target: string | null;
  status: number | null;
  request_id: string;
  changed: string;
}

const DAY_MS = 86_400_000;
/** For how long a row is kept. */
const KEPT_MS = 400 * DAY_MS;
/** The most rows that one run of the alarm deletes. */
const PURGED_AT_ONCE = 1_000;
/** The most rows that one page reads. */
const MAX_EXAMINED = 10_000;
const READ_AT_ONCE = 1_000;

/**
 * Who did what in an organization. A row is stored before the act, so there is no act without one, and gets the status of
 * the response after it. It has names of fields, and never their values.
 */
export class AuditLog {
  readonly #sql: SqlStorage;
  readonly #existence: Existence;
  readonly #alarm: StandingAlarm;

  constructor(sql: SqlStorage, existence: Existence, alarm: StandingAlarm) {
    this.#sql = sql;
    this.#existence = existence;
    this.#alarm = alarm;
  }

  /**
   * Stores the row of an act that begins. A repeated call with the same id changes nothing.
   * @returns false if there is no such organization, or it is being deleted and its log is gone
   * @throws if the object is empty and D1 does not answer
   */
  async begin(organizationId: string, { id, actor, action, target, requestId, changed }: NewAct): Promise<boolean> {
    if (!(await this.#existence.exists(organizationId))) return false;
    this.#sql.exec(
      `insert or ignore into audit (id, actor_type, actor_id, actor_name, action, target, request_id, changed)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, actor.type, actor.id, actor.name, action, target, requestId, JSON.stringify(changed)],
    );
    await this.#alarm.by(this.dueAt());
    return true;
  }

  /** Stores how an act ended. */
  end(id: string, { status, target }: ActEnd): void {
    if (!this.#existence.isReady()) return;
    this.#sql.exec("update audit set status = ?, target = ? where id = ?", status, target, id);
  }

  /**
   * A page, newest first. It reads at most 10,000 rows, so it may have fewer than `limit` acts although more follow.
   * @param before the cursor of the page before; null for the start
   * @returns null if this log has no such cursor
   */
  page(filter: ActFilter, before: string | null, limit: number): ActPage | null {
    if (!this.#existence.isReady()) return before === null ? { acts: [], cursor: null } : null;
    if (before !== null && !this.#has(before)) return null;
    const found: ActRow[] = [];
    let last = before;
    let examined = 0;
    // Without a filter, one read is enough.
    for (let count = limit + 1; found.length <= limit && examined < MAX_EXAMINED; count = READ_AT_ONCE) {
      const read = Math.min(count, MAX_EXAMINED - examined);
      const rows = this.#rows(last, read);
      found.push(...rows.filter((row) => matches(row, filter)));
      examined += rows.length;
      last = rows.at(-1)?.id ?? last;
      if (rows.length === read) continue;
      last = null;
      break;
    }
    const shown = found.slice(0, limit);
    const cursor = found.length > limit ? (shown.at(-1)?.id ?? null) : last;
    return { acts: shown.map(actOf), cursor };
  }

  /** When the alarm must delete old rows; null if there is no row. The rows of a day are deleted together. */
  dueAt(): number | null {
    const oldest = this.#oldest();
    return oldest === undefined ? null : timeOfId(oldest) + KEPT_MS + DAY_MS;
  }

  /** Deletes the rows that are too old, up to 1,000 of them. The oldest go first. */
  purge(now: number): void {
    const oldest = this.#oldest();
    if (oldest === undefined) return;
    this.#sql.exec(
      "delete from audit where id in (select id from audit where id < ? order by id limit ?)",
      startOfIds(oldest, now - KEPT_MS),
      PURGED_AT_ONCE,
    );
  }

  #oldest(): string | undefined {
    return this.#sql.exec<{ id: string }>("select id from audit order by id limit 1").toArray()[0]?.id;
  }

  #has(id: string): boolean {
    return this.#sql.exec("select 1 from audit where id = ?", id).toArray().length > 0;
  }

  #rows(before: string | null, limit: number): ActRow[] {
    const where = before === null ? "" : "where id < ?";
    const given = before === null ? [limit] : [before, limit];
    return this.#sql.exec<ActRow>(`select * from audit ${where} order by id desc limit ?`, ...given).toArray();
  }
}

function matches(row: ActRow, { actor, action, target }: ActFilter): boolean {
  return (
    (actor === undefined || row.actor_id === actor) &&
    (action === undefined || row.action === action) &&
    (target === undefined || row.target === target)
  );
}

function actOf(row: ActRow): Act {
  return {
    id: row.id,
    actor: { type: row.actor_type as Principal["type"], id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: row.target,
    status: row.status,
    requestId: row.request_id,
    changed: JSON.parse(row.changed) as string[],
  };
}
