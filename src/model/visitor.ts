import type { Away } from "./away.ts";
import { MEBIBYTE } from "./file.ts";
import { toBase62 } from "./id.ts";

/** What a visitor's socket was accepted with. While the socket is open, it is compared with the channel's policy again. */
export interface SocketAdmission {
  /** The `Origin` header of the page; null without one. */
  origin: string | null;
  /** The origin of the service's own page. */
  ownOrigin: string;
  /** The fingerprint of the secret that verified a site's user; null for the holder of a token. */
  fingerprint: string | null;
  /** When the channel was read for this decision, Unix milliseconds. */
  readAt: number;
  /** Its stop words then; absent for none. */
  stopWords?: string[] | undefined;
  /** What it answered then; absent within its hours. */
  away?: Away | undefined;
}

/** A visitor that the Worker verified. */
export interface Visitor {
  /** The visitor's chat, or the id that it will have. */
  chatId: string;
  organizationId: string;
  channelId: string;
  address: string;
  /** The network that new chats are counted for (`clientNetwork`). */
  clientNetwork: string;
  admission: SocketAdmission;
  /** Whether the visitor may upload files. */
  hasUploads: boolean;
}

/** A visitor whose page connects. The Worker sends it to the chat object with the upgrade request. */
export interface ConnectingVisitor extends Visitor {
  /** The sequence number of the newest message that the page has. */
  after: number;
  /** The number of the newest event that the page knows of; null if it has no messages yet. */
  events: number | null;
}

const HEADER = "Parley-Visitor";

/** The headers of the upgrade request to the chat object. */
export function visitorHeaders(visitor: ConnectingVisitor): Record<string, string> {
  // Header values must be ASCII; a user's id may contain any character.
  return { Upgrade: "websocket", [HEADER]: encodeURIComponent(JSON.stringify(visitor)) };
}

/** Reads the visitor of an upgrade request. Only the Worker can call an object, so the header can be trusted. */
export function readVisitor(headers: Headers): ConnectingVisitor {
  return JSON.parse(decodeURIComponent(headers.get(HEADER) ?? "")) as ConnectingVisitor;
}

const ID_DIGITS = 15;

/**
 * The id of a web chat, derived from the channel and the contact's address: `cht_`, the channel's jurisdiction letter,
 * and the last 15 base62 digits (89 bits) of the SHA-256 of `<channelId>\n<address>`.
 *
 * Because the id is derived, all tabs of a visitor and a later `POST /chats` for the same address reach the same object
 * before the chat exists, and opening the page writes nothing. A channel's id contains no line break, so no two pairs
 * are hashed as the same text. The id is not a secret: it grants no access.
 */
export async function webChatId(channelId: string, address: string): Promise<string> {
  const text = new TextEncoder().encode(`${channelId}\n${address}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  const letter = channelId[channelId.indexOf("_") + 1];
  return `cht_${letter}${toBase62(digest, ID_DIGITS)}`;
}

/**
 * How many new chats visitors may start per minute.
 * - `network`: an IPv4 address, or the /64 of one IPv6 subscriber. Enough for a household or a small office.
 * - `block`: an IPv6 /48. One customer can have a whole /48 with its 65,536 networks, but a mobile carrier puts many
 *   phones into one, so ten full networks are allowed.
 * - `channel`: all visitors together. Each new chat permanently adds rows to the organization's object. Ten per second is
 *   more than a busy site needs, and limits how many rows this object stores.
 */
export const MAX_NEW_CHATS = { network: 5, block: 50, channel: 600 } as const;

/** The largest file of a visitor, in bytes. */
export const MAX_VISITOR_FILE_BYTES = 10 * MEBIBYTE;
/**
 * How many bytes visitors may upload in an hour: one visitor, all visitors of one network (`clientNetwork`), of one /48
 * (`clientBlock`), and of the channel. A try counts against each limit as 64 KiB, stored or not.
 */
export const MAX_UPLOADED = {
  visitor: 25 * MEBIBYTE,
  network: 100 * MEBIBYTE,
  block: 400 * MEBIBYTE,
  channel: 4_096 * MEBIBYTE,
} as const;
