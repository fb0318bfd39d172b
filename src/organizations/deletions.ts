import { causeOf } from "../log.ts";
import { backoffMs } from "../platform/backoff.ts";
import { forEachInBatches, MAX_CONCURRENT } from "../platform/concurrency.ts";
import type { ChannelTable } from "./channel-table.ts";
import type { ChatRow, ChatTable } from "./chat-table.ts";

const RETRY = { firstMs: 30_000, maxMs: 3_600_000 };
const CHATS_A_RUN = 500;

/**
 * Deletes chats in steps that can be repeated: the chat goes off the lists, its object is emptied, and its row and its
 * addresses go last. So an interrupted deletion leaves a row from which it continues.
 */
export class Deletions {
  readonly #chats: ChatTable;
  readonly #channels: ChannelTable;
  readonly #eraseObject: (chat: ChatRow) => Promise<unknown>;
  readonly #hasTables: () => boolean;
  #failures = 0;

  /**
   * @param eraseObject empties the chat's object, unless it holds a later life of the chat
   * @param hasTables false after the organization was deleted
   */
  constructor(
    chats: ChatTable,
    channels: ChannelTable,
    eraseObject: (chat: ChatRow) => Promise<unknown>,
    hasTables: () => boolean,
  ) {
    this.#chats = chats;
    this.#channels = channels;
    this.#eraseObject = eraseObject;
    this.#hasTables = hasTables;
  }

  /** Frees the addresses of a chat whose object is empty. @returns whether there was such a chat */
  gone(id: string, life: number): boolean {
    const row = this.#chats.get(id);
    if (row?.life !== life) return false;
    this.#chats.beginDeletion(row);
    this.#chats.endDeletion(id, life);
    return true;
  }

  /** Deletes what is left of chats that are off the lists. @throws the first error, after the others have ended */
  async finish(rows: ChatRow[]): Promise<void> {
    await forEachInBatches(rows, async (row) => {
      await this.#eraseObject(row);
      if (this.#hasTables()) this.#chats.endDeletion(row.id, row.life);
    });
  }

  /**
   * Deletes up to `limit` chats of closed channels, newest first.
   * @returns how many it deleted; fewer than `limit` if none is left
   */
  async deleteClosed(limit: number): Promise<number> {
    let deleted = 0;
    while (deleted < limit) {
      const rows = this.#next(Math.min(MAX_CONCURRENT, limit - deleted));
      if (rows.length === 0) break;
      for (const row of rows) this.#chats.beginDeletion(row);
      await this.finish(rows);
      deleted += rows.length;
    }
    return deleted;
  }

  /** Continues what was interrupted; never throws. @returns when to continue, Unix milliseconds; null if nothing is left */
  async resume(now: number): Promise<number | null> {
    try {
      const isAll = (await this.deleteClosed(CHATS_A_RUN)) < CHATS_A_RUN;
      this.#failures = 0;
      return isAll ? null : now;
    } catch (error) {
      console.warn({ event: "chats_not_deleted", error: causeOf(error) });
      return now + backoffMs(RETRY, this.#failures++, Math.random());
    }
  }

  /** Chats whose deletion has begun, then the chats of closed channels. */
  #next(limit: number): ChatRow[] {
    if (!this.#hasTables()) return [];
    const rows = this.#chats.deleting(limit);
    for (const { id, isClosed } of this.#channels.all().values()) {
      if (isClosed && rows.length < limit) rows.push(...this.#chats.ofChannel(id, limit - rows.length));
    }
    return rows;
  }
}
