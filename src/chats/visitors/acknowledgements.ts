import type { MessageLog } from "../log/message-log.ts";
import type { Message } from "../message.ts";
import { type Acknowledged, acknowledge } from "./queries.ts";

/** Up to which number a page acknowledged, for each status. */
type Places = Record<Acknowledged, number>;

/** How many messages are looked at in one go. */
const STEP = 500;
const KEEP_EVERY = 100;

/**
 * How far a web chat's pages have acknowledged its messages. An acknowledgement speaks for all before it, so one walk
 * from the oldest message on is enough, and no message is looked at twice: not the visitor's own either, nor what
 * failed. The walk's place is kept now and then, so that an object that wakes up looks at few messages again.
 */
export class Acknowledgements {
  readonly #storage: DurableObjectStorage;
  readonly #log: MessageLog;
  /** All messages up to here have the status, as far as they can have it. It may lag and is never ahead. */
  #reached: Places | undefined;
  /** Up to where the walk is to go. */
  #wanted: Places = { DELIVERED: 0, READ: 0 };

  constructor(storage: DurableObjectStorage, log: MessageLog) {
    this.#storage = storage;
    this.#log = log;
  }

  /** Whether an acknowledgement says more than those before it did. */
  isNews(seq: number, status: Acknowledged): boolean {
    return seq > Math.max(this.#places()[status], this.#wanted[status]);
  }

  /** Has the walk go up to `seq`, which is a message's number: of those to come nothing is known. */
  want(seq: number, status: Acknowledged): void {
    this.#wanted[status] = Math.max(this.#wanted[status], seq);
  }

  /** Goes on with the walk: the messages that moved, oldest first; null where it is at its end. */
  step(status: Acknowledged, now: number): Message[] | null {
    const before = this.#places();
    const low = before[status] + 1;
    const high = Math.min(this.#wanted[status], before[status] + STEP);
    if (low > high) return null;
    const moved = acknowledge(this.#storage.sql, this.#log, { low, high }, status, now);
    const after = { ...before, [status]: high };
    // What was read was delivered.
    after.DELIVERED = Math.max(after.DELIVERED, after.READ);
    this.#reached = after;
    const isFar = Math.floor(before[status] / KEEP_EVERY) !== Math.floor(high / KEEP_EVERY);
    if (isFar) this.#storage.kv.put("acknowledged", after);
    return moved;
  }

  /** Everything was erased. */
  forget(): void {
    this.#reached = { DELIVERED: 0, READ: 0 };
    this.#wanted = { DELIVERED: 0, READ: 0 };
  }

  #places(): Places {
    this.#reached ??= this.#storage.kv.get<Places>("acknowledged") ?? { DELIVERED: 0, READ: 0 };
    return this.#reached;
  }
}
