import { causeOf } from "../log.ts";

const FLUSH_AFTER_MS = 5_000;
const FLUSH_AGAIN_AFTER_MS = 15_000;
const CHATS_A_FLUSH = 500;

/**
 * When each chat of a channel was last active, on its way to the directory: collected here, and written in one
 * statement for many chats, because a row of the directory must not be written for each message.
 */
export class ActivityBuffer {
  readonly #storage: DurableObjectStorage;
  #prepared = false;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** A chat had a message at `at`, Unix milliseconds. @returns when what is collected should be flushed */
  add(chatId: string, at: number): number {
    this.#prepare();
    this.#storage.sql.exec(
      "insert into activity (chat_id, at) values (?, ?) on conflict (chat_id) do update set at = max(at, excluded.at)",
      chatId,
      at,
    );
    return Date.now() + FLUSH_AFTER_MS;
  }

  /** When what is collected should be flushed; null while nothing is. */
  dueAt(): number | null {
    if (!this.#prepared) return null;
    const rows = this.#storage.sql.exec("select 1 from activity limit 1").toArray();
    return rows.length > 0 ? Date.now() + FLUSH_AFTER_MS : null;
  }

  /** Everything was erased: what was prepared is gone. */
  forget(): void {
    this.#prepared = false;
  }

  /**
   * Writes what was collected, as many chats as one statement takes; never throws.
   * @returns when to be called again, Unix milliseconds; null when nothing is left
   */
  async flush(db: D1Database): Promise<number | null> {
    this.#prepare();
    const rows = this.#storage.sql
      .exec<{ id: string; at: number }>("select chat_id as id, at from activity order by at limit ?", CHATS_A_FLUSH)
      .toArray();
    if (rows.length === 0) return null;
    const written = JSON.stringify(rows);
    try {
      // One parameter, because a statement of D1 takes at most 100.
      await db
        .prepare(
          `update chats set last_message_at = max(coalesce(last_message_at, 0), seen.at),
             active_at = max(active_at, seen.at)
           from (select value ->> '$.id' as id, value ->> '$.at' as at from json_each(?)) as seen
           -- What an erased chat told is no news of the one that was opened again under its id.
           where chats.id = seen.id and seen.at >= chats.created_at`,
        )
        .bind(written)
        .run();
    } catch (error) {
      console.warn({ event: "activity_not_written", chats: rows.length, error: causeOf(error) });
      return Date.now() + FLUSH_AGAIN_AFTER_MS;
    }
    // Erased in the meantime: nothing is left to write, and nothing may be left behind.
    if (!this.#prepared) return null;
    // A chat that was active again in the meantime stays for the next time.
    this.#storage.sql.exec(
      `delete from activity where exists
         (select 1 from json_each(?) where value ->> '$.id' = activity.chat_id and value ->> '$.at' = activity.at)`,
      written,
    );
    const { left } = this.#storage.sql.exec<{ left: number }>("select count(*) as left from activity").one();
    if (left === 0) return null;
    return Date.now() + (rows.length < CHATS_A_FLUSH ? FLUSH_AFTER_MS : 0);
  }

  #prepare(): void {
    if (this.#prepared) return;
    this.#storage.sql.exec("create table if not exists activity (chat_id text primary key, at integer not null)");
    this.#prepared = true;
  }
}
