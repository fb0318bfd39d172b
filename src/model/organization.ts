import type { ChannelKind } from "./channel-kind.ts";
import type { ChannelWarning } from "./channel-warning.ts";
import type { Chat, ChatActivity } from "./chat.ts";
import type { ChatIdentity, ChatRetention } from "./chat-answers.ts";
import type { Metadata } from "./content.ts";
import type { ConversationCounts, MemberCounts } from "./conversation-counts.ts";
import type { Counts } from "./counts.ts";
import type { EventType } from "./event.ts";
import type { ChannelBot, Handler, HandoverCounts } from "./handover.ts";
import type { RequestCounts } from "./key.ts";
import type { ListPosition } from "./list-page.ts";
import type { Outcome } from "./network.ts";
import type { Mentions } from "./note.ts";
import type { Permission } from "./permission.ts";
import type { PriceCount } from "./received.ts";
import type { Region } from "./region.ts";
import type { SearchTargets } from "./search-index.ts";
import type { WebhookList } from "./webhook.ts";
import type { WorkState } from "./work-state.ts";

/**
 * The values that pass between the Worker, the other objects and an organization's object. After a release, only add
 * optional fields: during a deploy the callers run different versions for minutes.
 */

/**
 * Other ways to write an address. `same`: the same contact. `possible`: one of them at most is, so that they count only if
 * a single chat has any.
 */
export interface Alike {
  same: string[];
  possible: string[];
}

/** A request for the chat of a contact's address. */
export interface OpenRequest {
  organizationId: string;
  channelId: string;
  address: string;
  /** Further addresses of the same contact. A chat of any of them is the contact's chat. */
  others: string[];
  /** A chat of one of these is the contact's too, if none of the others has one. */
  alike?: Alike;
  name: string | null;
  /** Absent if the caller does not know it. */
  username?: string | null | undefined;
  metadata: Metadata;
  /** The company's own key of the person; absent if it gives none. */
  personId?: string | undefined;
  /** The id that the chat gets if it is created. */
  proposedId: string;
  /** Whether limits apply. They never refuse what a network brings. */
  isLimited: boolean;
}

/** What a network said of a chat's contact: further addresses, and the public name if it said one. */
export interface ContactNews {
  addresses: string[];
  username?: string | null | undefined;
}

/** The result. The chat's object adopts `identity`. */
export type OpenAnswer =
  | { outcome: "opened"; chat: Chat; identity: ChatIdentity; created: boolean }
  /** The address's chat is being deleted. After that the address can get a new chat. */
  | { outcome: "deleting"; chatId: string }
  /** The organization or the channel has reached its limit of chats. */
  | { outcome: "chat_limit" }
  | { outcome: "no_channel" };

/** What chats can wait for: an answer, or the time of a scheduled message. */
export type Waiting = "unanswered" | "scheduled";

/** `channel` is the id of a channel or a kind of channels, `contact` an exact address. */
export interface ChatFilter {
  channel?: string | undefined;
  contact?: string | undefined;
  /** All ways to write `contact`, for the kinds of channel that have more than one. */
  contactForms?: Partial<Record<ChannelKind, string[]>> | undefined;
  /** The beginning of an address, or of words of a name. It can be given with `channel` alone. */
  search?: string | undefined;
  /** Only the chats that wait for this; undefined for all chats. */
  waiting?: Waiting | undefined;
  /** Only this member's chats, or nobody's (null). It can be given alone, or with `unanswered`. */
  assignee?: string | null | undefined;
  /** Only the chats in this state. It can be given with `channel`, `assignee` and `unanswered`. */
  state?: WorkState | undefined;
  /** Only the chats that the bot of their channel has, or that people have. It can be given with the same. */
  handler?: Handler | undefined;
  /** Only the chats of the person with this key of the company. It can be given with the same, and with `state`. */
  person?: string | undefined;
  /** Only the chats with this label. It can be given with the same, and with `person`. */
  label?: string | undefined;
  /** Only the chats whose contact has opted out of marketing. It can be given with the same, and with `label`. */
  optedOut?: true | undefined;
  /** Only the chats with notes that mention this member, newest mention first. It can't be given with `waiting`. */
  mentioned?: string | undefined;
}

/** A list of all chats has no `after`: an active chat moves to the front, so newer chats have no stable order. */
export type ChatPosition = Exclude<ListPosition, { after: string }>;

/** A place in a list of chats that is read with a cursor only; null for the start. */
export interface WaitingPosition {
  after: string | null;
  limit: number;
}

/** A chat for an export, as JSON. */
export interface ExportedChat {
  id: string;
  life: number;
  doc: string;
}

/** A chat beside the messages that a search found in it. */
export type FoundChat = Pick<Chat, "id" | "channel" | "contact">;

/** How many attempts ended with each outcome, named as in the log line `attempt`. */
export type AttemptCounts = Counts<Outcome["outcome"]>;

/** What is counted of a chat: its attempts' ends, its messages and answers, its messages by their price, its handovers. */
export type CountedName = Outcome["outcome"] | keyof ConversationCounts | keyof HandoverCounts | PriceCount;

/** What is counted of a channel: the same of its chats, and how many of them began. */
export type ChannelCounts = Counts<CountedName | "newChats">;

/** What an organization knows of a chat and only the chat can change. Times are Unix milliseconds. */
export interface ChatState extends ChatActivity {
  /** How many messages wait, and when the oldest of them was sent. */
  depth: number;
  oldest: number | null;
  /** All counts of the chat. The field once had only the attempts. */
  attempts: Counts<CountedName>;
  /** The wait since `unansweredSince` was marked as answered and that was taken back; absent if it counts. */
  isUncounted?: boolean;
  /** See `ConversationNews`. */
  askedAt?: number;
  /** How often it changed hands; absent for never. */
  handovers?: number;
  /** What members did in the chat; absent if none did anything. */
  members?: MemberCounts;
  /** Who its notes mention; absent if none ever mentioned anybody, and in the reports of earlier versions. */
  mentions?: Mentions;
  /** When it has other work at a later time, rounded up to the minute; absent if it has none. See `nextDueAt`. */
  nextDueAt?: number;
}

/** What an organization's object knows of a chat in which something is overdue: the number of its last report, and this. */
export interface KnownChat {
  life: number;
  report: number;
  nextDueAt: number | null;
}

/**
 * A chat's report of its state. `number` grows with each change of the state, so a report that arrives late, or twice,
 * changes nothing.
 */
export interface ChatReport extends ChatState {
  chatId: string;
  life: number;
  number: number;
  /** The chat's events after the last one that it knows to be reported; null if there are none. */
  events: EventBurst | null;
  /** The version of the list of webhooks that the chat has; null if it has none. */
  webhooks: string | null;
}

/** Events of a chat from `first` to `last`, and which types are among them. */
export interface EventBurst {
  first: number;
  last: number;
  types: EventType[];
}

/**
 * `number`: the number of the last report that counted. `nextAfterMs`: how long the chat should collect changes before
 * its next report. `restMs`: for how long it must not report at all, because many chats do; absent means 0.
 * `listeningForMs`: for how long to report each event at once otherwise, because a client waits for events.
 * `webhooks`: absent if the chat has the current list. A webhook that is new to the chat gets its events after the number
 * `startAfter`: the last one that the organization had when the chat first got the list. `retention`: how long the
 * chat keeps its messages. `unknown`: the organization has no such chat, or it is being deleted.
 */
export type ReportAnswer =
  | {
      outcome: "ok";
      number: number;
      nextAfterMs: number;
      restMs?: number;
      listeningForMs: number;
      webhooks?: NewWebhooks;
      retention?: ChatRetention | undefined;
      /** Absent if the channel never had a bot, and in what an object of an earlier version says. */
      bot?: ChannelBot | undefined;
      /** Absent in what an object of an earlier version says. */
      search?: SearchTargets;
    }
  | { outcome: "unknown" };

/** A list of webhooks that a chat does not have yet. */
export type NewWebhooks = WebhookList & { startAfter: number };

/** The events of one burst in the feed; `chatId` is null for an event of the organization. */
export interface FeedPointer {
  /** 1, 2, 3 … in the feed, without a gap. */
  position: number;
  chatId: string | null;
  /** The chat's life: a chat that was deleted and created again has other events. */
  life: number | null;
  channelId: string | null;
  first: number;
  last: number;
  types: EventType[];
  /** When it was reported, Unix milliseconds. */
  at: number;
}

/**
 * A page of the feed. `life` is new for each feed, so that a cursor of another one is recognized. `oldest` is the first
 * position that is still there, `newest` the last; `newest` is `oldest` less 1 if there is none. `unreadable`: the chats of
 * these pointers whose objects could not be read, and for how many milliseconds; absent if there are none.
 */
export interface FeedAnswer {
  life: string;
  oldest: number;
  newest: number;
  pointers: FeedPointer[];
  unreadable?: Record<string, number>;
}

/** A channel's health, as its object reports it. `number` grows with each report. Times are Unix milliseconds. */
export interface ChannelHealth {
  number: number;
  state: "ok" | "broken";
  reason: string | null;
  since: number;
  /** When a broken channel is tried next. */
  probeAt: number | null;
  /** Absent in the reports of earlier versions. */
  warnings?: ChannelWarning[];
  unknown?: Record<string, number>;
}

/** What an organization's object knows of a channel. */
export interface ChannelNumbers {
  id: string;
  health: ChannelHealth | null;
  depth: number;
  oldest: number | null;
  /** How many chats it has, and how many of them wait for an answer. */
  chats: number;
  unanswered: number;
  /** How many open chats its bot has. Absent in what an object of an earlier version says. */
  withBot?: number;
  /** All counts of the channel. The field once had only the attempts, and an RPC field keeps its name. */
  attempts: ChannelCounts;
  /** When the depth or the attempts changed last; null if they never did. */
  at: number | null;
}

/** How many chats are assigned to a member, and how many of them wait for an answer. */
export type AssignedChats = { id: string; chats: number; unanswered: number };

/** The numbers of channels, keys and members that an organization's object has. Those without numbers are left out. */
export interface OrganizationNumbers {
  channels: ChannelNumbers[];
  keys: KeyNumbers[];
  members?: AssignedChats[];
}

/** What an organization's object has of the chats with a label. */
export interface LabelNumbers {
  id: string;
  name: string;
  /** How many chats have it. */
  chats: number;
  /** What is counted by reading each of them; null if they are too many. */
  counted: (Record<WorkState | "unanswered", number> & { counts: ChannelCounts }) | null;
}

/** A channel in an organization's object. */
export interface KnownChannel {
  id: string;
  kind: ChannelKind;
  name: string;
  isClosed: boolean;
  /** How many chats it may have; null for no limit. */
  chatLimit: number | null;
  retention: ChatRetention;
  bot: KnownBot | null;
  /** Grows with each other bot, and when its bot is removed. */
  botVersion: number;
}

/** The bot of a channel. */
export interface KnownBot {
  keyId: string;
  handOverAfterSeconds: number;
  /** When its key expires, Unix milliseconds; null for never. */
  endsAt: number | null;
}

/** A key's counts since it was created. `at`: when they changed last, Unix milliseconds. */
export type KeyNumbers = RequestCounts & { id: string; at: number };

/** A member as the requests of its sessions need it. */
export interface MemberRecord {
  id: string;
  organizationId: string;
  name: string;
  publicName: string | null;
  email: string | null;
  permissions: Permission[];
  /** Sessions that began by then have ended, Unix milliseconds. */
  sessionsSince: number;
  region: Region | null;
}

/** A live stream ends after this time. */
export const MAX_STREAM_MS = 900_000;

/** The streams of an organization's keys. */
export const MAX_STREAMS = 10;
/** The streams of sessions. A browser has one for all of its tabs, so this many people can use the console at a time. */
export const MAX_SESSION_STREAMS = 60;

/** The close code of a doorbell whose place a newer stream of the same session took. */
export const REPLACED = 4001;

/**
 * How many rows of each kind an organization can have, unless the operator's `limits` say otherwise. All organizations
 * share one database, and a list counts its organization's rows.
 */
export const ROW_CEILINGS = { members: 1_000, templates: 1_000, channels: 200 } as const;

export type RowKind = keyof typeof ROW_CEILINGS;
