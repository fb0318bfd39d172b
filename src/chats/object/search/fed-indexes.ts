import { callOrganization } from "../../../calls/call-organization.ts";
import { callSearchIndex } from "../../../calls/call-search-index.ts";
import type { ChatIdentity } from "../../../model/chat-answers.ts";
import type { IndexAnswer, IndexChange, SearchTargets } from "../../../model/search-index.ts";
import { SYSTEM_CLOCK } from "../../../platform/clock.ts";
import { withDeadline } from "../../../platform/deadline.ts";
import type { DueWork } from "../../../platform/object/due-work.ts";
import type { Adoption } from "../identity.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { IndexedMessages } from "./indexed-messages.ts";

const KEY = "search";
const CALL_TIMEOUT_MS = 30_000;

interface Parts {
  ctx: Pick<DurableObjectState, "waitUntil">;
  env: Env;
  storage: DurableObjectStorage;
  adoption: Pick<Adoption, "identity" | "exists">;
  log: Pick<MessageLog, "bounds">;
  due: Pick<DueWork, "standBy">;
  indexed: IndexedMessages;
}

/** How far the indexes know the chat. */
export interface Fed extends SearchTargets {
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
export interface IndexCall {
  /** The number of the index. */
  number: number;
  change: IndexChange;
}

/**
 * The indexes that have the chat's messages, and the calls to them. The chat stores how far they know it, so nothing is lost
 * with an instance.
 */
export class FedIndexes {
  readonly #parts: Parts;
  #copy: Fed | null | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null while the organization's search is off. */
  get fed(): Fed | null {
    if (this.#copy === undefined) this.#copy = this.#parts.storage.kv.get<Fed>(KEY) ?? null;
    return this.#copy;
  }

  store(fed: Fed): void {
    this.#parts.storage.kv.put(KEY, fed);
    this.#copy = fed;
  }

  forget(): void {
    this.#copy = undefined;
  }

  /** The organization's object says where its chats put their messages. Undefined changes nothing, nor does what is late. */
  learn(targets: SearchTargets | undefined): void {
    const { fed } = this;
    if (!targets || !this.#parts.adoption.identity() || (fed && targets.generation < fed.generation)) return;
    if (!targets.isOn) {
      if (fed) this.#end();
    } else if (fed?.generation !== targets.generation) this.#begin(targets);
    else if (fed.live !== targets.live || fed.fill !== targets.fill) this.store({ ...fed, ...targets });
  }

  #begin(targets: SearchTargets): void {
    const createdAt = this.#parts.adoption.identity()?.createdAt ?? 0;
    const { floor, newest } = this.#parts.log.bounds();
    // A new chat says nothing old. In another one, what was said since the search was on is few.
    const boundary = createdAt < targets.begunAt ? newest : 0;
    this.#parts.indexed.forgetAllChanges();
    this.store({ ...targets, boundary, upTo: 0, floor, indexes: [] });
    this.#parts.ctx.waitUntil(this.#parts.due.standBy());
  }

  #end(): void {
    this.#parts.indexed.forgetAllChanges();
    this.#parts.storage.kv.delete(KEY);
    this.#copy = null;
  }

  /**
   * Sends changes to indexes. Each call can be repeated.
   * @param known stores that the indexes know them
   * @returns false if they know nothing, because the chat was deleted or its search ended or began again meanwhile
   * @throws ApiError `unavailable` if an index does not answer
   */
  async tell({ organizationId, life }: ChatIdentity, calls: IndexCall[], known: (fed: Fed) => void): Promise<boolean> {
    const { fed } = this;
    if (!fed) return false;
    // Before the calls: they may arrive although their answers are lost.
    const added = calls.flatMap(({ number }) => (fed.indexes.includes(number) ? [] : number));
    if (added.length > 0) this.store({ ...fed, indexes: [...fed.indexes, ...added] });
    const answers = await this.#send(organizationId, calls);
    const now = this.#parts.adoption.exists(life) ? this.fed : null;
    if (now?.generation !== fed.generation) return false;
    if (answers.some(({ outcome }) => outcome === "gone")) {
      this.#end();
      return false;
    }
    known(now);
    const full = calls.find(({ change }, at) => change.put.length > 0 && isFull(answers[at]));
    if (full) await this.#moveOn(organizationId, full.number);
    return true;
  }

  async #send(organizationId: string, calls: IndexCall[]): Promise<IndexAnswer[]> {
    let isOver = false;
    const send = ({ number, change }: IndexCall) => {
      const owner = { organizationId, number };
      return callSearchIndex(this.#parts.env, owner, (index) => {
        // `callObject` would repeat a call that was given up. What it says may be gone by then.
        if (isOver) throw new Error("The call was given up");
        return index.index(owner, change);
      });
    };
    try {
      // A call that never ends would hold up all later ones.
      return await withDeadline(SYSTEM_CLOCK, CALL_TIMEOUT_MS, () => Promise.all(calls.map(send)));
    } finally {
      isOver = true;
    }
  }

  /** Messages go to another index from now on. */
  async #moveOn(organizationId: string, full: number): Promise<void> {
    const ask = () =>
      callOrganization(this.#parts.env, organizationId, (organization) => organization.searchIndexFull(full));
    this.learn(await withDeadline(SYSTEM_CLOCK, CALL_TIMEOUT_MS, ask));
  }
}

function isFull(answer: IndexAnswer | undefined): boolean {
  return answer?.outcome === "ok" && answer.isFull;
}

/** A change of a chat in which nothing changes yet. */
export function changeOf({ chatId, life, channelId }: ChatIdentity): IndexChange {
  return { chatId, life, channelId, put: [], remove: [], removeUpTo: 0 };
}
