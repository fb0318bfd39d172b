import { callOrganization } from "../../../calls/call-organization.ts";
import { callSearchIndex } from "../../../calls/call-search-index.ts";
import type { IndexChange, SearchTargets } from "../../../model/search-index.ts";
import type { DuePart, DueWork } from "../../../platform/object/due-work.ts";
import type { Adoption } from "../identity.ts";
import type { ChatTables } from "../log/chat-tables.ts";
import type { MessageLog } from "../log/message-log.ts";
import { IndexedMessages } from "./indexed-messages.ts";

const KEY = "search";
/** What comes within this time goes to the index in one call. */
const COLLECT_MS = 2_000;
/** A run that feeds more leaves the rest to the next one. */
const MAX_BATCHES = 50;

interface Parts {
  ctx: Pick<DurableObjectState, "waitUntil">;
  env: Env;
  storage: DurableObjectStorage;
  adoption: Pick<Adoption, "identity" | "exists">;
  tables: ChatTables;
  log: Pick<MessageLog, "bounds">;
  due: Pick<DueWork, "standBy">;
}

/** How far the indexes know the chat. */
interface Fed extends SearchTargets {
  /** Messages up to this seq belong to the index `fill`, later ones to `live`. */
  boundary: number;
  /** The indexes have the messages up to this seq … */
  upTo: number;
  /** … and know that those up to this one were deleted. */
  floor: number;
  /** The numbers of the indexes that have something of the chat. */
  indexes: number[];
}

/** What is sent to the indexes in one step. */
interface Batch {
  /** The index of what is said now. */
  target: number;
  change: IndexChange;
  /** The messages up to this seq are known then. */
  upTo: number;
  /** The last of the stored changes that are in it. */
  lastChange: number;
}

/**
 * Sends the chat's messages to the organization's search indexes. It is due work of its own, not a part of a send's commit:
 * an index that does not answer stops no send. Each call can be repeated. The chat stores how far the indexes know it, so
 * nothing is lost with an instance.
 */
export class SearchFeed implements DuePart {
  readonly #parts: Parts;
  readonly #messages: IndexedMessages;
  #copy: Fed | null | undefined;
  /** Since when something waits to be indexed, as this instance knows it, Unix milliseconds. */
  #since: number | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#messages = new IndexedMessages(parts.tables);
  }

  /**
   * The organization's object says where its chats put their messages; null if its search is off. Undefined changes
   * nothing.
   */
  learn(targets: SearchTargets | null | undefined): void {
    const fed = this.#fed();
    if (targets === undefined || !this.#parts.adoption.identity()) return;
    if (targets === null) {
      if (fed) this.#end();
    } else if (fed?.generation !== targets.generation) this.#begin(targets);
    else if (fed.live !== targets.live || fed.fill !== targets.fill) this.#store({ ...fed, ...targets });
  }

  /** The text of a message changed, or went. Called in the commit that changes it. */
  textChanged(seq: number): void {
    if (this.#fed()) this.#messages.noteChange(seq);
  }

  dueAt(now: number): number | null {
    if (!this.#isBehind()) {
      this.#since = undefined;
      return null;
    }
    this.#since = Math.min(this.#since ?? now, now);
    return this.#since + COLLECT_MS;
  }

  async run(now: number): Promise<void> {
    const dueAt = this.dueAt(now);
    if (dueAt !== null && dueAt <= now) await this.#feed();
  }

  /** Indexes what was said so far. @returns whether that is all */
  async fill(targets: SearchTargets): Promise<boolean> {
    this.learn(targets);
    await this.#feed();
    return !this.#isBehind();
  }

  forget(): void {
    this.#copy = undefined;
    this.#since = undefined;
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
      const fed = this.#fed();
      const batch = identity && fed && this.#next(fed, identity);
      if (!batch) return;
      const { target, upTo, change } = batch;
      // Before the call: it may arrive although its answer is lost.
      if (!fed.indexes.includes(target)) this.#store({ ...fed, indexes: [...fed.indexes, target] });
      const isFull = await this.#send(identity.organizationId, fed, batch);
      if (!this.#parts.adoption.exists(identity.life)) return;
      const now = this.#fed();
      if (now?.generation !== fed.generation) return;
      if (isFull === "gone") return this.#end();
      this.#messages.forgetChanges(batch.lastChange);
      this.#store({ ...now, upTo, floor: Math.max(now.floor, change.removeUpTo) });
      if (isFull) await this.#moveOn(identity.organizationId, target);
    }
  }

  /** The next step; null if the indexes know everything. */
  #next(fed: Fed, { chatId, channelId }: { chatId: string; channelId: string }): Batch | null {
    if (!this.#isBehind()) return null;
    const { floor, newest } = this.#parts.log.bounds();
    const low = Math.max(fed.upTo, floor) + 1;
    const isOld = low <= fed.boundary;
    const changed = this.#messages.changed(fed.upTo);
    const added = this.#messages.between(low, isOld ? fed.boundary : newest);
    return {
      target: isOld ? fed.fill : fed.live,
      change: {
        chatId,
        channelId,
        put: [...changed.put, ...added.put],
        remove: changed.remove,
        removeUpTo: floor > fed.floor ? floor : 0,
      },
      upTo: Math.max(added.upTo, low - 1),
      lastChange: changed.last,
    };
  }

  /** @returns whether the index of what is said now is full; "gone" if the search was turned off meanwhile */
  async #send(organizationId: string, { indexes }: Fed, { target, change }: Batch): Promise<boolean | "gone"> {
    const { chatId, channelId, put, remove, removeUpTo } = change;
    const others = indexes.filter((number) => number !== target);
    // What changed may be in another index, with its old text.
    const removal = { chatId, channelId, put: [], remove: [...remove, ...put.map(({ seq }) => seq)], removeUpTo };
    const send = (number: number, what: IndexChange) => {
      const owner = { organizationId, number };
      return callSearchIndex(this.#parts.env, owner, (index) => index.index(owner, what));
    };
    const answers = await Promise.all([send(target, change), ...others.map((number) => send(number, removal))]);
    if (answers.some(({ outcome }) => outcome === "gone")) return "gone";
    const [answer] = answers;
    return answer?.outcome === "ok" && answer.isFull;
  }

  /** Messages go to another index from now on. */
  async #moveOn(organizationId: string, full: number): Promise<void> {
    const { env } = this.#parts;
    this.learn(await callOrganization(env, organizationId, (organization) => organization.searchIndexFull(full)));
  }

  #isBehind(): boolean {
    const fed = this.#fed();
    if (!fed || !this.#parts.adoption.identity()) return false;
    const { floor, newest } = this.#parts.log.bounds();
    const isFloorKnown = floor <= fed.floor || fed.indexes.length === 0;
    return newest > Math.max(fed.upTo, floor) || !isFloorKnown || this.#messages.hasChanges;
  }

  #begin(targets: SearchTargets): void {
    const createdAt = this.#parts.adoption.identity()?.createdAt ?? 0;
    // A new chat says nothing old. In another one, what was said since the search was on is few.
    const boundary = createdAt < targets.begunAt ? this.#parts.log.bounds().newest : 0;
    this.#messages.forgetChanges();
    this.#store({ ...targets, boundary, upTo: 0, floor: 0, indexes: [] });
    this.#parts.ctx.waitUntil(this.#parts.due.standBy());
  }

  #end(): void {
    this.#messages.forgetChanges();
    this.#parts.storage.kv.delete(KEY);
    this.#copy = null;
  }

  #store(fed: Fed): void {
    this.#parts.storage.kv.put(KEY, fed);
    this.#copy = fed;
  }

  #fed(): Fed | null {
    if (this.#copy === undefined) this.#copy = this.#parts.storage.kv.get<Fed>(KEY) ?? null;
    return this.#copy;
  }
}
