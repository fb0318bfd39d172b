import type { ChannelNews } from "./channel-warning.ts";
import type { ContactCard, Interactive, Location, MessageType, Tap } from "./content.ts";
import type { MediaSource, MediaType, OutboundFile } from "./file.ts";
import type { Elsewhere, Price, ReceivedMarks, ReceivedWords } from "./received.ts";
import type { FilledParts, ListedTemplate, TemplateKey, TemplateParameter, TemplateState } from "./template.ts";

/** What passes between chats and the adapters of networks: what goes out, how it ended, and what webhooks bring. */

/** The error code of a media message without a link. It is refused without calling the network. */
export const MEDIA_URL_REQUIRED = "media_url_required";

/** A template with the values of a message. `parts` are those beside the body; absent if the network's are not known. */
export interface OutboundTemplate {
  name: string;
  language: string;
  parameters: TemplateParameter[];
  parts?: FilledParts | undefined;
  /** The network says that it is marketing, which a contact can opt out of. */
  isMarketing?: true;
  /** The message says all of it as text: it is not sent as a template. */
  isText?: true;
}

/** A message to send, as its chat has it. */
export interface Outbound {
  chatId: string;
  messageId: string;
  /** The contact's address on the network. */
  address: string;
  type: MessageType;
  content: string;
  mediaUrl: string | null;
  /** The uploaded file that it sends; null if it has none. */
  file: OutboundFile | null;
  /** The text to send to a network without templates: the template with its parameters filled in, or `content`. */
  text: string;
  template: OutboundTemplate | null;
  interactive: Interactive | null;
  location: Location | null;
  contacts: ContactCard[] | null;
  /** It is a voice note. */
  isVoice?: boolean | undefined;
  /** The network's id of the message that this one replies to; null if there is none, or the network never had it. */
  quote: string | null;
  /** The topic that it goes to, by the network's id; absent for none. */
  topic?: string | undefined;
  /** The network's ids of the parts sent in earlier attempts, in order. They are not sent again. */
  partsSent: readonly string[];
}

/** What a message says, whatever the network. `file` of a template is for its header. */
export type Body =
  | { kind: "text"; text: string }
  | { kind: "media"; type: MediaType; source: MediaSource; caption: string | null; isVoice?: boolean | undefined }
  | ({ kind: "template"; text: string; file: OutboundFile | null } & OutboundTemplate)
  /** `media` is above the text. */
  | { kind: "choices"; text: string; media: { type: MediaType; source: MediaSource } | null; interactive: Interactive }
  | { kind: "location"; location: Location }
  | { kind: "contacts"; contacts: ContactCard[] };

/** A message as an adapter renders it. */
export interface Outgoing extends Pick<Outbound, "chatId" | "messageId" | "address" | "quote" | "topic"> {
  body: Body;
}

/**
 * Why the network did not take a part. `failed` (the network refused it) and `unknown` (the network did not answer) are
 * different: after `failed`, it is certain that nothing was delivered.
 */
export type PartRefusal =
  /** The network accepted nothing but may accept it later. `afterMs`: the wait that it asks for. `once`: retry only once. */
  | { outcome: "retry"; code: string; message: string; afterMs: number | null; wholeChannel: boolean; once?: true }
  /**
   * `works`: the error is surely about the message or its contact, so the network accepts the channel. `unsure`: it may be
   * about the channel; the reason to show if it is. With neither, nothing is known.
   */
  | { outcome: "failed"; code: string; message: string; works?: true; unsure?: string }
  | { outcome: "unknown"; message: string }
  /** The contact's address has changed, or `lostTopic` no longer exists. The network accepted nothing. */
  | { outcome: "moved"; address: string; lostTopic?: string | undefined }
  /** The network refuses the channel itself: a wrong token, a blocked account. */
  | { outcome: "channel_broken"; reason: string };

/** The result of sending one part. `addresses` are other addresses of the same contact in the response. */
export type PartOutcome = { outcome: "sent"; id: string; addresses: string[] } | PartRefusal;

/** The result of an attempt. `parts` are the network's ids of all parts sent so far, including earlier attempts. */
export type Outcome = { outcome: "sent"; parts: string[]; addresses: string[] } | (PartRefusal & { parts: string[] });

/** What a contact sees besides the messages: a reaction, a read mark, a typing indicator. */
export type NetworkAct =
  /** `emoji`: null removes the reaction. `at`: identifies the reaction in a later status, Unix milliseconds. */
  | { act: "react"; messageId: string; networkId: string; emoji: string | null; at: number }
  /** The contact's message with this id was read, and all before it. */
  | { act: "read"; networkId: string }
  /** `networkId`: that of the contact's newest message; null if there is none. */
  | { act: "typing"; networkId: string | null };

/** The chat of an act. */
export type ActTarget = Pick<Outbound, "chatId" | "address" | "topic">;

/** The result of an act. `not_shown`: the network can't show it now, and was not called. */
export type ActOutcome = { outcome: "done" | "not_shown" } | PartRefusal;

/** A message from a contact. */
export interface InboundMessage extends ReceivedWords, ReceivedMarks {
  kind: "message";
  /** The network's id of the message, unique in the channel. It identifies a repeated webhook. */
  networkId: string;
  address: string;
  /** Other addresses of the same contact in the webhook. */
  addresses: string[];
  name: string | null;
  /** The contact's public name, without an @; absent if the network does not say it. */
  username?: string | null | undefined;
  type: MessageType;
  /** The text or caption; for a type that the service does not support, a short description. */
  content: string;
  /** Null without media. */
  media: ReceivedMedia | null;
  /** The network's id of the message that this one replies to. */
  quote?: string | undefined;
  tap?: Tap | undefined;
  location?: Location | undefined;
  contacts?: ContactCard[] | undefined;
  sticker?: { emoji: string | null } | undefined;
  /** The topic of the chat that it is in, by the network's id; absent for none, null if unknown. Answers go there. */
  topic?: string | null | undefined;
}

/** A message that the company wrote to the contact elsewhere. `address`: the contact's. */
export interface Echo extends Omit<InboundMessage, "kind"> {
  kind: "echo";
  origin: Elsewhere;
}

/** The network's own agent gave the conversation back to the company, at `at` (Unix milliseconds). */
export interface ControlPassed {
  kind: "control";
  address: string;
  at: number;
}

/** The writer of a message changed its text or its caption, at `at` (Unix milliseconds). */
export interface MessageEdit {
  kind: "edit";
  networkId: string;
  address: string;
  content: string;
  at: number;
}

/** The writer of a message deleted it. */
export interface MessageRevocation {
  kind: "revoke";
  networkId: string;
  address: string;
}

/** Somebody reacted to a message, or took the reaction back (`emoji` is null), at `at` (Unix milliseconds). */
export interface MessageReaction {
  kind: "reaction";
  networkId: string;
  address: string;
  emoji: string | null;
  at: number;
  /** The company reacted, elsewhere; absent if the contact did. */
  isOwn?: true;
}

/** What changes of a stored message at its network. `address`: the contact's. */
export type NetworkChange = MessageEdit | MessageRevocation | MessageReaction;

/** A delivery status of a message that the service sent. */
export interface StatusUpdate {
  kind: "status";
  /** The service's ids, if the status contains them; if null, `networkId` and `address` identify the message. */
  chatId: string | null;
  messageId: string | null;
  networkId: string;
  address: string | null;
  addresses: string[];
  status: "SENT" | "DELIVERED" | "READ" | "FAILED";
  /** `broken`: why the network refuses the channel itself; absent if the error concerns only the message. */
  error: { code: string; message: string; broken?: string } | null;
  /** Absent if the status says none. */
  price?: Price | undefined;
  /** When it failed by the network's time, Unix milliseconds; absent if it did not fail, or the network says no time. */
  failedAt?: number | undefined;
  /** Set if the status is of the company's reaction to the message, made at this time (`NetworkAct`). */
  reactionAt?: number | undefined;
}

/**
 * Addresses of one contact. Those in `from` no longer reach the contact; those in `to` do, the best one first. All of them
 * lead to the same chat.
 */
export interface AddressChange {
  kind: "address";
  from: string[];
  to: string[];
  /** When it happened by the network's time, Unix milliseconds. A later one holds. */
  at: number;
}

/** A network's report about a template of the account `wabaId`, at `at` (Unix milliseconds). */
export interface TemplateNotice extends TemplateKey {
  kind: "template";
  wabaId: string;
  at: number;
  /** What has changed. Null: unknown, so the templates must be read again. */
  change: Partial<Pick<TemplateState, "status" | "category" | "quality" | "rejectedReason">> | null;
}

/** A network's report about the account `wabaId`, which one or more channels belong to. */
export interface AccountNotice {
  kind: "account";
  wabaId: string;
  news: ChannelNews;
}

/** The contact told the network at `at` (Unix milliseconds) whether it takes marketing. */
export interface MarketingChoice {
  kind: "marketing";
  address: string;
  addresses: string[];
  optedOut: boolean;
  at: number;
}

/** One item of a webhook. `account` is the network's id of the account that it is for, such as a phone number's id. */
export interface InboundItem {
  account: string | null;
  item:
    | InboundMessage
    | Echo
    | ControlPassed
    | NetworkChange
    | StatusUpdate
    | AddressChange
    | TemplateNotice
    | AccountNotice
    | MarketingChoice;
  /** What the adapter's `acknowledge` gets once the item is stored; absent if the network waits for nothing. */
  receipt?: string | undefined;
}

/**
 * A verified webhook and its items, or `genuine: false` if it is not from the network. `notes` are short log texts about
 * content that was ignored or not understood. They never contain a message text, a token or an address. `unknown`: each
 * thing that the service does not know, once for each time. `groups`: the account of each item that was about a group.
 */
export type ParsedWebhook =
  | { genuine: false }
  | {
      genuine: true;
      items: InboundItem[];
      notes: string[];
      unknown?: UnknownName[];
      groups?: InboundItem["account"][];
    };

/** The name of what the service does not know, and whose webhook has it. */
export interface UnknownName extends Pick<InboundItem, "account"> {
  name: string;
}

/** The media of a contact's message, as its network identifies and describes it. `size` is in bytes, the sides in pixels. */
export interface ReceivedMedia {
  id: string;
  contentType: string | null;
  fileName: string | null;
  size?: number | undefined;
  width?: number | undefined;
  height?: number | undefined;
}

/** What is wanted of a network's file. */
export interface MediaAsk {
  /** Only what it is: its bytes are not asked for. */
  isHead: boolean;
  /** The header `Range` with one range; null for the whole file. */
  range: string | null;
}

/**
 * The media of an inbound message as a stream, or why it can't be fetched. `body`: null if it was not asked for.
 * `contentRange`: the header of a part; null for the whole file, which a network may send for a range too. `size`: of the
 * whole file in bytes; null if the network doesn't say.
 */
export type MediaAnswer =
  | {
      outcome: "found";
      body: ReadableStream<Uint8Array> | null;
      contentType: string | null;
      length: number | null;
      contentRange: string | null;
    }
  | { outcome: "no_such_part"; size: number | null }
  /** `finalAfterDays`: the age in days of a message whose file is permanently gone; null if the file may come back. */
  | { outcome: "expired"; finalAfterDays: number | null }
  /** The network has it, and gives out no file of this size. */
  | { outcome: "too_large" }
  | { outcome: "unavailable"; message: string };

/** The result of registering a webhook. `code` is the network's error code; null after success or without an answer. */
export interface Registration {
  ok: boolean;
  code: number | null;
  description: string;
}

/**
 * A network's answer about a channel: the address of its webhook, why its last call failed and what it does not report;
 * or that it refuses the credentials; or that nothing can be said. `description` is for people, and never has a secret.
 * `silence`: why the network reports nothing at all; absent if it does. `subscribe`: how a person makes the network report
 * what is `unsent`; absent if only a registration does. `news`: how the channel is.
 */
export type Inspection =
  | {
      answer: "accepted";
      webhook: string | null;
      lastError: string | null;
      unsent?: string[];
      silence?: string;
      subscribe?: string;
      news?: ChannelNews;
    }
  | { answer: "refused"; description: string }
  | { answer: "none"; description: string };

/** A template in a list; `template` is null if its parts can't be read. Null if it can't even be identified. */
export type TemplateInList = { key: TemplateKey; template: ListedTemplate | null } | null;

/** A page of an account's templates, and where the next one begins (null after the last), or why there is none. */
export type TemplatePage =
  | { outcome: "page"; templates: TemplateInList[]; next: string | null }
  /** `refused`: the network would refuse it again. `away`: it may answer later. */
  | { outcome: "refused" | "away"; description: string };
