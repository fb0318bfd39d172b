/**
 * What the answer of an act shows to a caller who may not read its resource: ids, statuses and times. Everything else is
 * empty, as after a redaction. Otherwise a key could read what it only may write, by a change that changes nothing. What
 * the caller has just written itself is shown.
 */
import type { Principal } from "./caller.ts";
import type { Chat } from "./chat.ts";
import type { ShownMessage } from "./message.ts";
import type { Note } from "./note.ts";
import type { Permission } from "./permission.ts";
import { pick } from "./pick.ts";

/** Who gets an answer. */
export interface Reader {
  permissions: readonly Permission[];
}

/** Whether a caller may see what messages say. */
export function canReadMessages({ permissions }: Reader): boolean {
  return permissions.includes("messages:read");
}

/** A chat in an answer. @param isOwn whether this request created the chat, with its address, name and metadata */
export function shownChat(reader: Reader, chat: Chat, isOwn = false): Chat {
  const lastMessage = canReadMessages(reader) ? chat.lastMessage : null;
  if (reader.permissions.includes("chats:read")) return { ...chat, lastMessage };
  const { id, kind } = chat.channel;
  return {
    id: chat.id,
    channel: { id, kind, name: "" },
    contact: isOwn ? chat.contact : { address: "", name: null, username: null, personId: null, addresses: [] },
    metadata: isOwn ? chat.metadata : {},
    ...pick(chat, "createdAt", "lastMessageAt"),
    lastMessage,
    ...pick(chat, "unansweredSince", "nextScheduledAt", "readUpTo", "assigneeId", "replyUntil", "marketing"),
    ...pick(chat, "state", "snoozedUntil", "handler"),
    labels: chat.labels.map(({ id: labelId }) => ({ id: labelId, name: "" })),
  };
}

const WITHHELD = "Not shown without the permission messages:read";

/** A message in an answer, as JSON. */
export function shownMessage(reader: Reader, doc: string): string {
  if (canReadMessages(reader)) return doc;
  const message = JSON.parse(doc) as ShownMessage;
  const shown: ShownMessage = {
    ...pick(message, "id", "chatId", "seq", "direction", "type"),
    content: "",
    mediaUrl: null,
    ...pick(message, "senderId", "templateId"),
    variables: null,
    text: "",
    status: message.status,
    error: withoutWords(message),
    metadata: {},
    ...pick(message, "createdAt", "updatedAt", "sentAt", "deliveredAt", "readAt", "failedAt", "scheduledAt"),
    ...pick(message, "expiresAt", "resendOf", "replyTo", "networkTime", "editedAt", "deletedAt", "redactedAt"),
  };
  return JSON.stringify(shown);
}

/**
 * The message of a send, as JSON: what the caller wrote is shown. A repeated send shows nothing that came later but the
 * status and its times. The content is the caller's own there too, because the request must be the same.
 */
export function shownSend(reader: Reader, { doc, replayed }: { doc: string; replayed: boolean }): string {
  if (!replayed || canReadMessages(reader)) return doc;
  const message = JSON.parse(doc) as ShownMessage;
  return JSON.stringify({ ...message, error: withoutWords(message), reactions: undefined, price: undefined });
}

/** A note in an answer, as JSON: a caller's own is shown. @param isSaid whether the request says what the note says */
export function shownNote(reader: Reader & { principal: Principal }, doc: string, isSaid = false): string {
  if (reader.permissions.includes("notes:read")) return doc;
  const note = JSON.parse(doc) as Note;
  const { type, id } = note.author;
  if (type === reader.principal.type && id === reader.principal.id) return doc;
  return JSON.stringify({ ...note, author: { type, id, name: "" }, content: isSaid ? note.content : "" });
}

/** An error with its code but without the network's text, which may quote the message or the contact. */
function withoutWords({ error }: ShownMessage): ShownMessage["error"] {
  return error && { code: error.code, message: WITHHELD };
}
