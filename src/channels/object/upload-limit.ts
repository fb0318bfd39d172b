import { MAX_UPLOADED } from "../../model/visitor.ts";
import type { DuePart } from "../../platform/object/due-work.ts";

const WINDOW_MS = 3_600_000;
/** How much later old rows are deleted, so that a busy channel rarely looks for them. */
const SLACK_MS = 600_000;

/** A smaller file counts as this many bytes: each one costs rows and calls. */
const LEAST_BYTES = 65_536;

/** A visitor's upload. `id`: a repeated upload has the same one. */
export interface VisitorUpload {
  id: string;
  chatId: string;
  network: string;
  bytes: number;
}

/** Whether the bytes may come; if not, `retryAfter` is in seconds. */
export type UploadDecision = { ok: true } | { ok: false; retryAfter: number; limit: number; left: number };

type Counted = { bytes: number; at: number };

/**
 * Limits what a channel's visitors upload. Each upload is a row for an hour, as it has the visitor's network, which can be
 * an IP address. One that is cut off and repeated counts once.
 */
export class UploadLimit implements DuePart {
  readonly #sql: SqlStorage;
  /** When the oldest row was written, Unix milliseconds; null if there is none, undefined if not read. */
  #oldestAt: number | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Counts an upload unless a limit is reached. @param now Unix milliseconds */
  count({ id, chatId, network, bytes }: VisitorUpload, now: number): UploadDecision {
    this.#createTable();
    const since = now - WINDOW_MS;
    const known = this.#sql
      .exec("select 1 from uploads where chat_id = ? and id = ? and at > ?", chatId, id, since)
      .toArray();
    if (known.length > 0) return { ok: true };
    const size = Math.max(LEAST_BYTES, bytes);
    const refusal =
      this.#refusal("chat_id", chatId, { size, limit: MAX_UPLOADED.visitor, now }) ??
      this.#refusal("network", network, { size, limit: MAX_UPLOADED.network, now });
    if (refusal) return refusal;
    this.#sql.exec("insert or replace into uploads values (?, ?, ?, ?, ?)", chatId, id, network, size, now);
    // The clock may have been set back.
    if (this.#oldestAt !== undefined) this.#oldestAt = Math.min(this.#oldestAt ?? now, now);
    return { ok: true };
  }

  /** When the oldest rows are deleted; null if there are none. */
  dueAt(): number | null {
    const oldestAt = this.#oldest();
    return oldestAt === null ? null : oldestAt + WINDOW_MS + SLACK_MS;
  }

  /** Deletes rows that no longer count. */
  run(now: number): void {
    if ((this.dueAt() ?? Number.POSITIVE_INFINITY) > now) return;
    // Rows with a future time are left if the clock was set back. They are deleted too.
    this.#sql.exec("delete from uploads where at <= ? or at > ?", now - WINDOW_MS, now);
    this.#oldestAt = undefined;
  }

  /** Call after all storage, including the table, was deleted. */
  forget(): void {
    this.#oldestAt = null;
  }

  /** Why a visitor, or a network, may not upload so much now; null if it may. */
  #refusal(
    column: "chat_id" | "network",
    value: string,
    { size, limit, now }: { size: number; limit: number; now: number },
  ): UploadDecision | null {
    const rows = this.#sql
      .exec<Counted>(
        `select bytes, at from uploads where ${column} = ? and at > ? and at <= ? order by at`,
        value,
        now - WINDOW_MS,
        now,
      )
      .toArray();
    const used = rows.reduce((sum, { bytes }) => sum + bytes, 0);
    let over = used + size - limit;
    if (over <= 0) return null;
    // When enough of the oldest ones no longer count.
    const last = rows.find(({ bytes }) => (over -= bytes) <= 0) ?? { at: now };
    return {
      ok: false,
      retryAfter: Math.max(1, Math.ceil((last.at + WINDOW_MS - now) / 1_000)),
      limit,
      left: Math.max(0, limit - used),
    };
  }

  #oldest(): number | null {
    if (this.#oldestAt === undefined) {
      this.#oldestAt = this.#tableExists()
        ? this.#sql.exec<{ at: number | null }>("select min(at) as at from uploads").one().at
        : null;
    }
    return this.#oldestAt;
  }

  #tableExists(): boolean {
    return this.#sql.exec("select 1 from sqlite_master where name = 'uploads'").toArray().length > 0;
  }

  /** Creates the table with the first row, so that an object without uploads stores nothing. */
  #createTable(): void {
    if (this.#oldest() !== null) return;
    this.#sql.exec(
      `create table if not exists uploads (chat_id text not null, id text not null, network text not null, bytes integer not null, at integer not null, primary key (chat_id, id)) without rowid;
       create index if not exists uploads_by_network on uploads (network, at)`,
    );
  }
}
