import type { Message } from "../../message.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { StatusChange } from "../message-status.ts";
import type { StoredParts } from "./parts.ts";
import type { Delivery, DeliveryError } from "./retry.ts";
import { type DeliveryKnown, printDelivery, type QueuedMessage, queuedMessage } from "./row.ts";

/** The message log, as delivery uses it. The log stores the state of a delivery as JSON, which this parses and prints. */
export class DeliveryLog {
  readonly #log: MessageLog;

  constructor(log: MessageLog) {
    this.#log = log;
  }

  /** See `QueueIndex.head`. */
  head(): QueuedMessage | null {
    const row = this.#log.queue.head();
    return row && queuedMessage(row);
  }

  /** See `MessageLog.delivered`. */
  delivered(seq: number): QueuedMessage | null {
    const row = this.#log.delivered(seq);
    return row && queuedMessage(row);
  }

  /** Writes the state of a message's delivery. */
  writeDelivery(seq: number, delivery: Delivery, parts: StoredParts, lastError: DeliveryError | null): void {
    this.#log.writeDelivery(seq, printDelivery({ delivery, parts, lastError }));
  }

  /** Writes a message's new status or error, and the state of its delivery if that changed too. */
  writeStatus(message: Message, change: StatusChange, known?: DeliveryKnown): void {
    this.#log.writeStatus(message, change, known && printDelivery(known));
  }

  /** Fails messages of the queue, all or none. @param at Unix milliseconds */
  failQueued(messages: Message[], error: DeliveryError, at: number): void {
    this.#log.failQueued(messages, error, at);
  }

  /** See `QueueExpiry.earliest`. */
  earliestExpiry(): number | null {
    return this.#log.queue.expiry.earliest();
  }

  /** See `QueueExpiry.expiredBy`. */
  expiredBy(now: number, after: number): QueuedMessage[] {
    return this.#log.queue.expiry.expiredBy(now, after).map(queuedMessage);
  }

  /** See `QueueExpiry.passed`. */
  expiriesPassed(now: number): void {
    this.#log.queue.expiry.passed(now);
  }

  byId(id: string): { seq: number } | null {
    return this.#log.byId(id);
  }

  byNetworkId(networkId: string): { seq: number } | null {
    return this.#log.byNetworkId(networkId);
  }

  isRedacted(seq: number): boolean {
    return this.#log.isRedacted(seq);
  }

  depth(): number {
    return this.#log.queue.depth();
  }

  leftQueue(seq: number): void {
    this.#log.queue.left(seq);
  }

  saveQueueFloor(): void {
    this.#log.queue.saveFloor();
  }
}
