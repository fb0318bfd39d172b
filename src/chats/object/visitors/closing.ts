import { SOCKET_REFUSALS } from "../../../channels/web/socket-policy.ts";
import { MAX_FRAME } from "./frames.ts";

export interface Close {
  code: number;
  reason: string;
}

/** The code that the platform reports if a connection ended without a closing handshake. */
export const CONNECTION_LOST = 1006;
export const NORMAL: Close = { code: 1000, reason: "" };
export const CHAT_DELETED: Close = { code: 1001, reason: "The chat was deleted" };
export const INVALID_FRAME: Close = { code: 1008, reason: "Invalid frame" };
export const TOO_LARGE: Close = { code: 1009, reason: `A frame has at most ${MAX_FRAME} bytes` };
export const TRY_LATER: Close = SOCKET_REFUSALS.try_later;
/** The page recognizes it by its reason, because the code is that of an outage too. */
export const TOO_MANY_PAGES: Close = { code: TRY_LATER.code, reason: "Too many open pages" };
export const NO_CHANNEL: Close = SOCKET_REFUSALS.no_channel;
export const WRONG_IDENTITY: Close = SOCKET_REFUSALS.wrong_identity;

/** A page pings every 25 seconds, and in the background at least once a minute. */
const SILENT_MS = 180_000;

/**
 * Whether a socket's page has been silent for three minutes. A phone that loses its network sends no close frame, and the
 * platform counts its socket as open for a long time.
 * @param openedAt Unix milliseconds
 * @param answeredAt when the platform last answered a ping
 */
export function isAbandoned(openedAt: number, answeredAt: Date | null, now: number): boolean {
  return Math.max(openedAt, answeredAt?.getTime() ?? 0) + SILENT_MS < now;
}

/** Closes a socket, if it is not closed yet. */
export function close(socket: WebSocket, { code, reason }: Close): void {
  try {
    socket.close(code, reason);
  } catch {
    // It was already closed.
  }
}
