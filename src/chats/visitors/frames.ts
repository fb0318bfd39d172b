import * as z from "zod/mini";
import { ERRORS, type ErrorCode } from "../../http/errors.ts";
import { MAX_CONTENT, type Message } from "../message.ts";

/** The frames of the visitors' socket. JSON text. */

/** What a page is told of a message: nothing of who wrote it for the company, nor of how. */
export type VisitorMessage = Omit<Message, "senderId" | "metadata" | "templateId" | "variables">;

export interface RefusedFrame {
  type: "refused";
  /** The client's own id of the message. */
  id: string;
  code: ErrorCode;
  message: string;
  /** Seconds; null where waiting helps nothing. */
  retryAfter: number | null;
}

export type ServerFrame =
  | { type: "ready"; chatId: string | null; messages: VisitorMessage[]; hasMore: boolean; lastSeq: number }
  /** The messages before the number that was asked for, oldest first, at most 100. */
  | { type: "older"; messages: VisitorMessage[] }
  | { type: "message"; message: VisitorMessage }
  | { type: "stored"; id: string; messageId: string; seq: number }
  | { type: "status"; seq: number; status: Message["status"] }
  | RefusedFrame
  | { type: "pong" };

/** Bytes of UTF-8. */
export const MAX_FRAME = 16 * 1_024;

/** The one spelling of a ping that the platform answers for a sleeping object. */
export const PING = JSON.stringify({ type: "ping" });
export const PONG = JSON.stringify({ type: "pong" } satisfies ServerFrame);

const seq = z.int().check(z.gte(0));

const clientFrame = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    // Two ids that differ in halves of surrogate pairs alone would be stored as one.
    id: z.string().check(
      z.minLength(1),
      z.refine((id) => id.length <= 64 && id.isWellFormed()),
    ),
    content: z.string(),
  }),
  z.object({ type: z.literal("delivered"), seq }),
  z.object({ type: z.literal("read"), seq }),
  z.object({ type: z.literal("older"), before: seq }),
  z.object({ type: z.literal("ping") }),
]);

export type ClientFrame = z.output<typeof clientFrame>;
export type MessageFrame = Extract<ClientFrame, { type: "message" }>;

/** Reads a page's frame, or says why it can't be read. */
export function readFrame(data: string | ArrayBuffer): ClientFrame | "too_large" | "no_frame" {
  if (isTooLarge(data)) return "too_large";
  if (typeof data !== "string") return "no_frame";
  try {
    const frame = clientFrame.safeParse(JSON.parse(data));
    return frame.success ? frame.data : "no_frame";
  } catch {
    return "no_frame";
  }
}

/** A UTF-16 unit takes 1 to 3 bytes of UTF-8, so only a text whose length leaves a doubt is encoded. */
function isTooLarge(data: string | ArrayBuffer): boolean {
  if (typeof data !== "string") return data.byteLength > MAX_FRAME;
  if (data.length > MAX_FRAME) return true;
  return data.length * 3 > MAX_FRAME && new TextEncoder().encode(data).length > MAX_FRAME;
}

/** A stored message as its chat's visitor sees it. */
export function visitorMessage(message: Message): VisitorMessage {
  const { senderId: _sender, metadata: _metadata, templateId: _template, variables: _variables, ...shown } = message;
  return shown;
}

/** The acknowledgement of the message that the page calls `id`. `doc` is the stored message, as JSON. */
export function storedFrame(id: string, doc: string): ServerFrame {
  const message = JSON.parse(doc) as Message;
  return { type: "stored", id, messageId: message.id, seq: message.seq };
}

/** Why no message can have this content, or null. */
export function contentFault({ id, content }: MessageFrame): RefusedFrame | null {
  if (content.trim() === "") return refused(id, "missing_field", null, "content is required");
  if (content.length <= MAX_CONTENT) return null;
  return refused(id, "validation_failed", null, `content must have at most ${MAX_CONTENT} characters`);
}

/** `retryAfter` is in seconds; null where waiting helps nothing. */
export function refused(
  id: string,
  code: ErrorCode,
  retryAfter: number | null,
  message: string = ERRORS[code].text,
): RefusedFrame {
  return { type: "refused", id, code, message, retryAfter };
}

/** Sends a frame to each socket that is still open. */
export function tell(sockets: WebSocket[], frame: ServerFrame): void {
  const text = JSON.stringify(frame);
  for (const socket of sockets) {
    try {
      socket.send(text);
    } catch {
      // Closed in the meantime: the next connection catches up.
    }
  }
}
