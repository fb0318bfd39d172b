import { clientBlock } from "../../http/client-network.ts";

const WINDOW_MS = 60_000;

/**
 * How many new chats visitors may begin within a minute.
 * - `network`: an IPv4 address, or the /64 of one IPv6 subscriber. Enough for a household or a small office.
 * - `block`: an IPv6 /48. One customer can hold a whole /48 with its 65,536 networks, but a mobile carrier puts many
 *   phones into one: ten full networks are allowed.
 * - `channel`: all visitors together. Each new chat adds rows to the shared directory for good; ten a second is more
 *   than a busy site needs, and it bounds what this object keeps.
 */
export const MAX_NEW_CHATS = { network: 5, block: 50, channel: 600 } as const;

/** Whether a new chat may be opened; if not, `retryAfter` is in seconds. */
export type Opening = { ok: true } | { ok: false; retryAfter: number };

type Row = { chat_id: string; network: string; at: number };

/**
 * The new chats that visitors opened in a channel within the last minute, with the networks they came from. The rows
 * are read once after the object wakes and then kept in memory. They are in storage so that an eviction forgets none,
 * and for no longer than the minute, because these are people's addresses.
 */
export class Openings {
  readonly #storage: DurableObjectStorage;
  /** Oldest first, at most `MAX_NEW_CHATS.channel`; undefined before they were read. */
  #recent: Row[] | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /**
   * Counts a new chat unless a limit is reached. A chat counts once, however often its opening is tried.
   * @param network as `clientNetwork` names it
   * @param now Unix milliseconds
   */
  take(network: string, chatId: string, now: number): Opening {
    this.forget(now);
    const recent = this.#rows();
    if (recent.some((row) => row.chat_id === chatId)) return { ok: true };
    const block = clientBlock(network);
    const freeAt = Math.max(
      freeFrom(recent, MAX_NEW_CHATS.channel),
      freeFrom(
        recent.filter((row) => row.network === network),
        MAX_NEW_CHATS.network,
      ),
      block === null
        ? 0
        : freeFrom(
            recent.filter((row) => clientBlock(row.network) === block),
            MAX_NEW_CHATS.block,
          ),
    );
    if (freeAt > now) return { ok: false, retryAfter: Math.ceil((freeAt - now) / 1_000) };
    this.#prepare();
    this.#storage.sql.exec("insert into openings (chat_id, network, at) values (?, ?, ?)", chatId, network, now);
    recent.push({ chat_id: chatId, network, at: now });
    return { ok: true };
  }

  /** Drops what is older than the window. @returns when the next row may be dropped; null if none is left */
  forget(now: number): number | null {
    const rows = this.#rows();
    // If the clock was set back, rows of the future remain. They count for nothing.
    const recent = rows.filter(({ at }) => at > now - WINDOW_MS && at <= now);
    if (recent.length < rows.length) {
      const { sql } = this.#storage;
      sql.exec("delete from openings where at <= ?", now - WINDOW_MS);
      sql.exec("delete from openings where at > ?", now);
      this.#recent = recent;
    }
    const [oldest] = recent;
    return oldest ? oldest.at + WINDOW_MS : null;
  }

  /** Everything was erased, the table too. */
  erased(): void {
    this.#recent = [];
  }

  #rows(): Row[] {
    this.#recent ??= this.#exists() ? this.#newest() : [];
    return this.#recent;
  }

  #newest(): Row[] {
    const newest = "select chat_id, network, at from openings order by at desc limit ?";
    return this.#storage.sql.exec<Row>(newest, MAX_NEW_CHATS.channel).toArray().reverse();
  }

  #exists(): boolean {
    return this.#storage.sql.exec("select 1 from sqlite_master where name = 'openings'").toArray().length > 0;
  }

  /** The table is made with the first row, so that an object that opens no chat stores nothing. */
  #prepare(): void {
    if (this.#rows().length > 0) return;
    this.#storage.sql.exec(
      `create table if not exists openings (chat_id text primary key, network text not null, at integer not null);
       create index if not exists openings_by_time on openings (at)`,
    );
  }
}

/** From when on fewer than `most` of these rows are within the window; Unix milliseconds, 0 if that is so already. */
function freeFrom(rows: Row[], most: number): number {
  const oldestThatCounts = rows.at(-most);
  return oldestThatCounts && rows.length >= most ? oldestThatCounts.at + WINDOW_MS : 0;
}
