import type { ConnectingVisitor } from "../../../model/visitor.ts";

/** The data of a socket. The platform stores it while the object sleeps. */
export type Attachment = ConnectingVisitor & { openedAt: number };

/** The data of an accepted socket. @throws if it can't be read */
export function attached(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}
