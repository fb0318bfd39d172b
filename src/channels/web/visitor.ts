import type { SocketAdmission } from "./socket-policy.ts";

/** A visitor as the Worker verified them. It goes to the chat's object with the socket. */
export interface Visitor {
  /** The chat of this visitor, or the id that it will have. */
  chatId: string;
  /** Whether the directory has the chat of a site's user. Always false for an anonymous visitor: nobody asked. */
  chatExists: boolean;
  organizationId: string;
  channelId: string;
  address: string;
  /** What new chats are counted under (`clientNetwork`). */
  clientNetwork: string;
  admission: SocketAdmission;
  /** The number of the newest message that the page has. */
  after: number;
}

const HEADER = "Parley-Visitor";

/** The headers of the upgrade that goes to the chat's object. */
export function visitorHeaders(visitor: Visitor): Record<string, string> {
  // A header's text is ASCII, a user's id any.
  return { Upgrade: "websocket", [HEADER]: encodeURIComponent(JSON.stringify(visitor)) };
}

/** The visitor of an upgrade. Only our Worker calls an object, so the header has been verified. */
export function readVisitor(headers: Headers): Visitor {
  return JSON.parse(decodeURIComponent(headers.get(HEADER) ?? "")) as Visitor;
}
