import type { Away } from "./away.ts";
import type { ChannelKind } from "./channel-kind.ts";
import type { ChatActivity, Marketing } from "./chat.ts";
import type { DraftExtra } from "./content-schema.ts";
import type { ErrorCode, Fault } from "./error.ts";
import type { EventType } from "./event.ts";
import type { FileInfo } from "./file.ts";
import type { ChannelBot, Handler } from "./handover.ts";
import type { Message } from "./message.ts";
import type { InboundMessage, OutboundTemplate, Outcome, ReceivedMedia, StatusUpdate } from "./network.ts";
import type { Elsewhere, ReceivedMarks, ReceivedWords } from "./received.ts";
import type { SubscriptionDescription } from "./webhook.ts";
import type { WorkStatus } from "./work-state.ts";

/**
 * The values that pass between the Worker and a chat's object. Plain unions, because an error loses its class on the
 * way. After a release, only add optional fields: during a deploy the two run different versions for minutes.
 */

/**
 * A message to store. The Worker chooses the beginning of its id, so that a repeated call stores nothing twice, and the
 * chat adds the seq. `calledAt` is when the Worker made the first call, Unix milliseconds.
 */
export interface Draft {
  id: string;
  calledAt: number;
  content: string;
  type: Message["type"];
  mediaUrl: string | null;
  templateId: string | null;
  variables: Message["variables"];
  metadata: Message["metadata"];
  /** Hash of the client's idempotency key, which itself is never stored. */
  idempotencyHash: string | null;
  fingerprint: string | null;
  /** Unix milliseconds; null or absent for at once. */
  scheduledAt?: number | null;
  /** Unix milliseconds; null or absent for never. */
  expiresAt?: number | null;
  /** The seq that the newest message must have; null or absent for any. */
  ifSeq?: number | null;
  /** Only while the contact's network takes free text. */
  ifOpen?: boolean | undefined;
  /** The id of the failed message that this one repeats. */
  resendOf?: string | null;
  /** The channels whose bot the key is that sends it; absent for none. */
  botOf?: string[] | undefined;
  /** It is the message of a handover, which answers nothing. */
  isParting?: boolean | undefined;
  /** What it says besides text, and the id of the message that it replies to; absent for none. */
  extra?: DraftExtra | undefined;
  /** The id of the uploaded file that it sends. With one, a `type` of `TEXT` means: choose the type from the file. */
  mediaId?: string | undefined;
  /** The service's own address, for the URL of the message's `/media`; absent without a file. */
  origin?: string | undefined;
  /** The note with the draft that it sends, and who sends it. */
  draft?: { noteId: string; by: CallerName } | undefined;
  /** The sender and the text from the directory, or the reason why the message can't be sent. */
  prepared: Prepared | RefusedDraft;
}

export interface Prepared {
  outcome: "prepared";
  senderId: string;
  /** The sender's name, if the request names it or a member made it: a program must not speak as its default sender. */
  senderName?: string | undefined;
  text: string;
  template: UsedTemplate | null;
}

export interface RefusedDraft {
  outcome: "refused";
  code: ErrorCode;
  /** Replaces the error's usual text. */
  text?: string;
  faults?: Fault[];
}

/** A change of a scheduled message's times, Unix milliseconds. Null is now, or never; an absent time stays. */
export interface MoveBody {
  scheduledAt?: number | null | undefined;
  expiresAt?: number | null | undefined;
}

/** Which message, and when it was created, Unix milliseconds. A former life of the chat had the same seqs. */
export interface MessagePlace {
  seq: number;
  at: number;
}

/** The JSON of those of the asked messages that contain the text, in their order; null for the others. */
export interface MatchingAnswer {
  outcome: "ok";
  docs: (string | null)[];
  /** How many characters were examined. */
  work: number;
}

/** `isDone`: all that was said in the chat is indexed. */
export interface FillSearchAnswer {
  outcome: "ok";
  isDone: boolean;
}

/** A request to send a failed message again. `id`, `calledAt` and the times are as in `Draft`. */
export interface ResendRequest {
  id: string;
  calledAt: number;
  messageId: string;
  scheduledAt: number | null;
  expiresAt: number | null;
  /** As in `Draft`. */
  ifSeq?: number | null;
  ifOpen?: boolean | undefined;
  botOf?: string[] | undefined;
  /** The new sender, null for the same one, or the reason why the message can't be sent. */
  sender: { outcome: "found"; senderId: string | null; senderName?: string | undefined } | RefusedDraft;
}

/** A message from a contact. `dedupe` is the id that the network or the visitor's page gave it. */
export interface InboundDraft {
  id: string;
  dedupe: string;
  type: Message["type"];
  content: string;
  media: Media | null;
  /** A file that a visitor uploaded. It decides the type. */
  mediaId?: string | undefined;
  /** The service's own address, for the URL of the message's `/media`. */
  origin: string | null;
  /** Further addresses of the contact that the network sent with the message. */
  addresses: string[];
  /** The contact's public name; absent if the network does not say it. */
  username?: string | null | undefined;
  /** The topic that it is in, by the network's id; absent for none, null if unknown. */
  topic?: string | null | undefined;
  /** It is one of the channel's stop words. */
  isStop?: boolean | undefined;
  /** What the channel answers now; absent within its hours. */
  away?: Away | undefined;
  /** What it says besides text and media; absent for none. */
  extra?: InboundExtra | undefined;
}

/** A message that the company wrote elsewhere. */
export interface EchoDraft extends Omit<InboundDraft, "mediaId" | "isStop" | "away"> {
  writtenIn: Elsewhere;
}

/** What somebody says of the contact's wish for marketing. `at`: Unix milliseconds. */
export interface Said extends Pick<Marketing, "optedOut" | "by"> {
  at: number;
}

/** What a client says of it. */
export interface MarketingChange {
  optedOut: boolean;
  by: "key" | "member";
}

/** What a contact's message says besides text and media, before the messages that it is about are looked up. */
export interface InboundExtra
  extends ReceivedWords,
    ReceivedMarks,
    Pick<InboundMessage, "quote" | "tap" | "location" | "contacts" | "sticker"> {
  /** The id of the message that it replies to; from a visitor. */
  replyTo?: string | undefined;
}

/** What changes a stored message. Times are Unix milliseconds. */
export type MessageChange =
  | { change: "edit"; networkId: string; content: string; at: number }
  | { change: "deletion"; networkId: string }
  /** The contact's reaction; null removes it. */
  | { change: "reaction"; networkId: string; emoji: string | null; at: number }
  /** The company's reaction, made elsewhere; null removes it. */
  | { change: "own_reaction"; networkId: string; emoji: string | null; at: number }
  /** The network of this channel did not show the company's reaction, which was made at `at`. */
  | { change: "reaction_failed"; channelId: string; messageId: string; at: number };
/**
 * `not_reported`: the message is blank, and the list of chats may still show its text: call again. `held`: the message
 * has no place yet: call again later.
 */
export type MessageChangeAnswer = { outcome: "ok" | "no_message" | "not_reported" | "held" } | Unknown;

/** Who of the company makes a request. */
export type CallerName = { type: "operator" | "key" | "member"; id: string; name: string };

/** Why the client's act was not done. `away`: it can be repeated after `retryAfter` seconds. */
export type ActRefusal = { outcome: "no_message" } | { outcome: "away"; retryAfter: number } | RefusedDraft;
/** What it did. */
export type ActAnswer<Done> = ({ outcome: "ok" } & Done) | ActRefusal | Unknown;

/** The chat is not adopted yet, or belongs to another organization. The caller then asks the organization's object. */
export interface Unknown {
  outcome: "unknown";
}

/**
 * A page of messages or chats, as JSON in UTF-8. `version` is the version of the list that it shows; a caller that
 * holds the page of the current version gets `unchanged`. `work`: the text that a search or a filter examined, as
 * `MAX_PAGE_TEXT` counts it; an object of an earlier version says nothing of it.
 */
export type ListAnswer =
  | { outcome: "ok"; body: Uint8Array; version: string; work?: number }
  | { outcome: "unchanged" | "unknown_cursor" };
/** `doc` is the JSON that the client gets. */
export type MessageAnswer = { outcome: "ok"; doc: string } | { outcome: "no_message" } | Unknown;
export type MoveAnswer = MessageAnswer | { outcome: "not_scheduled" } | RefusedDraft;
/** `body`: the response body, as JSON. */
export type ScheduledAnswer = { outcome: "ok"; body: string } | Unknown;
export type RedactAnswer = MessageAnswer | { outcome: "not_reported" };
export type CancelAnswer = MessageAnswer | { outcome: "not_cancelable" };

/** The attempts of a message, and when the next one begins (RFC 3339; null if it is unknown or none begins). */
export type ShownHistory = AttemptHistory & { nextAttemptAt: string | null };
export type AttemptsAnswer = { outcome: "ok"; history: ShownHistory } | { outcome: "no_message" } | Unknown;
export type SendAnswer = { outcome: "stored"; doc: string; replayed: boolean } | RefusedDraft;
/** `refused`: only of a message that names a file. */
export type ReceiveAnswer =
  | { outcome: "stored"; doc: string; awayDoc?: string }
  | { outcome: "repeated"; doc: string }
  | { outcome: "chat_full" }
  | RefusedDraft
  | Unknown;
/** `held`: it takes its place, or is dropped, once it is known that it is not a message that the chat sends itself. */
export type EchoAnswer = { outcome: "stored" | "repeated" | "held" | "chat_full" } | Unknown;
/** `unknown`: the chat was deleted. */
export type AdoptAnswer = { outcome: "ok" } | Unknown;
export type ApplyStatusAnswer = { outcome: "ok" | "no_message" } | Unknown;
export type MediaPointer =
  /** `createdAt`: the message's, Unix milliseconds. */
  | { outcome: "ok"; channelId: string; life: number; media: Media; createdAt: number }
  | { outcome: "no_message" | "no_media" }
  | Unknown;

/** A range of a chat's events, including both ends. `life`: only if the chat has this life. */
export interface EventsAsked {
  first: number;
  last: number;
  life?: number | null;
}

/**
 * Events of a chat in order, each as the JSON that a client gets. `upTo`: the last number that was looked at; `newest`:
 * the number of the chat's newest event.
 */
export type ReadEventsAnswer =
  | { outcome: "ok"; events: { number: number; type: EventType; doc: string }[]; upTo: number; newest: number }
  | Unknown;

/**
 * Messages after `seq` up to `upTo`. If `upTo` is null: first the messages without a place whose id is greater than
 * `unplacedAfter`, then those up to the newest one. `life`: only if the chat has this life.
 */
export interface ExportAsked {
  seq: number;
  upTo: number | null;
  unplacedAfter: string;
  life: number | null;
}

/**
 * Lines of JSON in UTF-8, and how to continue: the seq of the last message in them, and the seq at which the export
 * ends; null while messages without a place, or notes, follow those up to `unplacedAfter`.
 */
export type ExportAnswer =
  | { outcome: "ok"; lines: Uint8Array; seq: number; upTo: number | null; unplacedAfter: string; life: number }
  | Unknown;

/** Only the messages with these values. `search`: the text contains it, as `folded` compares texts. */
export interface MessageFilter {
  search?: string | undefined;
  status?: Message["status"] | undefined;
  direction?: Message["direction"] | undefined;
  type?: Message["type"] | undefined;
}

/** The messages that wait for their network. Times are RFC 3339. */
export interface Queue {
  depth: number;
  oldest: string | null;
  nextAttemptAt: string | null;
  lastError: { code: string; message: string } | null;
}
export type StateAnswer = { outcome: "ok"; activity: ChatActivity; queue: Queue } | Unknown;

/** A change of a chat's details, as in RFC 7396: what is absent stays, and null removes a pair of metadata. */
export interface DetailsPatch {
  name?: string | null | undefined;
  metadata?: Record<string, string | null> | null | undefined;
  personId?: string | null | undefined;
}

/** Assigns a chat to a member, or to nobody. `ifAssigneeId`: only if this is its assignee now; null for nobody. */
export interface Assignment {
  assigneeId: string | null;
  ifAssigneeId?: string | null | undefined;
  by: Assigner;
}
/** Who assigned a chat: null if the service unassigned it, because its member was removed. */
export type Assigner = CallerName | null;

/** Changes the state of a chat's work. `ifSeq`: only if the newest message has this seq; null or absent for any. */
export interface StateChange extends WorkStatus {
  ifSeq?: number | null | undefined;
  by: CallerName;
}

/** What a client changes of a chat in one commit. */
export interface ChatChange {
  details: DetailsPatch;
  /** Null if the assignee stays, and so on. */
  assignment?: Assignment | null;
  marketing?: MarketingChange | null;
  state?: StateChange | null;
}

/**
 * Hands a chat to people or to the bot, in one commit with a message, a note and an assignee. `id`: the Worker's, so that a
 * repeated call does it once.
 */
export interface HandoverRequest {
  id: string;
  to: Handler;
  by: CallerName;
  /** As in `Draft`, of the whole act. */
  idempotencyHash: string | null;
  fingerprint: string | null;
  /** The channels whose bot the caller's key is; absent for none. */
  botOf?: string[] | undefined;
  /** The channel's bot, as its organization's object knows it; null for none. */
  bot: ChannelBot | null;
  message: Draft | null;
  note: NoteDraft | null;
  assignment: Assignment | null;
}
/** `doc`: the JSON of the message; null if the act has none. `reported`: the organization's object knows the change. */
export type HandoverAnswer =
  | { outcome: "ok"; doc: string | null; replayed: boolean; reported: boolean }
  | RefusedDraft
  | Unknown;

/** A note to store. The Worker chooses its id, so that a repeated call stores it once. `mentions`: members' ids. */
export interface NoteDraft {
  id: string;
  content: string;
  mentions: string[];
  author: CallerName;
  /** It is a draft of a message. It replaces the author's draft in the chat. */
  isDraft?: boolean;
  /** What is wrong with it. It is the chat that refuses, because a repeat gets its note. */
  faults?: Fault[];
  /** As in `Draft`, but apart from messages' keys. */
  idempotencyHash: string | null;
  fingerprint: string | null;
}
/** `doc` is the JSON that the client gets. */
export type AddNoteAnswer = { outcome: "stored"; doc: string; replayed: boolean } | RefusedDraft | Unknown;
/** `body`: the response body, as JSON. */
export type NotesAnswer = { outcome: "ok"; body: string } | { outcome: "unknown_cursor" } | Unknown;
export type DeleteNoteAnswer = { outcome: "ok"; doc: string } | { outcome: "no_note" | "not_author" } | Unknown;

/**
 * `reassigned`: the chat is not `ifAssigneeId`'s, and nothing was changed. `refused`: nothing was changed either.
 * `not_reported`: the chat has changed, and the organization's object may not know it yet. Call again.
 */
export type ChangeAnswer =
  | { outcome: "ok" | "not_reported" | "reassigned" | "nothing_unanswered" }
  | { outcome: "invalid"; faults: Fault[] }
  | RefusedDraft
  | Unknown;

/** What a chat sends to one webhook. `no_line`: the chat does not know the webhook yet. */
export type WebhookSubscriptionAnswer =
  | { outcome: "ok"; line: SubscriptionDescription }
  | { outcome: "no_line" }
  | Unknown;
/** `not_head`: other events wait before this one, or it does not wait. */
export type RetryEventAnswer = { outcome: "ok" } | Unknown;

export type SkipEventAnswer = { outcome: "skipped" | "not_head" | "no_line" } | Unknown;

/** A status that a network sent. */
export type StatusNews = Pick<
  StatusUpdate,
  "messageId" | "networkId" | "status" | "error" | "addresses" | "price" | "failedAt"
>;

/** Which chat an object is. Its organization's object gives it, and it never changes. */
export interface ChatIdentity {
  chatId: string;
  organizationId: string;
  channelId: string;
  channelKind: ChannelKind;
  /** The contact's address on the channel when the chat was created. */
  contactAddress: string;
  /** When the chat was created, Unix milliseconds. */
  createdAt: number;
  /** Distinguishes a chat from a deleted chat with the same id: a later chat has a greater life. */
  life: number;
  /** Addresses of the contact that the organization's object had when the chat was adopted. */
  addresses: string[];
  /** The contact's public name at that time; absent if there was none. */
  username?: string;
  /** Its object creates each table with its first row. Versions before 0.3.0 can't use such a chat. */
  isLean?: boolean;
  /** The bot that answers first; absent for none. */
  bot?: ChannelBot;
}

/** The organization for which a chat's object is called. Any other organization, or an early call, gets `unknown`. */
export interface AsOwner {
  organizationId: string;
  /**
   * The identity that the organization's object gave to the caller, which the chat adopts; null if it was not asked.
   */
  knownIdentity: ChatIdentity | null;
  /** An earlier call with the same values failed, and may have reached the object. */
  isRepeat: boolean;
  /** The caller reads answers as text, from the methods that can return it. */
  asText?: boolean;
}

/** The template of a message. A copy is stored, because the template may change while the message is queued. */
export type UsedTemplate = OutboundTemplate;

/**
 * A file to reserve. `id`: for a new one, chosen by the Worker, so that a repeated call reserves once. `size`: in
 * bytes. `idempotencyHash`: as in `Draft`.
 */
export interface FileRequest {
  id: string;
  size: number;
  fileName: string | null;
  idempotencyHash: string | null;
}

/**
 * `reserved`: the bytes of `id` may be written, in this life of the chat. `stored`: a request with the same key has
 * ended before; `doc` is what it was answered.
 */
export type ReserveAnswer =
  | { outcome: "reserved"; id: string; life: number }
  | { outcome: "stored"; doc: string }
  | RefusedDraft
  | Unknown;

/** A reserved file whose bytes are stored. */
export interface ConfirmRequest {
  id: string;
  life: number;
  info: FileInfo;
  idempotencyHash: string | null;
}

/** `doc` is the JSON that the client gets. `gone`: the reservation is over, or the chat was deleted: upload again. */
export type ConfirmAnswer = { outcome: "ok"; doc: string } | { outcome: "gone" } | Unknown;

/** The media of a message: a contact's, as the network identifies it, or an uploaded file. */
export type Media = NetworkMedia | FileMedia;

export interface NetworkMedia extends ReceivedMedia {
  /** Set if the network said that it permanently no longer has it. */
  gone?: true;
}

export interface FileMedia extends FileInfo {
  fileId: string;
  /** Until then, another upload with its idempotency key may still write its bytes: Unix milliseconds. */
  openUntil?: number;
}

/** An attempt as the API shows it. */
export interface ShownAttempt {
  number: number;
  startedAt: string;
  durationMs: number | null;
  outcome: Outcome["outcome"];
  code: string | null;
  message: string | null;
}

export interface AttemptHistory {
  attempts: ShownAttempt[];
  /** How many attempts after the first are not kept. */
  dropped: number;
}

/** How long a chat keeps its messages, as it learned from its organization's object. */
export interface ChatRetention {
  /** Null: forever. */
  days: number | null;
  /** Grows with each change, so that a late call changes nothing. */
  version: number;
}

/** When a message is due, and its turn among those that are due at the same time. */
export interface Due {
  dueAt: number;
  turn: number;
}

/** A position in a walk that began when the chat's newest event had the number `start`. */
export type WalkedDue = Due & { start: number };
