import { database } from "../db/client.ts";
import { WriteBehind } from "../platform/write-behind.ts";

const CHATS_PER_WRITE = 500;

type ActiveChat = { id: string; at: number };

/**
 * Stores when each chat of a channel was last active, and writes these times to the directory in one statement for many
 * chats. So a message does not cost a write of its chat's row.
 */
export class ActivityBuffer extends WriteBehind<ActiveChat[]> {
  protected readonly delayMs = 5_000;
  protected readonly retryMs = 15_000;
  readonly #sql: SqlStorage;
  readonly #env: Env;
  #hasTable = false;

  constructor({ sql }: DurableObjectStorage, env: Env) {
    super();
    this.#sql = sql;
    this.#env = env;
  }

  /** @param at when the chat had a message, Unix milliseconds. @returns when to flush */
  add(chatId: string, at: number): number {
    if (!this.#hasTable) {
      this.#sql.exec("create table if not exists activity (chat_id text primary key, at integer not null)");
      this.#hasTable = true;
    }
    this.#sql.exec(
      "insert into activity (chat_id, at) values (?, ?) on conflict (chat_id) do update set at = max(at, excluded.at)",
      chatId,
      at,
    );
    return this.changed();
  }

  override forget(): void {
    super.forget();
    this.#hasTable = false;
  }

  protected current(): ActiveChat[] | null {
    // Reading must not create the table: the object may have been erased.
    this.#hasTable ||= this.#sql.exec("select 1 from sqlite_master where name = 'activity'").toArray().length > 0;
    if (!this.#hasTable) return null;
    const query = "select chat_id as id, at from activity order by at limit ?";
    const chats = this.#sql.exec<ActiveChat>(query, CHATS_PER_WRITE).toArray();
    return chats.length > 0 ? chats : null;
  }

  protected write(chats: ActiveChat[]): Promise<unknown> {
    // One JSON parameter, because a D1 statement takes at most 100 parameters.
    return database(this.#env)
      .prepare(
        `update chats set last_message_at = max(coalesce(last_message_at, 0), seen.at),
           active_at = max(active_at, seen.at)
         from (select value ->> '$.id' as id, value ->> '$.at' as at from json_each(?)) as seen
         -- A chat may have been deleted and created again with the same id. Activity before that is ignored.
         where chats.id = seen.id and seen.at >= chats.created_at`,
      )
      .bind(JSON.stringify(chats))
      .run();
  }

  /** Keeps the chats that were active again during the write. */
  protected override written(chats: ActiveChat[]): void {
    this.#sql.exec(
      `delete from activity where exists
         (select 1 from json_each(?) where value ->> '$.id' = activity.chat_id and value ->> '$.at' = activity.at)`,
      JSON.stringify(chats),
    );
  }

  protected override isFull({ length }: ActiveChat[]): boolean {
    return length === CHATS_PER_WRITE;
  }

  protected failure({ length }: ActiveChat[]) {
    return { event: "activity_not_written", chats: length };
  }
}
