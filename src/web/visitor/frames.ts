/** The frames of the visitors' socket, and the parser of the server's frames. */

import type { Trouble } from "../shared/files/repeat-upload.ts";
import { type MessageExtras, readExtras } from "../shared/message/extras.ts";

type MessageType = "TEXT" | "IMAGE" | "DOCUMENT" | "AUDIO" | "VIDEO" | "TEMPLATE";
type MessageStatus = "QUEUED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "RECEIVED";

/** The shown fields of a message. `seq` counts a chat's messages from 1, without a gap. */
export interface ChatMessage extends MessageExtras {
  id: string;
  seq: number;
  /** INBOUND is from the visitor. */
  direction: "OUTBOUND" | "INBOUND";
  type: MessageType;
  content: string;
  /** The filled template, else `content`. Empty after redaction. */
  text: string;
  mediaUrl: string | null;
  status: MessageStatus;
  createdAt: string;
}

export interface ReadyFrame {
  type: "ready";
  chatId: string | null;
  /** The messages after `after`, oldest first, at most 100. */
  messages: ChatMessage[];
  /** The `seq` of the chat's newest message; 0 in an empty chat. */
  lastSeq: number;
  /** The number of the chat's newest event, or null if the server names none. */
  events: number | null;
  /** What the server understands. */
  features: string[];
}

export interface RefusalFrame extends Trouble {
  type: "refused";
  id: string;
}

export type IncomingFrame =
  | ReadyFrame
  | RefusalFrame
  /** The messages before the requested `seq`, oldest first, at most 100. */
  | { type: "older"; messages: ChatMessage[] }
  | { type: "message"; message: ChatMessage }
  /** A message that has changed, which the page may not have. */
  | { type: "updated"; message: ChatMessage }
  /** Too much has changed. `ready` follows, with the newest messages. */
  | { type: "reset" }
  /** The company is writing. `name`: of the person, or null. */
  | { type: "typing"; name: string | null }
  /** The company has read the visitor's messages up to this one. */
  | { type: "read"; seq: number }
  | { type: "stored"; id: string; messageId: string; seq: number }
  | { type: "status"; seq: number; status: MessageStatus }
  | { type: "pong" };

export type OutgoingFrame =
  | { type: "message"; id: string; content: string; choice?: string; replyTo?: string; mediaId?: string }
  | { type: "reaction"; seq: number; emoji: string | null }
  | { type: "typing" }
  | { type: "contact"; name?: string; email?: string; anonymousToken?: string }
  | { type: "delivered"; seq: number }
  | { type: "read"; seq: number }
  | { type: "older"; before: number }
  | { type: "ping" };

/** The longest message, in UTF-16 units. */
export const MAX_LENGTH = 4_096;

type Fields = Record<string, unknown>;

/** Parses a frame of the server. Returns null for unknown frames, which a newer server may send. */
export function parseFrame(data: unknown): IncomingFrame | null {
  const frame = typeof data === "string" ? parse(data) : null;
  switch (frame?.type) {
    case "ready":
      return readReady(frame);
    case "older":
      return { type: "older", messages: readMessages(frame.messages) };
    case "message":
    case "updated": {
      const message = readMessage(frame.message);
      return message && { type: frame.type, message };
    }
    case "stored":
      return readStored(frame);
    case "status":
      return isSeq(frame.seq) && isText(frame.status)
        ? { type: "status", seq: frame.seq, status: frame.status as MessageStatus }
        : null;
    case "refused":
      return readRefused(frame);
    case "typing":
      return { type: "typing", name: nameOf(frame.sender) };
    case "read":
      return isSeq(frame.seq) ? { type: "read", seq: frame.seq } : null;
    case "reset":
    case "pong":
      return { type: frame.type };
    default:
      return null;
  }
}

function readReady(frame: Fields): ReadyFrame | null {
  if (!Array.isArray(frame.messages)) return null;
  const messages = readMessages(frame.messages);
  const chatId = isText(frame.chatId) ? frame.chatId : null;
  // Without `lastSeq`, the last message of the frame is the newest.
  const lastSeq = isSeq(frame.lastSeq) ? frame.lastSeq : (messages.at(-1)?.seq ?? 0);
  const features = Array.isArray(frame.features) ? frame.features.filter(isText) : [];
  return { type: "ready", chatId, messages, lastSeq, events: isSeq(frame.events) ? frame.events : null, features };
}

function readMessages(values: unknown): ChatMessage[] {
  return Array.isArray(values) ? values.map(readMessage).filter((message) => message !== null) : [];
}

function readStored({ id, messageId, seq }: Fields): IncomingFrame | null {
  return isText(id) && isText(messageId) && isSeq(seq) ? { type: "stored", id, messageId, seq } : null;
}

function readRefused({ id, code, message, retryAfter }: Fields): RefusalFrame | null {
  if (!isText(id) || !isText(code)) return null;
  const seconds = typeof retryAfter === "number" && retryAfter >= 0 ? retryAfter : null;
  return { type: "refused", id, code, message: isText(message) ? message : "", retryAfter: seconds };
}

function readMessage(value: unknown): ChatMessage | null {
  const { id, seq, direction, type, content, text, mediaUrl, status, createdAt } = (value ?? {}) as Fields;
  if (!isText(id) || !isSeq(seq) || (direction !== "INBOUND" && direction !== "OUTBOUND") || !isText(content))
    return null;
  return {
    id,
    seq,
    direction,
    type: type as MessageType,
    content,
    text: isText(text) ? text : content,
    mediaUrl: isText(mediaUrl) ? mediaUrl : null,
    status: status as MessageStatus,
    // An invalid date would throw when it is formatted.
    createdAt: isText(createdAt) && !Number.isNaN(Date.parse(createdAt)) ? createdAt : new Date(0).toISOString(),
    ...readExtras(value as Fields),
  };
}

function nameOf(sender: unknown): string | null {
  const { name } = (sender ?? {}) as Fields;
  return isText(name) ? name : null;
}

/** Parses JSON. Every value but null can be read like an object. */
function parse(text: string): Fields | null {
  try {
    return JSON.parse(text) as Fields | null;
  } catch {
    return null;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
