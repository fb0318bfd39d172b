import type { ChatMessage, ReadyFrame, RefusedFrame, ServerFrame } from "./frames.ts";

/** Why a visitor's message could not be sent. */
export interface Trouble {
  code: string;
  /** The server's own words, for a code that this page has none for. */
  message: string;
  retryAfter: number | null;
}

/** A message that the visitor wrote and the server has not acknowledged. */
export interface OwnMessage {
  /** Made by this page and kept through every resend, so that the server stores it once. */
  id: string;
  text: string;
  writtenAt: number;
  /** The newest message that was here when this one was written: its echo can only come later. */
  afterSeq: number;
  /** It was handed to a socket at least once, so it may be stored although nobody told us. */
  tried: boolean;
  /** The stored message that is taken for this one until the acknowledgement says which it is. */
  echo: number | null;
  /** Its number, when it is acknowledged before the messages ahead of it have come. */
  seq: number | null;
  trouble: Trouble | null;
}

/** A stored message. `key` stays the same through sending and storing, so that it is shown and announced once. */
export interface Entry {
  key: string;
  message: ChatMessage;
}

export interface Conversation {
  chatId: string | null;
  /** A run of the chat's messages without a gap, oldest first. */
  entries: readonly Entry[];
  outbox: readonly OwnMessage[];
  /** Everything up to the chat's newest message is here. */
  caughtUp: boolean;
  /** Where the next connection starts, when it is not after the newest entry. */
  skipTo: number | null;
}

export type Action =
  | { type: "frame"; frame: ServerFrame }
  | { type: "write"; id: string; text: string; at: number }
  | { type: "tried"; id: string }
  | { type: "again"; id: string }
  | { type: "trouble"; id: string; trouble: Trouble };

type StoredFrame = Extract<ServerFrame, { type: "stored" }>;

/** One page of the server's. A longer gap is not walked through: the newest page is fetched, older ones on demand. */
const PAGE = 100;

/** A conversation of which nothing is known but what this tab had still to send. */
export function emptyConversation(outbox: readonly OwnMessage[] = []): Conversation {
  return { chatId: null, entries: [], outbox, caughtUp: false, skipTo: null };
}

/** The number of the newest message that is here, 0 for none. */
export function newestSeq({ entries }: Pick<Conversation, "entries">): number {
  return entries.at(-1)?.message.seq ?? 0;
}

/** What the next connection asks for: everything after this number. The newest that is here comes once more, as proof. */
export function resumeAfter(state: Conversation): number {
  return state.skipTo ?? Math.max(0, newestSeq(state) - 1);
}

/** The conversation after what happened. Pure: the same frames give the same conversation, however often they come. */
export function reduce(state: Conversation, action: Action): Conversation {
  switch (action.type) {
    case "frame":
      return reduceFrame(state, action.frame);
    case "write": {
      const { id, text, at } = action;
      const fresh = { echo: null, seq: null, trouble: null, tried: false };
      const own: OwnMessage = { id, text, writtenAt: at, afterSeq: newestSeq(state), ...fresh };
      return { ...state, outbox: [...state.outbox, own] };
    }
    case "tried":
      return changeOwn(state, action.id, { tried: true });
    case "again":
      return changeOwn(state, action.id, { trouble: null });
    case "trouble":
      return changeOwn(state, action.id, { trouble: action.trouble });
  }
}

function reduceFrame(state: Conversation, frame: ServerFrame): Conversation {
  switch (frame.type) {
    case "ready":
      return reduceReady(state, frame);
    case "older":
      return putInFront(state, frame.messages);
    case "message":
      return merge(state, frame.message);
    case "stored":
      return reduceStored(state, frame);
    case "status":
      return changeEntry(state, frame.seq, (message) => ({ ...message, status: frame.status }));
    case "refused":
      return changeOwn(state, frame.id, { trouble: troubleOf(frame) });
    case "pong":
      return state;
  }
}

/** Only what joins up is put in front: a page of another moment must not leave a hole. */
function putInFront(state: Conversation, messages: ChatMessage[]): Conversation {
  const first = state.entries[0]?.message.seq ?? 0;
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
  // One that was acknowledged and lies before the page to which we jumped is stored, and comes with the older ones.
  const outbox = next.outbox.filter(({ seq }) => seq === null || seq > newestSeq(next));
  return { ...next, outbox, caughtUp: newestSeq(next) >= frame.lastSeq };
}

/**
 * Whether the chat that was here was erased, and what is shown is of no chat. One that was made anew has the same id,
 * and counts from 1 again: it has fewer messages than are here, or another one in the place of the newest.
 */
function isAnotherChat(state: Conversation, { chatId, messages, lastSeq }: ReadyFrame): boolean {
  const newest = state.entries.at(-1)?.message;
  if (state.chatId !== null && chatId !== state.chatId) return true;
  if (!newest) return false;
  return lastSeq < newest.seq || messages.some(({ seq, id }) => seq === newest.seq && id !== newest.id);
}

/** A message that is new, or known and changed. One that leaves a gap is not shown: the next connection brings both. */
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

/** The stored message says not which of ours it is; its number does, or else its text, until the acknowledgement. */
function ownOf(outbox: readonly OwnMessage[], { seq, content }: ChatMessage): OwnMessage | undefined {
  const isEcho = (own: OwnMessage) =>
    own.tried && own.seq === null && own.echo === null && own.trouble === null && own.afterSeq < seq;
  return outbox.find((own) => own.seq === seq) ?? outbox.find((own) => isEcho(own) && own.text === content);
}

function reduceStored(state: Conversation, { id, messageId, seq }: StoredFrame): Conversation {
  const own = state.outbox.find((one) => one.id === id);
  if (!own) return state;
  const newest = newestSeq(state);
  if (seq > newest + 1) return { ...changeOwn(state, id, { seq, trouble: null }), caughtUp: false };
  const rest = dropOwn(state, id);
  if (seq <= newest) return rest;
  const createdAt = new Date(own.writtenAt).toISOString();
  const body = { type: "TEXT", content: own.text, text: own.text, mediaUrl: null } as const;
  const message: ChatMessage = { id: messageId, seq, direction: "INBOUND", ...body, status: "RECEIVED", createdAt };
  // What was taken for this message was a like one of another tab, and keeps the key.
  return { ...rest, entries: [...rest.entries, { key: own.echo === null ? id : String(seq), message }] };
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

function troubleOf({ code, message, retryAfter }: RefusedFrame): Trouble {
  return { code, message, retryAfter };
}
