/**
 * What a network is to the rest of the service: an adapter sends one message, says whether a webhook is genuine and
 * what came in it, and fetches media. It knows nothing of storage, retries or chats. A further network is one more file
 * that exports an `Adapter`, and a line in `registry.ts`.
 */

import type { AddressVariable } from "../config.ts";
import type { ChannelSpec } from "./spec.ts";

export const MESSAGE_TYPES = ["TEXT", "IMAGE", "DOCUMENT", "AUDIO", "VIDEO", "TEMPLATE"] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** The code of a media message without a link, which an adapter refuses by itself: its network was not asked. */
export const MEDIA_URL_REQUIRED = "media_url_required";

/** A channel's credentials, opened; which fields there are is the kind's own. */
export type Credentials = Readonly<Record<string, string>>;

/** A message as an adapter sends it: nothing of where it is stored or how often it was tried. */
export interface Outbound {
  chatId: string;
  messageId: string;
  /** The contact's address at the network. */
  address: string;
  type: MessageType;
  content: string;
  mediaUrl: string | null;
  /** What is delivered where the network has no templates: the filled template, else `content`. */
  text: string;
  template: { name: string; language: string; parameters: { name: string; value: string }[] } | null;
  /** The network's ids of the parts that went out in earlier attempts, in order: they are not sent again. */
  partsSent: readonly string[];
}

/**
 * What became of an attempt. "The network said no" (`failed`) and "nobody answered" (`unknown`) are two kinds of
 * failure: only of the first is it known that nothing was delivered. `parts` are the network's ids of the parts that
 * have gone out, those of earlier attempts included; `addresses` are further ones of the same contact that the network
 * told in its answer.
 */
export type Outcome =
  | { outcome: "sent"; parts: string[]; addresses: string[] }
  /** The network took nothing and may take it later; `afterMs` is its own wish, `once`: it is worth one more try. */
  | {
      outcome: "retry";
      code: string;
      message: string;
      afterMs: number | null;
      wholeChannel: boolean;
      once?: true;
      parts: string[];
    }
  | { outcome: "failed"; code: string; message: string; parts: string[] }
  | { outcome: "unknown"; message: string; parts: string[] }
  /** The contact has another address from now on; nothing was taken. */
  | { outcome: "moved"; address: string; parts: string[] }
  /** The network refuses the channel itself: a wrong token, a blocked account. */
  | { outcome: "channel_broken"; reason: string; parts: string[] };

/** What a contact wrote, as the network told it. */
export interface InboundMessage {
  kind: "message";
  /** The network's own id, by which a repeated webhook is known; unique in the channel. */
  networkId: string;
  /** The contact's address, and any others of the same contact that came with it. */
  address: string;
  addresses: string[];
  name: string | null;
  type: MessageType;
  /** The text or caption; a short description of what came where the network's kind has no counterpart here. */
  content: string;
  /** How the network calls the media; null where there is none. */
  media: { id: string; contentType: string | null; fileName: string | null } | null;
}

/** What the network says became of a message of ours. */
export interface StatusUpdate {
  kind: "status";
  /** Ours, where they came back with it; else null, and `networkId` and `address` tell which message it is. */
  chatId: string | null;
  messageId: string | null;
  networkId: string;
  address: string | null;
  addresses: string[];
  status: "SENT" | "DELIVERED" | "READ" | "FAILED";
  /** `broken`: it was for the channel itself that the network refused, and in which words. */
  error: { code: string; message: string; broken?: string } | null;
}

/** A contact's address is another from now on. */
export interface AddressChange {
  kind: "address";
  from: string;
  to: string;
}

/** One thing that came in a webhook. `account` is the network's name of the account it is for (a phone number's id). */
export interface InboundItem {
  account: string | null;
  item: InboundMessage | StatusUpdate | AddressChange;
}

/**
 * What a webhook was: not from the network; or genuine, with what it held. `notes` say what of it was not understood,
 * shortly and for the log: never a text, a token or an address.
 */
export type ParsedWebhook = { genuine: false } | { genuine: true; items: InboundItem[]; notes: string[] };

/** The media of an inbound message, ready to be streamed; or why there is none. */
export type MediaAnswer =
  | { outcome: "found"; body: ReadableStream<Uint8Array>; contentType: string | null; length: number | null }
  | { outcome: "expired" }
  | { outcome: "unavailable"; message: string };

/** Where the network is: its base address comes from the configuration alone, never from a row or a webhook. */
export interface Network {
  base: string;
}

/** What a network said when it was asked to call us; `code` is its error code, null for a success and where no answer came. */
export interface Registration {
  ok: boolean;
  code: number | null;
  description: string;
}

export interface Adapter extends ChannelSpec {
  defaults: { perSecond: number };
  /** The variable of the configuration that says where the network is, and where it is unless that is set. */
  base: { variable: AddressVariable; defaultUrl: string };
  /** After an attempt of unknown outcome, how long a status with our id may still come; 0 where there are none. */
  unknownWaitMs: number;
  /** How many calls a message takes, those that `partsSent` spares included; 1 for one that can't be sent. */
  countParts(message: Outbound): number;
  /**
   * Sends one message, or what of it `partsSent` leaves; never throws. `signal` ends it at the attempt's deadline.
   * `onPart` is told the network's id of each part before the call for the next one.
   */
  send(
    message: Outbound,
    credentials: Credentials,
    network: Network,
    signal: AbortSignal,
    onPart?: (networkId: string) => void,
  ): Promise<Outcome>;
  /** Says whether a webhook is genuine and, only then, parses it. A genuine one that can't be parsed has notes alone. */
  receive(
    request: { headers: Headers; body: Uint8Array<ArrayBuffer> },
    credentials: Credentials,
    verifyToken: string,
  ): Promise<ParsedWebhook>;
  /**
   * Where the network asks first whether a webhook's address is ours, with a GET: the text that answers its query, or
   * null where it does not have the token.
   */
  handshake?: (query: URLSearchParams, verifyToken: string) => Promise<string | null>;
  /** Has the network call `url` from now on, where it can be asked to; never throws. */
  registerWebhook?: (
    url: string,
    verifyToken: string,
    credentials: Credentials,
    network: Network,
  ) => Promise<Registration>;
  /**
   * Where one address is called for several accounts: whether what came to a channel with the credentials `called`, for
   * `account`, is for the channel with `credentials`.
   */
  isFor?: (account: string, credentials: Credentials, called: Credentials) => boolean;
  /** Fetches the media that the network calls `id`, from hosts of the network's own alone. */
  media(id: string, credentials: Credentials, network: Network): Promise<MediaAnswer>;
}
