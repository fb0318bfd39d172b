import { DurableObject } from "cloudflare:workers";
import { causeOf } from "../log.ts";

const FLUSH_AFTER_MS = 5_000;
const FLUSH_AGAIN_AFTER_MS = 15_000;
const MAX_CHATS_A_FLUSH = 500;

/**
 * One channel: what its chats share. It collects when each chat was last active and writes that to the directory in
 * one statement for many chats, because a row of the directory must not be written for each message.
 */
export class ChannelObject extends DurableObject<Env> {
  #prepared = false;

  /** A chat of this channel had a message at `at`, Unix milliseconds. */
  async active(chatId: string, at: number): Promise<void> {
    this.#prepare();
    this.ctx.storage.sql.exec(
      "insert into activity (chat_id, at) values (?, ?) on conflict (chat_id) do update set at = max(at, excluded.at)",
      chatId,
      at,
    );
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + FLUSH_AFTER_MS);
  }

  /** Erases what the object holds; the directory's row is gone. */
  async erase(): Promise<void> {
    this.#prepared = false;
    await this.ctx.storage.deleteAll();
  }

  /** Writes what was collected. Never throws: it is its own retry. */
  override async alarm(): Promise<void> {
    this.#prepare();
    const rows = this.ctx.storage.sql
      .exec<{ id: string; at: number }>("select chat_id as id, at from activity order by at limit ?", MAX_CHATS_A_FLUSH)
      .toArray();
    if (rows.length === 0) return;
    await this.ctx.storage.setAlarm(Date.now() + FLUSH_AGAIN_AFTER_MS);
    const written = JSON.stringify(rows);
    try {
      // One parameter, because a statement of D1 takes at most 100.
      await this.env.DB.prepare(
        `update chats set last_message_at = max(coalesce(last_message_at, 0), seen.at), active_at = max(active_at, seen.at)
         from (select value ->> '$.id' as id, value ->> '$.at' as at from json_each(?)) as seen where chats.id = seen.id`,
      )
        .bind(written)
        .run();
    } catch (error) {
      console.warn({ event: "activity_not_written", chats: rows.length, error: causeOf(error) });
      return;
    }
    // Erased in the meantime: nothing is left to write, and nothing may be left behind.
    if (!this.#prepared) return;
    // A chat that was active again in the meantime stays for the next time.
    this.ctx.storage.sql.exec(
      `delete from activity where exists
         (select 1 from json_each(?) where value ->> '$.id' = activity.chat_id and value ->> '$.at' = activity.at)`,
      written,
    );
    const { left } = this.ctx.storage.sql.exec<{ left: number }>("select count(*) as left from activity").one();
    if (left > 0) await this.ctx.storage.setAlarm(Date.now() + (rows.length < MAX_CHATS_A_FLUSH ? FLUSH_AFTER_MS : 0));
    else await this.ctx.storage.deleteAlarm();
  }

  #prepare(): void {
    if (this.#prepared) return;
    this.ctx.storage.sql.exec("create table if not exists activity (chat_id text primary key, at integer not null)");
    this.#prepared = true;
  }
}
