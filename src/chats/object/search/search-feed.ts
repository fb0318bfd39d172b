import { callOrganization } from "../../../calls/call-organization.ts";
import { callSearchIndex } from "../../../calls/call-search-index.ts";
import type { ChatIdentity } from "../../../model/chat-answers.ts";
import type { IndexAnswer, IndexChange, SearchTargets } from "../../../model/search-index.ts";
import { SYSTEM_CLOCK } from "../../../platform/clock.ts";
import { withDeadline } from "../../../platform/deadline.ts";
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
const CALL_TIMEOUT_MS = 30_000;

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

/** What is sent to an index. */
interface Call {
  /** The number of the index. */
  number: number;
  change: IndexChange;
}

/** What is sent to the indexes in one step. */
interface Batch extends Pick<Fed, "upTo" | "floor"> {
  calls: Call[];
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

  /** The organization's object says where its chats put their messages. Undefined changes nothing, nor does what is late. */
  learn(targets: SearchTargets | undefined): void {
    const fed = this.#fed();
    if (!targets || !this.#parts.adoption.identity() || (fed && targets.generation < fed.generation)) return;
    if (!targets.isOn) {
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
      const { calls, upTo, floor, lastChange } = batch;
      // Before the calls: they may arrive although their answers are lost.
      const added = calls.flatMap(({ number }) => (fed.indexes.includes(number) ? [] : number));
      if (added.length > 0) this.#store({ ...fed, indexes: [...fed.indexes, ...added] });
      const answers = await this.#send(identity.organizationId, calls);
      if (!this.#parts.adoption.exists(identity.life)) return;
      const now = this.#fed();
      if (now?.generation !== fed.generation) return;
      if (answers.some(({ outcome }) => outcome === "gone")) return this.#end();
      this.#messages.forgetChanges(lastChange);
      this.#store({ ...now, upTo, floor });
      const full = calls.find(({ change }, at) => change.put.length > 0 && isFull(answers[at]));
      if (full) await this.#moveOn(identity.organizationId, full.number);
    }
  }

  /** The next step; null if the indexes know everything. */
  #next(fed: Fed, identity: ChatIdentity): Batch | null {
    if (!this.#isBehind()) return null;
    const { floor, newest } = this.#parts.log.bounds();
    const upTo = Math.max(fed.upTo, floor);
    return newest > upTo ? this.#added(fed, identity, upTo, newest) : this.#changed(fed, identity, upTo, floor);
  }

  /** Messages after `upTo`. They come before the changes, so they don't wait for an index that has older ones. */
  #added(fed: Fed, identity: ChatIdentity, upTo: number, newest: number): Batch {
    const isOld = upTo < fed.boundary;
    const added = this.#messages.between(upTo + 1, isOld ? fed.boundary : newest);
    const change = { ...changeOf(identity), put: added.put };
    const calls = added.put.length > 0 ? [{ number: isOld ? fed.fill : fed.live, change }] : [];
    return { calls, upTo: added.upTo, floor: fed.floor, lastChange: 0 };
  }

  /** What changed, and what was deleted. All indexes learn it that may have it. */
  #changed(fed: Fed, identity: ChatIdentity, upTo: number, floor: number): Batch {
    const { seqs, put, last } = this.#messages.changed();
    const removal = { ...changeOf(identity), remove: seqs, removeUpTo: floor > fed.floor ? floor : 0 };
    const textless = seqs.filter((seq) => !put.some((message) => message.seq === seq));
    const others = fed.indexes.filter((number) => number !== fed.live || put.length === 0);
    const calls: Call[] = others.map((number) => ({ number, change: removal }));
    if (put.length > 0) calls.push({ number: fed.live, change: { ...removal, remove: textless, put } });
    return { calls, upTo, floor: Math.max(fed.floor, floor), lastChange: last };
  }

  #send(organizationId: string, calls: Call[]): Promise<IndexAnswer[]> {
    const send = ({ number, change }: Call) => {
      const owner = { organizationId, number };
      return callSearchIndex(this.#parts.env, owner, (index) => index.index(owner, change));
    };
    // A call that never ends would hold up all later ones.
    return withDeadline(SYSTEM_CLOCK, CALL_TIMEOUT_MS, () => Promise.all(calls.map(send)));
  }

  /** Messages go to another index from now on. */
  async #moveOn(organizationId: string, full: number): Promise<void> {
    const ask = () =>
      callOrganization(this.#parts.env, organizationId, (organization) => organization.searchIndexFull(full));
    this.learn(await withDeadline(SYSTEM_CLOCK, CALL_TIMEOUT_MS, ask));
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

function isFull(answer: IndexAnswer | undefined): boolean {
  return answer?.outcome === "ok" && answer.isFull;
}

/** A change of a chat in which nothing changes yet. */
function changeOf({ chatId, life, channelId }: ChatIdentity): IndexChange {
  return { chatId, life, channelId, put: [], remove: [], removeUpTo: 0 };
}
