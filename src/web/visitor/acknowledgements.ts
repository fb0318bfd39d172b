import type { Conversation, Entry, OwnMessage } from "./conversation.ts";

/** Whether the company's message is not acknowledged as read. */
function isUnread({ message }: Entry): boolean {
  return message.direction === "OUTBOUND" && message.status !== "READ" && message.status !== "FAILED";
}

function isUndelivered(entry: Entry): boolean {
  return isUnread(entry) && entry.message.status !== "DELIVERED";
}

/** The `seq` to acknowledge as delivered: the newest message that isn't yet, or 0. */
export function deliveredUpTo({ entries }: Conversation): number {
  return entries.findLast(isUndelivered)?.message.seq ?? 0;
}

/** The `seq` to acknowledge as read: the newest message that isn't yet, or 0. */
export function readUpTo({ entries }: Conversation): number {
  return entries.findLast(isUnread)?.message.seq ?? 0;
}

/** The number of unread messages of the company after the `seq` in `seen`. */
export function unreadCount({ entries }: Conversation, seen: number): number {
  return entries.filter((entry) => entry.message.seq > seen && isUnread(entry)).length;
}

/** The next message to send. Messages go one at a time, so that the server stores them in order. */
export function nextToSend({ outbox }: Conversation): OwnMessage | undefined {
  return outbox.find(({ seq, trouble }) => seq === null && trouble === null);
}
