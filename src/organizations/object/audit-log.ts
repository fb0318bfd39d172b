import {
  type Act,
  type ActEnd,
  type ActFilter,
  type ActPage,
  type BeginAnswer,
  type EndedAct,
  mergedBy,
  type NewAct,
} from "../../model/audit.ts";
import type { Principal } from "../../model/caller.ts";
import { isId, startOfIds, timeOfId } from "../../model/id.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import { AuditDays } from "./audit-days.ts";
import type { Existence } from "./existence.ts";

interface ActRow extends Record<string, SqlStorageValue> {
  id: string;
  actor_type: string;
  actor_id: string;
  actor_name: string;
  link_by: string | null;
  action: string;
  target: string | null;
  status: number | null;
  request_id: string;
  changed: string;
  count: number | null;
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
 * Who did what in an organization. A row is stored before the act, so there is no act without one, and gets the status
 * of the response after it. An act that cuts off access is the exception: its row waits elsewhere until this log has
 * it. A row has names of fields, and never their values.
 */
export class AuditLog implements DuePart {
  readonly #sql: SqlStorage;
  readonly #existence: Existence;
  readonly #alarm: StandingAlarm;
  readonly #days: AuditDays;

  constructor(sql: SqlStorage, existence: Existence, alarm: StandingAlarm) {
    this.#sql = sql;
    this.#existence = existence;
    this.#alarm = alarm;
    this.#days = new AuditDays(sql);
  }

  /**
   * Stores the row of an act that begins. A repeated call with the same id changes nothing.
   * @throws if the object is empty and D1 does not answer
   */
  async begin(organizationId: string, act: NewAct): Promise<BeginAnswer> {
    if (!(await this.#existence.exists(organizationId))) return false;
    if (this.#has(act.id) || this.#merge(act)) return true;
    const full = this.#days.whatIsFull(act.actor, timeOfId(act.id));
    if (full !== null) return full;
    this.#insert(act);
    await this.#alarm.by(this.dueAt());
    return true;
  }

  /** Stores how an act ended. */
  end(id: string, { status, target, merged }: ActEnd): void {
    if (!this.#existence.isReady()) return;
    if (merged !== undefined) this.#sql.exec("update audit set status = ? where merged = ?", status, merged);
    else this.#sql.exec("update audit set status = ?, target = ? where id = ?", status, target, id);
  }

  /**
   * Stores the rows of acts that have ended. A repeated call with the same ids changes nothing. No ceiling refuses what
   * was done; beyond one, the same act on the same target in an hour is one row.
   * @throws if the object is empty and D1 does not answer
   */
  async store(organizationId: string, acts: EndedAct[]): Promise<void> {
    if (!(await this.#existence.exists(organizationId))) return;
    for (const act of acts) {
      if (this.#has(act.id)) continue;
      const isFull = this.#days.whatIsFull(act.actor, timeOfId(act.id)) !== null;
      if (isFull && act.status >= 300) continue;
      const shared = isFull ? { ...act, merged: mergedBy(act, "target") } : act;
      if (!this.#merge(shared)) this.#insert(shared);
      this.end(act.id, shared);
    }
    await this.#alarm.by(this.dueAt());
  }

  /**
   * A page, newest first. It reads at most 10,000 rows, so it may have fewer than `limit` acts although more follow.
   * @param before the cursor of the previous page; null for the start
   * @returns null if this log has no such cursor
   */
  page(filter: ActFilter, before: string | null, limit: number): ActPage | null {
    if (!this.#existence.isReady()) return before === null ? { acts: [], cursor: null } : null;
    if (before !== null && !this.#has(before) && !this.#mayBePurged(before)) return null;
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

  /** Deletes the rows that are too old, up to 1,000 of them. The oldest are deleted first. */
  run(now: number): void {
    const oldest = this.#oldest();
    if (oldest === undefined) return;
    const purge = "delete from audit where id in (select id from audit where id < ? order by id limit ?)";
    this.#sql.exec(purge, startOfIds(oldest, now - KEPT_MS), PURGED_AT_ONCE);
  }

  #insert({ id, actor, action, target, requestId, changed, merged }: NewAct): void {
    this.#sql.exec(
      `insert into audit (id, actor_type, actor_id, actor_name, link_by, action, target, request_id, changed, merged)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, actor.type, actor.id, actor.name, actor.linkBy ?? null, action, target, requestId],
      ...[JSON.stringify(changed), merged ?? null],
    );
    this.#days.add(actor, timeOfId(id));
  }

  /** Counts an act in the row that it shares. @returns false if there is none */
  #merge({ merged, target, requestId }: NewAct): boolean {
    if (merged === undefined) return false;
    const query = "select request_id from audit where merged = ?";
    const [row] = this.#sql.exec<{ request_id: string }>(query, merged).toArray();
    // A repeated call.
    if (!row || row.request_id === requestId) return row !== undefined;
    this.#sql.exec(
      `update audit set count = coalesce(count, 1) + 1, request_id = ?, status = null, target = iif(target is ?, target, null)
       where merged = ?`,
      ...[requestId, target, merged],
    );
    return true;
  }

  #oldest(): string | undefined {
    return this.#sql.exec<{ id: string }>("select id from audit order by id limit 1").toArray()[0]?.id;
  }

  #has(id: string): boolean {
    return this.#sql.exec("select 1 from audit where id = ?", id).toArray().length > 0;
  }

  /** Whether an entry with this id would be gone by now. Then nothing follows it. */
  #mayBePurged(id: string): boolean {
    return isId("aud", id) && timeOfId(id) < Date.now() - KEPT_MS;
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
    count: row.count ?? 1,
    linkBy: row.link_by,
  };
}
