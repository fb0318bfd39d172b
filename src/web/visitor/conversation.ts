import type { Trouble } from "../shared/files/repeat-upload.ts";
import type { ShownFile } from "../shared/files/shown-file.ts";
import type { MessageExtras } from "../shared/message/extras.ts";
import type { ChatMessage, IncomingFrame, ReadyFrame, RefusalFrame } from "./frames.ts";

/** A tapped choice. */
export interface Tapped {
  id: string;
  title: string;
  messageId: string;
}

/** The file of an unsent message. */
export interface OwnFile extends ShownFile {
  /** Where this page shows the file from, until the server names an address. */
  url: string;
  /** The server's id of the file; null until it is uploaded. */
  mediaId: string | null;
}

/** A reaction to the message with this `seq`. */
export interface Reacting {
  seq: number;
  emoji: string | null;
}

/** A message that the visitor wrote and the server has not acknowledged. */
export interface OwnMessage {
  /** The idempotency key. It stays the same in every attempt. */
  id: string;
  text: string;
  file?: OwnFile | undefined;
  /** The id of the message that it answers. */
  replyTo?: string | undefined;
  /** The choice that the visitor tapped, and what the server calls it. */
  choice?: Tapped | undefined;
  writtenAt: number;
  /** The newest `seq` when this message was written. Its echo must have a higher one. */
  afterSeq: number;
  /** It was sent at least once, so the server may have stored it. */
  tried: boolean;
  /** The `seq` of the stored message that seems to be this one, until the acknowledgment. */
  echo: number | null;
  /** Its `seq`, if it was acknowledged before the messages ahead of it arrived. */
  seq: number | null;
  trouble: Trouble | null;
}

/** A stored message. `key` is the same before and after storing, so that the message is announced once. */
export interface Entry {
  key: string;
  message: ChatMessage;
}

export interface Conversation {
  chatId: string | null;
  /** Stored messages without a gap, oldest first. */
  entries: readonly Entry[];
  outbox: readonly OwnMessage[];
  /** No message that is left has a lower `seq`. */
  oldest: number;
  /** Whether `entries` reach the chat's newest message. */
  caughtUp: boolean;
  /** The `seq` after which the next connection starts, or null to continue at the newest entry. */
  skipTo: number | null;
  /** The company has read the visitor's messages up to this `seq`. */
  companyRead: number;
}

/** What the visitor wrote. */
export type Written = Pick<OwnMessage, "text" | "choice" | "file" | "replyTo">;

export type Action =
  | { type: "frame"; frame: IncomingFrame }
  | ({ type: "write"; id: string; at: number } & Written)
  | { type: "uploaded"; id: string; mediaId: string }
  | { type: "withdraw"; id: string }
  | { type: "tried"; id: string }
  | { type: "again"; id: string }
  | { type: "trouble"; id: string; trouble: Trouble };

type StoredFrame = Extract<IncomingFrame, { type: "stored" }>;

/** Messages in a page. After a longer gap, only the newest page is loaded, and older ones on demand. */
const PAGE = 100;

/** An empty conversation with the tab's unsent messages. */
export function emptyConversation(outbox: readonly OwnMessage[] = []): Conversation {
  return { chatId: null, entries: [], outbox, oldest: 1, caughtUp: false, skipTo: null, companyRead: 0 };
}

/** The `seq` of the newest entry, or 0. */
export function newestSeq({ entries }: Pick<Conversation, "entries">): number {
  return entries.at(-1)?.message.seq ?? 0;
}

/** Whether the chat may have messages before the first entry. */
export function hasEarlier({ entries, oldest }: Pick<Conversation, "entries" | "oldest">): boolean {
  return (entries[0]?.message.seq ?? 1) > oldest;
}

/** Whether the visitor has tapped a choice of this message, sent or not. */
export function isTapped({ entries, outbox }: Pick<Conversation, "entries" | "outbox">, messageId: string): boolean {
  const isTap = ({ choice }: Pick<MessageExtras, "choice">) => choice?.messageId === messageId;
  return outbox.some(isTap) || entries.some(({ message }) => isTap(message));
}

/** The `after` of the next connection. The newest entry is loaded again, to detect another chat. */
export function resumeAfter(state: Conversation): number {
  return state.skipTo ?? Math.max(0, newestSeq(state) - 1);
}

/** Returns the conversation after an action. A repeated frame changes nothing. */
export function reduce(state: Conversation, action: Action): Conversation {
  switch (action.type) {
    case "frame":
      return reduceFrame(state, action.frame);
    case "write": {
      const { id, text, choice, file, replyTo, at } = action;
      const fresh = { echo: null, seq: null, trouble: null, tried: false };
      const own: OwnMessage = { id, text, choice, file, replyTo, writtenAt: at, afterSeq: newestSeq(state), ...fresh };
      return { ...state, outbox: [...state.outbox, own] };
    }
    case "uploaded":
      return {
        ...state,
        outbox: state.outbox.map((own) =>
          own.id === action.id && own.file ? { ...own, file: { ...own.file, mediaId: action.mediaId } } : own,
        ),
      };
    case "withdraw":
      return dropOwn(state, action.id);
    case "tried":
      return changeOwn(state, action.id, { tried: true });
    case "again":
      return changeOwn(state, action.id, { trouble: null });
    case "trouble":
      return changeOwn(state, action.id, { trouble: action.trouble });
  }
}

function reduceFrame(state: Conversation, frame: IncomingFrame): Conversation {
  switch (frame.type) {
    case "ready":
      return reduceReady(state, frame);
    case "older":
      return prepend(state, frame.messages);
    case "message":
      return merge(state, frame.message);
    case "updated": {
      const { message } = frame;
      // A new chat with the same id may have another message with this `seq`.
      return changeEntry(state, message.seq, (before) => (before.id === message.id ? message : before));
    }
    case "stored":
      return reduceStored(state, frame);
    case "status":
      return changeEntry(state, frame.seq, (message) => ({ ...message, status: frame.status }));
    case "refused":
      return changeOwn(state, frame.id, { trouble: troubleOf(frame) });
    case "read":
      return { ...state, companyRead: Math.max(state.companyRead, frame.seq) };
    case "reset":
      return { ...emptyConversation(state.outbox.map((own) => ({ ...own, echo: null }))), chatId: state.chatId };
    case "typing":
    case "pong":
      return state;
  }
}

/** Adds older messages before the first entry, if they leave no gap. */
function prepend(state: Conversation, messages: ChatMessage[]): Conversation {
  const first = state.entries[0]?.message.seq ?? 0;
  if (messages.length === 0 && first > state.oldest) return { ...state, oldest: first };
  const older = messages.filter(({ seq }) => seq < first);
  if (older.at(-1)?.seq !== first - 1) return state;
  return { ...state, entries: [...older.map(entryOf), ...state.entries] };
}

function reduceReady(state: Conversation, frame: ReadyFrame): Conversation {
  const { chatId } = frame;
  if (isAnotherChat(state, frame)) {
    const outbox = state.outbox.map((own) => ({ ...own, afterSeq: 0, echo: null, seq: null }));
    const nothing: Conversation = { ...emptyConversation(outbox), chatId };
    const isFromStart = frame.lastSeq === 0 || frame.messages[0]?.seq === 1;
    return isFromStart ? reduceReady(nothing, frame) : nothing;
  }
  const known = { ...state, chatId };
  const last = frame.messages.at(-1)?.seq ?? newestSeq(state);
  if (frame.lastSeq - last > PAGE) return { ...known, caughtUp: false, skipTo: frame.lastSeq - PAGE };

  const joins = (frame.messages[0]?.seq ?? 0) <= newestSeq(state) + 1;
  const start: Conversation = { ...known, entries: joins ? state.entries : [], skipTo: null };
  const next = frame.messages.reduce((now, message) => merge(now, message, !joins), start);
  // An acknowledged message before the new page is stored. It comes with the older pages.
  const outbox = next.outbox.filter(({ seq }) => seq === null || seq > newestSeq(next));
  return { ...next, outbox, caughtUp: newestSeq(next) >= frame.lastSeq };
}

/**
 * Whether the shown chat was deleted. A new chat can have the same id and counts from 1 again, so it has fewer messages,
 * or another message with the newest `seq`.
 */
function isAnotherChat(state: Conversation, { chatId, messages, lastSeq }: ReadyFrame): boolean {
  const newest = state.entries.at(-1)?.message;
  if (state.chatId !== null && chatId !== state.chatId) return true;
  if (!newest) return false;
  return lastSeq < newest.seq || messages.some(({ seq, id }) => seq === newest.seq && id !== newest.id);
}

/** Adds or updates a message. After a gap, the message is dropped, and the next connection loads the gap too. */
function merge(state: Conversation, message: ChatMessage, first = false): Conversation {
  const newest = newestSeq(state);
  if (message.seq <= newest) return changeEntry(state, message.seq, () => message);
  if (message.seq > newest + 1 && !(first && state.entries.length === 0)) return { ...state, caughtUp: false };

  const own = message.direction === "INBOUND" ? ownOf(state.outbox, message) : undefined;
  const entry = { key: own?.id ?? String(message.seq), message };
  const appended = { ...state, entries: [...state.entries, entry] };
  if (!own) return appended;
  return own.seq === message.seq ? dropOwn(appended, own.id) : changeOwn(appended, own.id, { echo: message.seq });
}

/** Finds the visitor's unacknowledged message for a stored one: by `seq`, else by text. */
function ownOf(outbox: readonly OwnMessage[], { seq, content }: ChatMessage): OwnMessage | undefined {
  const isEcho = (own: OwnMessage) =>
    own.tried && own.seq === null && own.echo === null && own.trouble === null && own.afterSeq < seq;
  return outbox.find((own) => own.seq === seq) ?? outbox.find((own) => isEcho(own) && sentContentOf(own) === content);
}

function reduceStored(state: Conversation, { id, messageId, seq }: StoredFrame): Conversation {
  const own = state.outbox.find((one) => one.id === id);
  if (!own) return state;
  const newest = newestSeq(state);
  if (seq > newest + 1) return { ...changeOwn(state, id, { seq, trouble: null }), caughtUp: false };
  const rest = dropOwn(state, id);
  if (seq <= newest) return rest;
  const createdAt = new Date(own.writtenAt).toISOString();
  const message: ChatMessage = {
    id: messageId,
    seq,
    direction: "INBOUND",
    ...bodyOf(own),
    status: "RECEIVED",
    createdAt,
  };
  // If this message had an echo, the echo was another tab's message with the same text. It keeps the key.
  return { ...rest, entries: [...rest.entries, { key: own.echo === null ? id : String(seq), message }] };
}

/** What the server stores as the content: a file without a caption has its id. */
export function sentContentOf({ text, file }: OwnMessage): string {
  return text === "" ? (file?.mediaId ?? "") : text;
}

/** A message as the page shows it before the server does. */
export function bodyOf(own: OwnMessage) {
  const { text, choice, file } = own;
  const replyTo = choice?.messageId ?? own.replyTo;
  const about = { ...(choice && { choice }), ...(replyTo !== undefined && { replyTo }) };
  if (!file) return { type: "TEXT", content: text, text, mediaUrl: null, ...about } as const;
  const type = file.kind === "picture" ? "IMAGE" : "DOCUMENT";
  return { type, content: sentContentOf(own), text: text || file.name, mediaUrl: file.url, file, ...about } as const;
}

function changeEntry(state: Conversation, seq: number, change: (message: ChatMessage) => ChatMessage): Conversation {
  const index = seq - (state.entries[0]?.message.seq ?? 0);
  const entry = state.entries[index];
  if (!entry) return state;
  return { ...state, entries: state.entries.with(index, { ...entry, message: change(entry.message) }) };
}

function changeOwn(state: Conversation, id: string, change: Partial<OwnMessage>): Conversation {
  return { ...state, outbox: state.outbox.map((own) => (own.id === id ? { ...own, ...change } : own)) };
}

function dropOwn(state: Conversation, id: string): Conversation {
  return { ...state, outbox: state.outbox.filter((own) => own.id !== id) };
}

function entryOf(message: ChatMessage): Entry {
  return { key: String(message.seq), message };
}

function troubleOf({ code, message, retryAfter }: RefusalFrame): Trouble {
  return { code, message, retryAfter };
}
