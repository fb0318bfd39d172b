import { DurableObject } from "cloudflare:workers";
import type {
  CandidatesAnswer,
  CandidatesAsked,
  IndexAnswer,
  IndexChange,
  IndexOwner,
} from "../../model/search-index.ts";
import { ErasableKv } from "../../platform/object/erasable-kv.ts";
import { prepareSchema } from "../../platform/object/schema-steps.ts";
import { CandidatePages } from "./candidate-pages.ts";
import { GramTables, type IndexLimits } from "./gram-tables.ts";
import { MessageTable } from "./message-table.ts";
import { INDEX_SCHEMA } from "./schema.ts";
import { SharedCommits } from "./shared-commits.ts";

const LIMITS: IndexLimits = {
  tableMessages: 100_000,
  tableWeight: 15_000_000,
  messages: 1_000_000,
  bytes: 1_000_000_000,
};
const GONE: IndexAnswer = { outcome: "gone" };

/** What works on the object's tables. Deleting the index drops it. */
interface Parts {
  grams: GramTables;
  messages: MessageTable;
  commits: SharedCommits;
  pages: CandidatePages;
}

/**
 * An index of an organization's messages: it finds those that may contain a text. It has no texts, but their grams. It
 * belongs to the organization that first feeds it.
 */
export class SearchIndexObject extends DurableObject<Env> {
  readonly #kv = new ErasableKv(this.ctx.storage);
  #parts: Parts | undefined;

  /** Tests have smaller ones. */
  static get limits(): IndexLimits {
    return LIMITS;
  }

  /** Takes what changed in a chat. Calls at the same time share a commit. An index that is full takes it, too. */
  async index({ organizationId }: IndexOwner, change: IndexChange): Promise<IndexAnswer> {
    const parts = this.#of(organizationId) ?? this.#begin(organizationId);
    if (!parts || !(await parts.commits.do(change.chatId, parts.messages.change(change)))) return GONE;
    const { isFull } = parts.grams;
    await this.#releaseIfEmpty(parts);
    return { outcome: "ok", isFull };
  }

  /** A page of the messages that may contain a text. */
  async candidates(organizationId: string, asked: CandidatesAsked): Promise<CandidatesAnswer> {
    const parts = this.#of(organizationId);
    return parts ? parts.pages.read(asked) : { candidates: [], hasMore: false };
  }

  /** Removes the messages of a deleted chat. A later life of it stays. */
  async removeChat(organizationId: string, chatId: string, life: number): Promise<void> {
    const parts = this.#of(organizationId);
    if (parts && (await parts.commits.do(chatId, parts.messages.removeChat(chatId, life))))
      await this.#releaseIfEmpty(parts);
  }

  /** Deletes the index permanently. A mark stays, so that a late call stores nothing. */
  async erase(): Promise<void> {
    const parts = this.#parts;
    this.#parts = undefined;
    parts?.commits.drop();
    await this.#kv.erase();
  }

  /** Gives back the storage of an index that has lost all messages: a database never shrinks. */
  async #releaseIfEmpty(parts: Parts): Promise<void> {
    if (parts !== this.#parts || !parts.commits.isIdle || !parts.grams.areMany || !parts.messages.isEmpty) return;
    this.#parts = undefined;
    await this.ctx.storage.deleteAll();
  }

  /** The parts of an index of this organization; undefined if there is none. */
  #of(organizationId: string): Parts | undefined {
    if (this.#kv.get("organization") !== organizationId) return undefined;
    if (!this.#parts) prepareSchema(this.ctx.storage, INDEX_SCHEMA);
    this.#parts ??= this.#open();
    return this.#parts;
  }

  /** The same for its first message; undefined if the index is another organization's, or was erased. */
  #begin(organizationId: string): Parts | undefined {
    if (this.#kv.get("organization") !== undefined || this.#kv.isErased) return undefined;
    this.#kv.put("organization", organizationId);
    return this.#of(organizationId);
  }

  #open(): Parts {
    const { storage } = this.ctx;
    const { sql } = storage;
    const grams = new GramTables(storage, () => SearchIndexObject.limits);
    const messages = new MessageTable(sql, grams);
    const transaction = (writes: () => void) => {
      try {
        grams.prepare();
        storage.transactionSync(() => {
          writes();
          grams.endCommit();
        });
      } catch (error) {
        grams.forget();
        throw error;
      }
    };
    const commits = new SharedCommits(transaction, (work) => this.ctx.waitUntil(work));
    const parts: Parts = {
      grams,
      messages,
      commits,
      pages: new CandidatePages(sql, grams, () => this.#parts === parts),
    };
    return parts;
  }
}
