/** How long after it was last seen a fault is forgotten: a program that reads once a day must find it again. */
const FORGET_AFTER_MS = 2 * 86_400_000;
/** Each time that is stored costs a row. */
const STORE_EVERY_MS = 30_000;

type Fault = { chat_id: string; since: number; at: number };

/** The chats whose objects could not be read lately, and since when, so that readers know how long it has lasted. */
export class UnreadableChats {
  readonly #sql: SqlStorage;
  /** Known to have no row. */
  #isEmpty = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** A chat could not be read. @returns for how many milliseconds it can't */
  failed(chatId: string, now: number): number {
    const fault = this.#among([chatId], now)[0];
    if (!fault) this.#sql.exec("delete from unreadable_chats where at <= ?", now - FORGET_AFTER_MS);
    const since = fault?.since ?? now;
    if (!fault || now - fault.at >= STORE_EVERY_MS) {
      this.#isEmpty = false;
      const insert = "insert or replace into unreadable_chats (chat_id, since, at) values (?, ?, ?)";
      this.#sql.exec(insert, chatId, since, now);
    }
    return now - since;
  }

  /** A chat could be read again. */
  worked(chatId: string): void {
    this.#sql.exec("delete from unreadable_chats where chat_id = ?", chatId);
  }

  /** Those among some chats that could not be read, and for how many milliseconds. */
  among(chatIds: (string | null)[], now: number): Record<string, number> {
    return Object.fromEntries(this.#among(chatIds, now).map(({ chat_id, since }) => [chat_id, now - since]));
  }

  forget(): void {
    this.#isEmpty = false;
  }

  #among(chatIds: (string | null)[], now: number): Fault[] {
    this.#isEmpty ||= this.#sql.exec("select 1 from unreadable_chats limit 1").toArray().length === 0;
    if (this.#isEmpty) return [];
    // A time after `now`: the clock was set back.
    const query = `select chat_id, since, at from unreadable_chats
      where chat_id in (select value from json_each(?)) and at > ? and since <= ?`;
    const ids = JSON.stringify([...new Set(chatIds)]);
    return this.#sql.exec<Fault>(query, ids, now - FORGET_AFTER_MS, now).toArray();
  }
}
