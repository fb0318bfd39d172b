import { callObject, NEARBY } from "../../calls/call-object.ts";
import { MAX_CONCURRENT } from "../../platform/concurrency.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { ChannelTable } from "./channel-table.ts";
import { CHAT_COLUMNS, type ChatRow } from "./chat-row.ts";
import type { ChatTable } from "./chat-table.ts";
import type { Existence } from "./existence.ts";
import { Retries } from "./retries.ts";

const CHATS_A_RUN = 500;
/** A run of the alarm begins no further deletions after this time. */
const RUN_MS = 5_000;
/** The request that began a deletion also completes it, unless it is interrupted. */
const AGAIN_AFTER_MS = 30_000;

/** How many chats were deleted, and the first error if some could not be. */
interface Deleted {
  count: number;
  error: unknown;
}

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  chats: ChatTable;
  channels: ChannelTable;
}

/**
 * Deletes chats in steps that can be repeated: the chat goes off the lists, its object is emptied, and its row and its
 * addresses go last. So an interrupted deletion leaves a row from which it continues.
 */
export class Deletions implements DuePart {
  readonly #parts: Parts;
  readonly #sql: SqlStorage;
  readonly #chats: ChatTable;
  readonly #retries: Retries;
  /** The last run of the alarm reached its bounds. */
  #isInterrupted = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = parts.storage.sql;
    this.#chats = parts.chats;
    this.#retries = new Retries(this.#sql, "delete", parts.existence);
  }

  /** Frees the addresses of a chat whose object is empty. @returns whether there was such a chat */
  gone(id: string, life: number): boolean {
    const row = this.#chats.get(id);
    if (row?.life !== life) return false;
    this.#chats.beginDeletion(row);
    this.#chats.endDeletion(id, life);
    this.#retries.end(id);
    return true;
  }

  /** Deletes what is left of a chat that is off the lists. @throws if its object can't be emptied: the alarm tries again */
  async finish(row: ChatRow): Promise<void> {
    const { error } = await this.#delete([row]);
    if (error !== undefined) throw error;
  }

  /**
   * Deletes up to `limit` chats of closed channels, and those whose deletion failed before.
   * @returns how many it deleted; fewer than `limit` if none is left
   * @throws the first error, after the deletion of the others: the alarm tries the failed ones again
   */
  async deleteClosed(limit: number): Promise<number> {
    const { count, error } = await this.#deleteUpTo(limit, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    if (error !== undefined) throw error;
    return count;
  }

  /** Continues what was interrupted. */
  async run(now: number): Promise<void> {
    this.#isInterrupted = false;
    const { count } = await this.#deleteUpTo(CHATS_A_RUN, now, now + RUN_MS);
    this.#isInterrupted = count > 0 && this.#hasTables() && this.#fresh(1).length > 0;
  }

  /** When the alarm must call `run`, Unix milliseconds; null if nothing is left. */
  dueAt(now: number): number | null {
    const retryAt = this.#retries.dueAt();
    if (this.#fresh(1).length === 0) return retryAt;
    return Math.min(now + (this.#isInterrupted ? 0 : AGAIN_AFTER_MS), retryAt ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Ends early after a step in which no deletion succeeds, because then more than one chat can't be reached.
   * @param retryBy those that failed before are tried if they are due by this time. All times are Unix milliseconds
   * @param endsAt no further step begins then
   */
  async #deleteUpTo(limit: number, retryBy: number, endsAt: number): Promise<Deleted> {
    const done: Deleted = { count: 0, error: undefined };
    const retried = this.#hasTables() ? this.#retries.due(retryBy, limit) : [];
    let tried = 0;
    while (tried < limit && this.#hasTables() && Date.now() < endsAt) {
      const atOnce = Math.min(MAX_CONCURRENT, limit - tried);
      const fresh = this.#fresh(atOnce);
      const rows = fresh.length > 0 ? fresh : retried.splice(0, atOnce);
      if (rows.length === 0) break;
      const { count, error } = await this.#delete(rows);
      tried += rows.length;
      done.count += count;
      done.error ??= error;
      if (count === 0 && fresh.length > 0) break;
    }
    return done;
  }

  /** Empties a chat's object, unless it holds a later life of the chat. */
  #eraseObject({ id, life }: ChatRow): Promise<void> {
    const { env, existence } = this.#parts;
    return callObject(env.CHATS, id, (chat) => chat.erase(existence.id ?? "", life), NEARBY);
  }

  /** False after the organization was deleted. */
  #hasTables(): boolean {
    return this.#parts.existence.isReady();
  }

  async #delete(rows: ChatRow[]): Promise<Deleted> {
    const failed = await this.#retries.run(rows, async ({ id, life }) => {
      const row = this.#hasTables() ? this.#chats.get(id) : undefined;
      if (row?.life !== life) return;
      this.#chats.beginDeletion(row);
      await this.#eraseObject(row);
      if (this.#hasTables()) this.#chats.endDeletion(id, life);
    });
    return { count: rows.length - failed.length, error: failed[0]?.error };
  }

  /** Chats whose deletion has begun and never failed, then the chats of closed channels. */
  #fresh(limit: number): ChatRow[] {
    const query = `select ${CHAT_COLUMNS} from chats where state = 'deleting' and ${this.#retries.isFresh} limit ?`;
    const rows = this.#sql.exec<ChatRow>(query, limit).toArray();
    for (const { id, isClosed } of this.#parts.channels.all().values()) {
      if (isClosed && rows.length < limit) rows.push(...this.#chats.ofChannel(id, limit - rows.length));
    }
    return rows;
  }
}
