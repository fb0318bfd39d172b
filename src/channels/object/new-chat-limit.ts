import { clientBlock } from "../../http/client-network.ts";
import { MAX_NEW_CHATS } from "../../model/visitor.ts";
import type { DuePart } from "../../platform/object/due-work.ts";

const WINDOW_MS = 60_000;

/** Whether a new chat is allowed; if not, `retryAfter` is in seconds. */
export type NewChatDecision = { ok: true } | { ok: false; retryAfter: number };

type Row = { chat_id: string; network: string; at: number };

/**
 * Limits the new chats in a channel. Stores the chats that visitors started within the last minute, with the visitors'
 * networks. The rows are read once after the object starts and then kept in memory. Storage preserves them across an
 * eviction. They are deleted after one minute, because they contain IP addresses.
 */
export class NewChatLimit implements DuePart {
  readonly #storage: DurableObjectStorage;
  /** Oldest first, at most `MAX_NEW_CHATS.channel`; undefined before they are read. */
  #recent: Row[] | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /**
   * Counts a new chat unless a limit is reached. A chat counts once, even if the call is repeated.
   * @param network the visitor's network, from `clientNetwork`
   * @param now Unix milliseconds
   */
  count(network: string, chatId: string, now: number): NewChatDecision {
    this.run(now);
    const recent = this.#rows();
    if (recent.some((row) => row.chat_id === chatId)) return { ok: true };
    const block = clientBlock(network);
    const freeOf = (isOf: (row: Row) => boolean, limit: number) => freeFrom(recent.filter(isOf), limit);
    const freeAt = Math.max(
      freeFrom(recent, MAX_NEW_CHATS.channel),
      freeOf((row) => row.network === network, MAX_NEW_CHATS.network),
      block === null ? 0 : freeOf((row) => clientBlock(row.network) === block, MAX_NEW_CHATS.block),
    );
    if (freeAt > now) return { ok: false, retryAfter: Math.ceil((freeAt - now) / 1_000) };
    this.#createTable();
    this.#storage.sql.exec("insert into openings (chat_id, network, at) values (?, ?, ?)", chatId, network, now);
    recent.push({ chat_id: chatId, network, at: now });
    return { ok: true };
  }

  /** When the next row is too old; null if there is none. */
  dueAt(): number | null {
    const [oldest] = this.#rows();
    return oldest ? oldest.at + WINDOW_MS : null;
  }

  /** Deletes rows older than the window. */
  run(now: number): void {
    const rows = this.#rows();
    // Rows with a future time are left if the clock was set back. They are deleted too.
    const recent = rows.filter(({ at }) => at > now - WINDOW_MS && at <= now);
    if (recent.length === rows.length) return;
    const { sql } = this.#storage;
    sql.exec("delete from openings where at <= ?", now - WINDOW_MS);
    sql.exec("delete from openings where at > ?", now);
    this.#recent = recent;
  }

  /** Call after all storage, including the table, was deleted. */
  forget(): void {
    this.#recent = [];
  }

  #rows(): Row[] {
    this.#recent ??= this.#tableExists() ? this.#loadNewest() : [];
    return this.#recent;
  }

  #loadNewest(): Row[] {
    const newest = "select chat_id, network, at from openings order by at desc limit ?";
    return this.#storage.sql.exec<Row>(newest, MAX_NEW_CHATS.channel).toArray().reverse();
  }

  #tableExists(): boolean {
    return this.#storage.sql.exec("select 1 from sqlite_master where name = 'openings'").toArray().length > 0;
  }

  /** Creates the table with the first row, so that an object without new chats stores nothing. */
  #createTable(): void {
    if (this.#rows().length > 0) return;
    this.#storage.sql.exec(
      `create table if not exists openings (chat_id text primary key, network text not null, at integer not null);
       create index if not exists openings_by_time on openings (at)`,
    );
  }
}

/** When fewer than `limit` of these rows will be within the window: Unix milliseconds, or 0 if fewer already are. */
function freeFrom(rows: Row[], limit: number): number {
  const oldestCounted = rows.at(-limit);
  return oldestCounted && rows.length >= limit ? oldestCounted.at + WINDOW_MS : 0;
}
