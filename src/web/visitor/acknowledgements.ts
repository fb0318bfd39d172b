import type { Conversation, Entry, OwnMessage } from "./conversation.ts";

/** A company's message that nobody has confirmed to be read. */
function isUnread({ message }: Entry): boolean {
  return message.direction === "OUTBOUND" && message.status !== "READ" && message.status !== "FAILED";
}

function isUndelivered(entry: Entry): boolean {
  return isUnread(entry) && entry.message.status !== "DELIVERED";
}

/** The number up to which this page has received what the server still counts as not delivered, or 0. */
export function deliveredUpTo({ entries }: Conversation): number {
  return entries.findLast(isUndelivered)?.message.seq ?? 0;
}

/** The number up to which the visitor has seen what the server still counts as unread, or 0. */
export function readUpTo({ entries }: Conversation): number {
  return entries.findLast(isUnread)?.message.seq ?? 0;
}

/** How many of the company's messages after `seen` nobody has read. */
export function unreadCount({ entries }: Conversation, seen: number): number {
  return entries.filter((entry) => entry.message.seq > seen && isUnread(entry)).length;
}

/** The message whose turn it is: one at a time, so that they are stored in the order in which they were written. */
export function nextToSend({ outbox }: Conversation): OwnMessage | undefined {
  return outbox.find(({ seq, trouble }) => seq === null && trouble === null);
}
