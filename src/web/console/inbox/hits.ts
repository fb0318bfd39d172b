import type { FollowedEvent } from "../../../client/event.ts";
import { isRemoved } from "../../shared/message/extras.ts";
import type { Member, Message, Schemas } from "../api.ts";
import { contactName } from "../names.ts";
import { memberName } from "./assignee.tsx";
import { OUR_SIDE } from "./bubble.tsx";

/** A message that a search over all chats found. */
export interface Hit {
  message: Message;
  chat: Schemas["FoundChat"];
  /** The cursor of its page. Each page has groups of its own, so what was shown stays where it is. */
  page: string;
}

/** Hits by their chat, in the order of the newest of each. */
export function groupsOf(hits: readonly Hit[]): [Hit, ...Hit[]][] {
  const groups = new Map<string, [Hit, ...Hit[]]>();
  for (const hit of hits) {
    const key = `${hit.page} ${hit.chat.id}`;
    const group = groups.get(key);
    if (group) group.push(hit);
    else groups.set(key, [hit]);
  }
  return [...groups.values()];
}

/** Hits after something happened in a chat: what was deleted or redacted is shown no longer. */
export function hitsAfter(hits: readonly Hit[], { type, chatId, data: { message } }: FollowedEvent): Hit[] {
  if (type === "chat.deleted") return hits.filter(({ chat }) => chat.id !== chatId);
  if (!message) return [...hits];
  const changed = hits.map((hit) => (hit.message.id === message.id ? { ...hit, message } : hit));
  return changed.filter((hit) => hit.message !== message || !isRemoved(message));
}

/** Who wrote a message. */
export function writerOf({ message, chat }: Pick<Hit, "message" | "chat">, members: readonly Member[]): string {
  const { direction, senderId, author } = message;
  if (senderId !== null) return memberName(senderId, members);
  return author?.name ?? (direction === "INBOUND" ? contactName(chat) : OUR_SIDE);
}
