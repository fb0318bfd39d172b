import { callSearchIndex } from "../../calls/call-search-index.ts";
import type { IndexOwner } from "../../model/search-index.ts";
import { type Failed, settleEach } from "../../platform/concurrency.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { Existence } from "./existence.ts";
import type { SearchIndexes } from "./search-indexes.ts";

const CHATS_A_RUN = 100;
/** What a chat sent to an index before it was deleted may still be on its way. */
const REMOVE_AFTER_MS = 60_000;

type GoneChat = { id: string; life: number; at: number };

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  searchIndexes: SearchIndexes;
}

/**
 * Removes deleted chats from the search indexes, and erases indexes once the search is off. No
 * deletion waits for it, because each hit of a search is verified in its chat.
 */
export class SearchCleanup implements DuePart {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A chat was deleted. Called in the commit that deletes its row. */
  chatGone(id: string, life: number, now: number): void {
    if (this.#parts.searchIndexes.numbers().length === 0) return;
    const insert = "insert or replace into search_removals (chat_id, life, deleted_at) values (?, ?, ?)";
    this.#sql.exec(insert, id, life, now);
  }

  dueAt(now: number): number | null {
    if (this.#parts.searchIndexes.toErase().length > 0) return now;
    const query = "select min(deleted_at) as at from search_removals";
    const { at } = this.#sql.exec<{ at: number | null }>(query).one();
    return at === null ? null : at + REMOVE_AFTER_MS;
  }

  /** @throws the first error, after everything that can be done */
  async run(now: number): Promise<void> {
    const failed = [...(await this.#erase()), ...(await this.#removeChats(now))];
    if (failed[0]) throw failed[0].error;
  }

  /** Erases all indexes, because the organization is being deleted. @throws if one can't be erased */
  async eraseAll(): Promise<void> {
    this.#parts.searchIndexes.turnOff();
    const [first] = await this.#erase();
    if (first) throw first.error;
  }

  async #erase(): Promise<Failed<number>[]> {
    const { env, searchIndexes, existence } = this.#parts;
    const failed: Failed<number>[] = [];
    for (const number of searchIndexes.toErase()) {
      const erase = () => callSearchIndex(env, this.#ownerOf(number), (index) => index.erase());
      failed.push(...(await settleEach([number], erase)));
      if (!existence.isReady()) return [];
      // The next run begins with the first one that failed.
      if (failed.length === 0) searchIndexes.erased(number);
    }
    return failed;
  }

  async #removeChats(now: number): Promise<Failed<unknown>[]> {
    const { existence } = this.#parts;
    if (!existence.isReady()) return [];
    const query = `select chat_id as id, life, deleted_at as at from search_removals where deleted_at <= ?
      order by deleted_at limit ?`;
    const gone = this.#sql.exec<GoneChat>(query, now - REMOVE_AFTER_MS, CHATS_A_RUN).toArray();
    return settleEach(gone, async ({ id, life, at }) => {
      await this.#removeChat(id, life);
      const remove = "delete from search_removals where chat_id = ? and deleted_at = ?";
      if (existence.isReady()) this.#sql.exec(remove, id, at);
    });
  }

  /** @throws the first error, after all other indexes have forgotten the chat */
  async #removeChat(id: string, life: number): Promise<void> {
    const { env, searchIndexes } = this.#parts;
    const remove = (number: number) => {
      const owner = this.#ownerOf(number);
      return callSearchIndex(env, owner, (index) => index.removeChat(owner.organizationId, id, life));
    };
    const [first] = await settleEach(searchIndexes.numbers(), remove, undefined, 1);
    if (first) throw first.error;
  }

  #ownerOf(number: number): IndexOwner {
    return { organizationId: this.#parts.existence.id ?? "", number };
  }

  get #sql(): SqlStorage {
    return this.#parts.storage.sql;
  }
}
