import type { Credentials } from "../../model/channel.ts";
/**
 * The interface between the service and a network. An adapter renders and sends messages, verifies and parses webhooks,
 * and fetches media. It has no access to storage, retries or chats.
 *
 * `src/docs/contributing.md` says how to add a network. `test/deep/service/chats/object/delivery/third-network.test.ts`
 * adds one, and `test/unit/channels/network-names.test.ts` lists the few other files that name a network.
 */

import type { FileInfo } from "../../model/file.ts";
import type {
  ActOutcome,
  ActTarget,
  Inspection,
  MediaAnswer,
  MediaAsk,
  NetworkAct,
  Outgoing,
  ParsedWebhook,
  PartOutcome,
  Registration,
  TemplatePage,
} from "../../model/network.ts";
import type { AddressVariable } from "../../platform/config.ts";
import type { ChannelSpec } from "./spec.ts";

/** The network's base URL. It comes only from the configuration, never from a row or a webhook. */
export interface Network {
  base: string;
}

export interface NetworkActs {
  /** The acts that the network supports. */
  kinds: readonly NetworkAct["act"][];
  /**
   * Does one of them; never throws.
   * @param signal aborts at the deadline
   */
  make(
    act: NetworkAct,
    target: ActTarget,
    credentials: Credentials,
    network: Network,
    signal: AbortSignal,
  ): Promise<ActOutcome>;
}

/** @typeParam Part what `render` makes and `post` takes */
export interface Adapter<Part = unknown> extends ChannelSpec {
  defaults: { perSecond: number };
  /** The environment variable with the network's base URL, and the URL if the variable is not set. */
  base: { variable: AddressVariable; defaultUrl: string };
  /** How long after an `unknown` outcome a status with the message's id may still arrive; 0 if the network sends none. */
  unknownWaitMs: number;
  /** The parts that a message is sent in, in order. Each is one call. Depends only on the message. */
  render(message: Outgoing): Part[];
  /**
   * Sends one part, and the file in it; never throws.
   * @param signal aborts at the attempt's deadline
   */
  post(
    part: Part,
    credentials: Credentials,
    network: Network,
    signal: AbortSignal,
    files: FilesPort,
  ): Promise<PartOutcome>;
  /** Absent for a network that has nothing besides messages. */
  acts?: NetworkActs;
  /** Tells the network that a tap has arrived, so that its app stops waiting; never throws. */
  acknowledge?: (receipt: string, credentials: Credentials, network: Network) => Promise<void>;
  /**
   * Verifies a webhook and only then parses it. A genuine webhook that can't be parsed has only notes. The body is read
   * once the headers can be genuine: a stranger's body can have 4 MiB.
   */
  receive(request: ReceivedCall, credentials: Credentials, verifyToken: string): Promise<ParsedWebhook>;
  /**
   * Answers the GET request with which a network verifies a webhook's URL.
   * @returns the body of the response; null if the token is wrong
   */
  handshake?: (query: URLSearchParams, verifyToken: string) => Promise<string | null>;
  /** Registers `url` as the webhook, if the network has an API for that; never throws. */
  registerWebhook?: (
    url: string,
    verifyToken: string,
    credentials: Credentials,
    network: Network,
  ) => Promise<Registration>;
  /** Asks whether the network accepts the credentials, and where its webhook points; changes nothing, never throws. */
  inspect?: (credentials: Credentials, network: Network) => Promise<Inspection>;
  /** Whether `inspect` says how the channel is, so that it is asked each day. */
  isAskedDaily?: true;
  /**
   * For a network that calls one URL for several accounts: whether an item for `account` belongs to the channel with
   * `credentials`, if it arrived at the URL of the channel with the credentials `called`.
   */
  isFor?: (account: string, credentials: Credentials, called: Credentials) => boolean;
  /** Whether a message failed with this code because the contact takes no marketing. */
  isOptOut?: (code: string) => boolean;
  /** Lists the templates of an account, for a network that approves them; never throws. `after`: null for the first page. */
  listTemplates?: (
    list: { wabaId: string; after: string | null },
    credentials: Credentials,
    network: Network,
  ) => Promise<TemplatePage>;
  /** Fetches media by the network's id, only from the network's own hosts. */
  media(id: string, credentials: Credentials, network: Network, ask: MediaAsk): Promise<MediaAnswer>;
}

/** A call of a network's webhook. */
export interface ReceivedCall {
  headers: Headers;
  /** @throws ApiError `body_too_large` */
  readBody: () => Promise<Uint8Array<ArrayBuffer>>;
}

export interface OpenFile {
  body: ReadableStream<Uint8Array>;
  size: number;
}

/** The file behind a link, as its server sends it. */
export interface FetchedFile extends OpenFile, Pick<FileInfo, "contentType" | "fileName"> {}

/** The files of a message, as an adapter sends them. */
export interface FilesPort {
  /** `gone`: the file no longer exists. `away`: it can't be read now. */
  open(id: string): Promise<OpenFile | "gone" | "away">;
  /** Opens the file behind a link that the network could not fetch. @returns why it can't be had, as a sentence */
  openLink(link: string, signal: AbortSignal): Promise<FetchedFile | string>;
  /**
   * The network's id of the file from an earlier upload, unless it is too old. `failedWith`: the code of the error with
   * which the message failed that this one repeats, if the upload was made for that one.
   */
  uploaded(id: string): { networkId: string; failedWith: string | null } | null;
  /** Keeps the network's id of the file for `forMs`, for further attempts and messages that repeat this one. */
  keep(id: string, networkId: string, forMs: number): void;
}
