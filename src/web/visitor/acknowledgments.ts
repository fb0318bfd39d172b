import type { Conversation, Entry, OwnMessage } from "./conversation.ts";
import type { ChatMessage } from "./frames.ts";

/** Whether the company's message is not acknowledged as read. */
function isUnread({ message }: Entry): boolean {
  return message.direction === "OUTBOUND" && message.status !== "READ" && message.status !== "FAILED";
}

/**
 * The newest message of the company that was not refused. An acknowledgment covers all earlier messages, so its status
 * is enough: if a connection breaks, the page may never get the statuses of the earlier ones.
 */
function newest({ entries }: Conversation): ChatMessage | undefined {
  return entries.findLast(({ message }) => message.direction === "OUTBOUND" && message.status !== "FAILED")?.message;
}

/** The `seq` to acknowledge as delivered, or 0 if all messages are. */
export function deliveredUpTo(conversation: Conversation): number {
  const message = newest(conversation);
  return !message || message.status === "DELIVERED" || message.status === "READ" ? 0 : message.seq;
}

/** The `seq` to acknowledge as read, or 0 if all messages are. */
export function readUpTo(conversation: Conversation): number {
  const message = newest(conversation);
  return !message || message.status === "READ" ? 0 : message.seq;
}

/** The number of unread messages of the company after the `seq` in `seen`. */
export function unreadCount({ entries }: Conversation, seen: number): number {
  return entries.filter((entry) => entry.message.seq > seen && isUnread(entry)).length;
}

/** The next message to send. Messages go one at a time, so that the server stores them in order. */
export function nextToSend({ outbox }: Conversation): OwnMessage | undefined {
  return outbox.find(({ seq, trouble }) => seq === null && trouble === null);
}
