import type { ChatIdentity } from "../../../model/chat-answers.ts";
import type { SearchTargets } from "../../../model/search-index.ts";
import type { DuePart } from "../../../platform/object/due-work.ts";
import type { Adoption } from "../identity.ts";
import type { MessageLog } from "../log/message-log.ts";
import { CollectedWork } from "./collected-work.ts";
import { changeOf, type Fed, type FedIndexes } from "./fed-indexes.ts";
import type { IndexedMessages } from "./indexed-messages.ts";

/** A run that feeds more leaves the rest to the next one. */
const MAX_BATCHES = 50;

interface Parts {
  adoption: Pick<Adoption, "identity">;
  log: Pick<MessageLog, "bounds">;
  indexes: FedIndexes;
  indexed: IndexedMessages;
}

/**
 * Sends the chat's messages to the organization's search indexes. It is due work of its own, not a part of a send's commit:
 * an index that does not answer stops no send.
 */
export class SearchFeed implements DuePart {
  readonly #parts: Parts;
  readonly #collected = new CollectedWork(() => this.#isBehind());
  #running: Promise<void> | undefined;
  #isSending = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether messages are on their way to an index. */
  get isSending(): boolean {
    return this.#isSending;
  }

  dueAt(now: number): number | null {
    return this.#collected.dueAt(now);
  }

  async run(now: number): Promise<void> {
    if (this.#collected.isDue(now)) await this.#feed();
  }

  /** Indexes what was said so far. @returns whether that is all */
  async fill(targets: SearchTargets): Promise<boolean> {
    this.#parts.indexes.learn(targets);
    await this.#feed();
    return !this.#isBehind();
  }

  forget(): void {
    this.#collected.forget();
  }

  #feed(): Promise<void> {
    this.#running ??= this.#feedAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #feedAll(): Promise<void> {
    for (let batches = 0; batches < MAX_BATCHES; batches++) {
      const identity = this.#parts.adoption.identity();
      const { fed } = this.#parts.indexes;
      if (!identity || !fed || !this.#isBehind() || !(await this.#feedNext(fed, identity))) return;
    }
  }

  /** Sends the next messages. @returns whether they are known */
  async #feedNext(fed: Fed, identity: ChatIdentity): Promise<boolean> {
    const { indexes, indexed, log } = this.#parts;
    const { floor, newest } = log.bounds();
    const from = Math.max(fed.upTo, floor) + 1;
    const isOld = from <= fed.boundary;
    const { put, upTo } = indexed.between(from, isOld ? fed.boundary : newest);
    const call = { number: isOld ? fed.fill : fed.live, change: { ...changeOf(identity), put } };
    this.#isSending = true;
    try {
      return await indexes.tell(identity, put.length > 0 ? [call] : [], (now) => indexes.store({ ...now, upTo }));
    } finally {
      this.#isSending = false;
    }
  }

  #isBehind(): boolean {
    const { fed } = this.#parts.indexes;
    if (!fed || !this.#parts.adoption.identity()) return false;
    const { floor, newest } = this.#parts.log.bounds();
    return newest > Math.max(fed.upTo, floor);
  }
}
