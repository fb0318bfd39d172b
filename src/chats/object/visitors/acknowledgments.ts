import type { Message } from "../../../model/message.ts";
import type { ChatTables, LateTable } from "../log/chat-tables.ts";
import type { MessageLog } from "../log/message-log.ts";
import { type Acknowledged, acknowledge } from "./queries.ts";

/** A seq for each status. */
type Progress = Record<Acknowledged, number>;

/** The maximum number of messages in one step. */
const STEP_SIZE = 500;
const SAVE_EVERY = 100;

/**
 * How far a web chat's pages have acknowledged its messages. An acknowledgment covers all earlier messages, so each
 * status moves through the sequence once, from the oldest message on, and looks at no message twice. The progress is
 * saved now and then, so that an object that wakes up repeats little.
 */
export class Acknowledgments {
  readonly #storage: DurableObjectStorage;
  readonly #messages: LateTable;
  readonly #log: MessageLog;
  /** All messages up to here were updated. It may lag behind, but is never ahead. */
  #done: Progress | undefined;
  /** All messages up to here must be updated. */
  #target: Progress = { DELIVERED: 0, READ: 0 };

  constructor(storage: DurableObjectStorage, { messages }: ChatTables, log: MessageLog) {
    this.#storage = storage;
    this.#messages = messages;
    this.#log = log;
  }

  /** Whether an acknowledgment covers more messages than all earlier ones. */
  isNew(seq: number, status: Acknowledged): boolean {
    return seq > Math.max(this.#progress()[status], this.#target[status]);
  }

  /** Requests the update of all messages up to `seq`, which must be the number of a stored message. */
  request(seq: number, status: Acknowledged): void {
    this.#target[status] = Math.max(this.#target[status], seq);
  }

  /** Updates the next messages. @returns those that changed, oldest first; null if nothing is left to update */
  step(status: Acknowledged, now: number): Message[] | null {
    const before = this.#progress();
    const low = Math.max(before[status], this.#log.floor.seq) + 1;
    const high = Math.min(this.#target[status], low + STEP_SIZE - 1);
    if (low > high) return null;
    const changed = acknowledge(this.#messages, this.#log, { low, high }, status, now);
    const after = { ...before, [status]: high };
    // A read message is delivered too.
    after.DELIVERED = Math.max(after.DELIVERED, after.READ);
    this.#done = after;
    const isSaved = Math.floor(before[status] / SAVE_EVERY) !== Math.floor(high / SAVE_EVERY);
    if (isSaved) this.#storage.kv.put("acknowledged", after);
    return changed;
  }

  forget(): void {
    this.#done = { DELIVERED: 0, READ: 0 };
    this.#target = { DELIVERED: 0, READ: 0 };
  }

  #progress(): Progress {
    this.#done ??= this.#storage.kv.get<Progress>("acknowledged") ?? { DELIVERED: 0, READ: 0 };
    return this.#done;
  }
}
