import type { StatusUpdate } from "../channels/adapter.ts";
import type { ErrorCode, Fault } from "../http/errors.ts";
import type { Media, UsedTemplate } from "./log/rows.ts";
import type { Message } from "./message.ts";

/**
 * What goes between the Worker and a chat's object. Plain unions: an error's class does not survive the call. Optional
 * fields are only ever added, because for minutes of each deploy the two run different versions.
 */

/** A message on its way in, as the Worker made it: with its id, so that a repeated call stores nothing twice. */
export interface Draft {
  id: string;
  content: string;
  type: Message["type"];
  mediaUrl: string | null;
  templateId: string | null;
  variables: Message["variables"];
  metadata: Message["metadata"];
  /** Stands for the client's idempotency key: the key itself is never stored. */
  idempotencyHash: string | null;
  fingerprint: string | null;
  /** What the directory said: who sends and what is delivered, or why this cannot be sent. */
  prepared: Prepared | RefusedDraft;
}

export interface Prepared {
  outcome: "prepared";
  senderId: string;
  text: string;
  template: UsedTemplate | null;
}

export interface RefusedDraft {
  outcome: "refused";
  code: ErrorCode;
  faults?: Fault[];
}

/** A message that a contact wrote; `dedupe` is the network's, or the visitor's, own id of it. */
export interface InboundDraft {
  id: string;
  dedupe: string;
  type: Message["type"];
  content: string;
  media: Media | null;
  /** Where `/media` of this message is; null where it has none. */
  mediaUrl: string | null;
  /** Further addresses of the contact, which came with it. */
  addresses: string[];
}

/** Not adopted yet, or the chat of another organization: who calls can't tell which, and asks the directory. */
export interface Unknown {
  outcome: "unknown";
}

/**
 * A page, as JSON in UTF-8. `version` names the state of the chat that it shows, to the object that gave it the name:
 * who has the page of a version is told `unchanged` while it is that.
 */
export type ListAnswer =
  | { outcome: "ok"; body: Uint8Array; version: string }
  | { outcome: "unchanged" | "unknown_cursor" }
  | Unknown;
/** `doc` is JSON as it goes to the client. */
export type MessageAnswer = { outcome: "ok"; doc: string } | { outcome: "no_message" } | Unknown;
export type SendAnswer = { outcome: "stored"; doc: string; replayed: boolean } | RefusedDraft;
export type ReceiveAnswer = { outcome: "stored" | "repeated"; doc: string } | { outcome: "chat_full" } | Unknown;
export type ApplyStatusAnswer = { outcome: "ok" | "no_message" } | Unknown;
export type MediaPointer =
  | { outcome: "ok"; channelId: string; media: Media }
  | { outcome: "no_message" | "no_media" }
  | Unknown;

/** What waits in a chat for its network. Times are RFC 3339. */
export interface Queue {
  depth: number;
  oldest: string | null;
  nextAttemptAt: string | null;
  lastError: { code: string; message: string } | null;
}
export type StateAnswer = { outcome: "ok"; lastMessageAt: string | null; queue: Queue } | Unknown;

/** What a network told of a message of ours. */
export type StatusNews = Pick<StatusUpdate, "messageId" | "networkId" | "status" | "error" | "addresses">;
