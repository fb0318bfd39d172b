/** The frames of the visitors' socket, as the contract has them, and the one place where the server's are read. */

type MessageType = "TEXT" | "IMAGE" | "DOCUMENT" | "AUDIO" | "VIDEO" | "TEMPLATE";
type MessageStatus = "QUEUED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "RECEIVED";

/** What the page shows of a message. `seq` is 1, 2, 3 … in the chat, without a gap. */
export interface ChatMessage {
  id: string;
  seq: number;
  /** INBOUND is the visitor's own. */
  direction: "OUTBOUND" | "INBOUND";
  type: MessageType;
  content: string;
  /** The filled template, else `content`; empty when it was redacted. */
  text: string;
  mediaUrl: string | null;
  status: MessageStatus;
  createdAt: string;
}

export interface ReadyFrame {
  type: "ready";
  chatId: string | null;
  /** What came after `after`, oldest first, at most 100. */
  messages: ChatMessage[];
  /** The number of the chat's newest message; 0 in an empty chat. */
  lastSeq: number;
}

export interface RefusedFrame {
  type: "refused";
  id: string;
  code: string;
  message: string;
  /** Seconds, or null where waiting helps nothing. */
  retryAfter: number | null;
}

export type ServerFrame =
  | ReadyFrame
  | RefusedFrame
  /** What came before the number that was asked for, oldest first, at most 100. */
  | { type: "older"; messages: ChatMessage[] }
  | { type: "message"; message: ChatMessage }
  | { type: "stored"; id: string; messageId: string; seq: number }
  | { type: "status"; seq: number; status: MessageStatus }
  | { type: "pong" };

export type ClientFrame =
  | { type: "message"; id: string; content: string }
  | { type: "delivered"; seq: number }
  | { type: "read"; seq: number }
  | { type: "older"; before: number }
  | { type: "ping" };

/** The longest message, in UTF-16 units. */
export const MAX_CONTENT = 4_096;

type Fields = Record<string, unknown>;

/** The server's frame, or null for what is none that this page knows: a newer server may say more than we understand. */
export function readFrame(data: unknown): ServerFrame | null {
  const frame = typeof data === "string" ? parse(data) : null;
  switch (frame?.type) {
    case "ready":
      return readReady(frame);
    case "older":
      return { type: "older", messages: readMessages(frame.messages) };
    case "message": {
      const message = readMessage(frame.message);
      return message && { type: "message", message };
    }
    case "stored":
      return readStored(frame);
    case "status":
      return isSeq(frame.seq) && isText(frame.status)
        ? { type: "status", seq: frame.seq, status: frame.status as MessageStatus }
        : null;
    case "refused":
      return readRefused(frame);
    case "pong":
      return { type: "pong" };
    default:
      return null;
  }
}

function readReady(frame: Fields): ReadyFrame | null {
  if (!Array.isArray(frame.messages)) return null;
  const messages = readMessages(frame.messages);
  const chatId = isText(frame.chatId) ? frame.chatId : null;
  // A server that tells no number knows no message beyond those it sent.
  const lastSeq = isSeq(frame.lastSeq) ? frame.lastSeq : (messages.at(-1)?.seq ?? 0);
  return { type: "ready", chatId, messages, lastSeq };
}

function readMessages(values: unknown): ChatMessage[] {
  return Array.isArray(values) ? values.map(readMessage).filter((message) => message !== null) : [];
}

function readStored({ id, messageId, seq }: Fields): ServerFrame | null {
  return isText(id) && isText(messageId) && isSeq(seq) ? { type: "stored", id, messageId, seq } : null;
}

function readRefused({ id, code, message, retryAfter }: Fields): RefusedFrame | null {
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
    // A date that is none would throw where it is written.
    createdAt: isText(createdAt) && !Number.isNaN(Date.parse(createdAt)) ? createdAt : new Date(0).toISOString(),
  };
}

/** Any value has fields, were it but none, save null. */
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
