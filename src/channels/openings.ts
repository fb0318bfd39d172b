const WINDOW_MS = 60_000;
const MAX_IN_WINDOW = 5;

/** Whether a new chat may be opened; if not, `retryAfter` is in seconds. */
export type Opening = { ok: true } | { ok: false; retryAfter: number };

/**
 * The new chats that visitors opened in a channel within the last minute, by where they came from: at most 5 from one
 * network. In storage, so that an eviction forgets none, and no longer than the minute, for these are people's
 * addresses.
 */
export class Openings {
  readonly #storage: DurableObjectStorage;
  #prepared = false;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Counts a new chat, unless there were too many. A chat counts once, however often its opening is tried. */
  take(network: string, chatId: string, now: number): Opening {
    this.#prepare();
    this.forget(now);
    const { sql } = this.#storage;
    if (sql.exec("select 1 from openings where chat_id = ?", chatId).toArray().length > 0) return { ok: true };
    const rows = sql.exec<{ at: number }>("select at from openings where network = ? order by at", network).toArray();
    const [oldest] = rows;
    if (oldest && rows.length >= MAX_IN_WINDOW) {
      return { ok: false, retryAfter: Math.ceil((oldest.at + WINDOW_MS - now) / 1_000) };
    }
    sql.exec("insert into openings (chat_id, network, at) values (?, ?, ?)", chatId, network, now);
    return { ok: true };
  }

  /** Drops what is older than the window. @returns when the next one may be dropped; null when none is left */
  forget(now: number): number | null {
    if (!this.#prepared && !this.#exists()) return null;
    const { sql } = this.#storage;
    // A clock that was set back leaves rows of the future, which count for nothing.
    sql.exec("delete from openings where at <= ? or at > ?", now - WINDOW_MS, now);
    const { oldest } = sql.exec<{ oldest: number | null }>("select min(at) as oldest from openings").one();
    return oldest === null ? null : oldest + WINDOW_MS;
  }

  /** Everything was erased: what was prepared is gone. */
  erased(): void {
    this.#prepared = false;
  }

  #exists(): boolean {
    return this.#storage.sql.exec("select 1 from sqlite_master where name = 'openings'").toArray().length > 0;
  }

  #prepare(): void {
    if (this.#prepared) return;
    this.#storage.sql.exec(
      "create table if not exists openings (chat_id text primary key, network text not null, at integer not null)",
    );
    this.#prepared = true;
  }
}
