import { deliveredUpTo, readUpTo, unreadCount } from "./acknowledgments.ts";
import type { Conversation } from "./conversation.ts";

type Acknowledgment = { type: "delivered" | "read"; seq: number };

/** Acknowledges the company's messages once on each connection, and counts the unread ones. */
export class Acknowledger {
  /** Whether the visitor sees the messages. Only visible messages are acknowledged as read. */
  isVisible = false;
  #deliveredSent = 0;
  #readSent = 0;
  /** The `seq` up to which the visitor has seen the messages. */
  #seen = 0;

  /** Begins a connection. */
  start(conversation: Conversation): void {
    this.#deliveredSent = 0;
    this.#readSent = 0;
    // Without entries, `#seen` belongs to a deleted chat.
    if (conversation.entries.length === 0) this.#seen = 0;
  }

  /** @returns what to send that was not sent on this connection */
  next(conversation: Conversation): Acknowledgment[] {
    const acknowledgments: Acknowledgment[] = [];
    const delivered = deliveredUpTo(conversation);
    if (delivered > this.#deliveredSent) {
      this.#deliveredSent = delivered;
      acknowledgments.push({ type: "delivered", seq: delivered });
    }
    const read = this.isVisible ? readUpTo(conversation) : 0;
    if (read > this.#readSent) {
      this.#readSent = read;
      acknowledgments.push({ type: "read", seq: read });
    }
    return acknowledgments;
  }

  /** How many messages are unread. A visible page has seen all that it shows. */
  unreadIn(conversation: Conversation): number {
    if (this.isVisible) this.#seen = Math.max(this.#seen, readUpTo(conversation));
    return unreadCount(conversation, this.#seen);
  }
}
