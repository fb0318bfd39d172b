import type { Message } from "../../../model/message.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { StatusChange } from "../message-status.ts";
import type { StoredParts } from "./parts.ts";
import type { Delivery, DeliveryError } from "./retry.ts";
import { type DeliveryKnown, printDelivery, type QueuedMessage, queuedMessage } from "./row.ts";

/** The state of each message's delivery. The message log stores it as JSON, which this parses and prints. */
export class DeliveryLog {
  readonly messages: MessageLog;

  constructor(messages: MessageLog) {
    this.messages = messages;
  }

  /** See `QueueIndex.head`. */
  head(): QueuedMessage | null {
    const row = this.messages.queue.head();
    return row && queuedMessage(row);
  }

  /** See `MessageLog.delivered`. */
  delivered(seq: number): QueuedMessage | null {
    const row = this.messages.delivered(seq);
    return row && queuedMessage(row);
  }

  /** Writes the state of a message's delivery. */
  writeDelivery(seq: number, delivery: Delivery, parts: StoredParts, lastError: DeliveryError | null): void {
    this.messages.writeDelivery(seq, printDelivery({ delivery, parts, lastError }));
  }

  /** Writes a message's new status or error, and the state of its delivery if that changed too. */
  writeStatus(message: Message, change: StatusChange, known?: DeliveryKnown): void {
    this.messages.writeStatus(message, change, known && printDelivery(known));
  }

  /** See `QueueExpiry.expiredBy`. */
  expiredBy(now: number, after: number): QueuedMessage[] {
    return this.messages.queue.expiry.expiredBy(now, after).map(queuedMessage);
  }
}
