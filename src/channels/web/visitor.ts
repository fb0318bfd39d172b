import type { SocketAdmission } from "./socket-policy.ts";

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
