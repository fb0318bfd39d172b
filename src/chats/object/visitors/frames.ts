import * as z from "zod/mini";
import { bucketOf } from "../../../calls/file-bucket.ts";
import { lineOf } from "../../../channels/network/received.ts";
import type { VisitorMessage } from "../../../channels/web/render.ts";
import { contactEmailField, contactNameField } from "../../../model/chat.ts";
import { oneEmoji } from "../../../model/content-schema.ts";
import { ERRORS, type ErrorCode } from "../../../model/error.ts";
import { optional, showsNothing } from "../../../model/field.ts";
import { MAX_CONTENT, type Message } from "../../../model/message.ts";
import type { Visitor } from "../../../model/visitor.ts";

/** The frames of the visitors' socket, which are JSON text. `src/docs/web-chat.md` describes them. */

export interface RefusedFrame {
  type: "refused";
  /** The client's own id of the message; `reaction` or `contact` for the frame of this type. */
  id: string;
  code: ErrorCode;
  message: string;
  /** Seconds; null if waiting does not help. */
  retryAfter: number | null;
}

export type ServerFrame =
  | {
      type: "ready";
      chatId: string | null;
      messages: VisitorMessage[];
      hasMore: boolean;
      lastSeq: number;
      /** The number of the chat's newest event. */
      events: number;
      features: Feature[];
    }
  /** The messages before the requested seq, oldest first, at most 100. */
  | { type: "older"; messages: VisitorMessage[] }
  | { type: "message"; message: VisitorMessage }
  /** A message that has changed, as it is now. */
  | { type: "updated"; message: VisitorMessage }
  /** More has changed than is sent. The page forgets what it has: `ready` follows, with the newest messages. */
  | { type: "reset" }
  /** The company is writing. `sender`: the member who does; null if none is named. */
  | { type: "typing"; sender: { name: string } | null }
  /** The company has read the visitor's messages up to this one. */
  | { type: "read"; seq: number }
  | { type: "stored"; id: string; messageId: string; seq: number }
  | { type: "status"; seq: number; status: Message["status"] }
  | RefusedFrame
  | { type: "pong" };

/** What every page can use. */
const FEATURES = ["choices", "replies", "reactions", "typing", "contact"] as const;
type Feature = (typeof FEATURES)[number] | "uploads";

/** What a visitor's page can use, so that it offers nothing that the server would refuse. */
export function featuresOf(env: Env, { chatId, hasUploads }: Pick<Visitor, "chatId" | "hasUploads">): Feature[] {
  return hasUploads && bucketOf(env, chatId) ? [...FEATURES, "uploads"] : [...FEATURES];
}

/** Bytes of UTF-8. */
export const MAX_FRAME = 16 * 1_024;
/** When a page may try again after a failure here, in seconds. */
export const RETRY_AFTER_SECONDS = 5;

/** The platform answers a ping with exactly this text, and does not wake the object. */
export const PING = JSON.stringify({ type: "ping" });
export const PONG = JSON.stringify({ type: "pong" } satisfies ServerFrame);

const MAX_NAME = 256;
const seq = z.int().check(z.gte(0));

// As in everything that contacts send, half of a surrogate pair is replaced, not refused.
const anyText = z.pipe(
  z.string(),
  z.transform((text) => text.toWellFormed()),
);

const clientFrame = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    // Lone surrogates are stored as replacement characters, so two ids could become one.
    id: z.string().check(
      z.minLength(1),
      z.refine((id) => id.length <= 64 && id.isWellFormed()),
    ),
    content: anyText,
    // Any text: a choice or a message that isn't there must not lose what the visitor wrote.
    choice: optional(z.string()),
    replyTo: optional(z.string()),
    mediaId: optional(z.string()),
  }),
  // Any text: a page may know newer emoji than this server, and must not lose its socket for one.
  z.object({ type: z.literal("reaction"), seq, emoji: z.nullable(z.string()) }),
  z.object({
    type: z.literal("contact"),
    name: optional(anyText),
    email: optional(anyText),
    anonymousToken: optional(z.string()),
  }),
  z.object({ type: z.literal("delivered"), seq }),
  z.object({ type: z.literal("read"), seq }),
  z.object({ type: z.literal("older"), before: seq }),
  z.object({ type: z.literal("typing") }),
  z.object({ type: z.literal("ping") }),
]);

export type ClientFrame = z.output<typeof clientFrame>;
export type MessageFrame = Extract<ClientFrame, { type: "message" }>;
export type ReactionFrame = Extract<ClientFrame, { type: "reaction" }>;
export type ContactFrame = Extract<ClientFrame, { type: "contact" }>;

/** Parses a page's frame. @returns the reason if it can't be parsed */
export function readFrame(data: string | ArrayBuffer): ClientFrame | "too_large" | "invalid" {
  if (typeof data !== "string") return data.byteLength > MAX_FRAME ? "too_large" : "invalid";
  if (isTooLarge(data)) return "too_large";
  try {
    const frame = clientFrame.safeParse(JSON.parse(data));
    return frame.success ? frame.data : "invalid";
  } catch {
    return "invalid";
  }
}

/** A UTF-16 unit takes 1 to 3 bytes in UTF-8, so most texts need not be encoded to be measured. */
function isTooLarge(data: string): boolean {
  if (data.length > MAX_FRAME) return true;
  return data.length * 3 > MAX_FRAME && new TextEncoder().encode(data).length > MAX_FRAME;
}

/** The response to a stored message. @param id the page's own id of the message @param doc the stored message as JSON */
export function storedFrame(id: string, doc: string): ServerFrame {
  const message = JSON.parse(doc) as Message;
  return { type: "stored", id, messageId: message.id, seq: message.seq };
}

/** The response to a message with invalid content; null if the content is valid. */
export function contentFault({
  id,
  content,
  choice,
  mediaId,
}: Pick<MessageFrame, "id" | "content"> & Partial<MessageFrame>): RefusedFrame | null {
  if (choice !== undefined && mediaId !== undefined) {
    return refusedFrame(id, "validation_failed", null, "choice and mediaId can't be in one message");
  }
  if (showsNothing(content)) return refusedFrame(id, "missing_field", null, "content is required");
  if (content.length <= MAX_CONTENT) return null;
  return refusedFrame(id, "validation_failed", null, `content must have at most ${MAX_CONTENT} characters`);
}

/** The response to a reaction with a text that is not an emoji; null if it has one, or takes one back. */
export function emojiFault({ emoji }: Pick<ReactionFrame, "emoji">): RefusedFrame | null {
  if (emoji === null || oneEmoji.safeParse(emoji).success) return null;
  return refusedFrame("reaction", "validation_failed", null, "emoji must be one emoji");
}

/** What a visitor says of themselves, null where nothing; or why it can't be stored. */
export function detailsIn(
  frame: Pick<ContactFrame, "name" | "email">,
): { name: string | null; email: string | null } | RefusedFrame {
  const { name = null, email = null } = frame;
  const refused = (message: string) => refusedFrame("contact", "validation_failed", null, message);
  if (name !== null && !contactNameField.safeParse(name).success) return refused("name must have 1 to 256 characters");
  if (email !== null && !contactEmailField.safeParse(email).success) return refused("email must be an email address");
  return { name: lineOf(name, MAX_NAME) ?? null, email };
}

/** @param retryAfter seconds; null if waiting does not help */
export function refusedFrame(
  id: string,
  code: ErrorCode,
  retryAfter: number | null,
  message: string = ERRORS[code].text,
): RefusedFrame {
  return { type: "refused", id, code, message, retryAfter };
}

/** The refusal after a failure here. */
export function unavailableFrame(id: string): RefusedFrame {
  return refusedFrame(id, "unavailable", RETRY_AFTER_SECONDS);
}

/** Sends a frame to each socket that is still open. */
export function sendFrame(sockets: WebSocket[], frame: ServerFrame): void {
  const text = JSON.stringify(frame);
  for (const socket of sockets) {
    try {
      socket.send(text);
    } catch {
      // The socket was closed in the meantime. The page catches up when it connects again.
    }
  }
}
