import type { ChatIdentity } from "../../../model/chat-answers.ts";
import type { DuePart } from "../../../platform/object/due-work.ts";
import type { Adoption } from "../identity.ts";
import type { MessageLog } from "../log/message-log.ts";
import { CollectedWork } from "./collected-work.ts";
import { changeOf, type Fed, type FedIndexes, type IndexCall } from "./fed-indexes.ts";
import type { IndexedMessages } from "./indexed-messages.ts";
import type { SearchFeed } from "./search-feed.ts";

/** A run that sends more leaves the rest to the next one. */
const MAX_BATCHES = 50;
/** The seqs of deleted messages that a step tells: in the index, the chat's new messages wait for the step. */
const MAX_DELETED = 5_000;

interface Parts {
  adoption: Pick<Adoption, "identity">;
  log: Pick<MessageLog, "bounds">;
  indexes: FedIndexes;
  indexed: IndexedMessages;
  search: Pick<SearchFeed, "isSending">;
}

/**
 * Tells the search indexes which messages were deleted, or have another text or none. All indexes learn it that may have
 * them, so it waits for each. New messages do not wait for it: they are sent by `SearchFeed`.
 */
export class SearchCorrections implements DuePart {
  readonly #parts: Parts;
  readonly #collected = new CollectedWork(() => this.#isBehind());
  #running: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The text of a message changed, or went. Called in the commit that changes it. */
  textChanged(seq: number): void {
    if (this.#parts.indexes.fed) this.#parts.indexed.noteChange(seq);
  }

  dueAt(now: number): number | null {
    return this.#collected.dueAt(now);
  }

  async run(now: number): Promise<void> {
    if (!this.#collected.isDue(now)) return;
    // `DueWork` begins another run if one takes minutes.
    this.#running ??= this.#correctAll().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  forget(): void {
    this.#collected.forget();
  }

  async #correctAll(): Promise<void> {
    for (let batches = 0; batches < MAX_BATCHES; batches++) {
      const identity = this.#parts.adoption.identity();
      const { fed } = this.#parts.indexes;
      if (!identity || !fed || !this.#isBehind() || !(await this.#correctNext(fed, identity))) return;
    }
  }

  /** Sends the next corrections. @returns whether they are known */
  #correctNext(fed: Fed, identity: ChatIdentity): Promise<boolean> {
    const { indexes, indexed } = this.#parts;
    const { floor, upTo } = this.#known(fed);
    const { seqs, put, last } = indexed.changed(upTo);
    const removal = { ...changeOf(identity), remove: seqs, removeUpTo: floor > fed.floor ? floor : 0 };
    const textless = seqs.filter((seq) => !put.some((message) => message.seq === seq));
    const others = fed.indexes.filter((number) => number !== fed.live || put.length === 0);
    const calls: IndexCall[] = others.map((number) => ({ number, change: removal }));
    if (put.length > 0) calls.push({ number: fed.live, change: { ...removal, remove: textless, put } });
    return indexes.tell(identity, calls, (now) => {
      indexed.forgetChanges(last, upTo);
      indexes.store({ ...now, floor });
    });
  }

  /**
   * Which messages can be corrected: those up to a seq, and of them those that were deleted. One that is on its way to an
   * index may arrive after its correction, so later ones wait until `SearchFeed` has sent them.
   */
  #known(fed: Fed): Pick<Fed, "upTo" | "floor"> {
    const { floor } = this.#parts.log.bounds();
    const upTo = this.#parts.search.isSending ? fed.upTo : Math.max(fed.upTo, floor);
    return { upTo, floor: Math.max(fed.floor, Math.min(floor, upTo, fed.floor + MAX_DELETED)) };
  }

  #isBehind(): boolean {
    const { fed } = this.#parts.indexes;
    if (!fed || !this.#parts.adoption.identity()) return false;
    const { upTo, floor } = this.#known(fed);
    return (fed.indexes.length > 0 && floor > fed.floor) || this.#parts.indexed.hasChanges(upTo);
  }
}
