import { waitBefore } from "../shared/wait-before.ts";
import { type IncomingFrame, type OutgoingFrame, parseFrame } from "./frames.ts";

/** Close codes after which a new attempt can't succeed: wrong identity, wrong origin, no such channel. */
const FINAL_CODES = [4401, 4403, 4404] as const;
export type FinalCode = (typeof FINAL_CODES)[number];

export interface ConnectionEvents {
  onFrame: (frame: IncomingFrame) => void;
  /** The socket closed or could not be opened. Another attempt follows unless `code` is final. */
  onClose: (code: number, reason: string) => void;
}

export interface Connection {
  /** Sends a frame, or drops it without an open socket. The caller must repeat important frames after `ready`. */
  send(frame: OutgoingFrame): void;
  /** Reconnects immediately. */
  restart(): void;
  close(): void;
}

const PING_INTERVAL_MS = 25_000;
const OPEN_TIMEOUT_MS = 10_000;
/** A connection that lasts this long resets the back-off. */
const STEADY_MS = 5_000;
/** The close code of a socket that closed without a close frame. */
const LOST = 1006;
/** The platform answers exactly this text without waking the server's Durable Object. */
const PING = JSON.stringify({ type: "ping" } satisfies OutgoingFrame);

/**
 * A WebSocket that reconnects. `url` and `protocols` are called before each attempt, because they contain the newest `seq`
 * and the visitor's newest proof.
 */
export function connect(url: () => string, protocols: () => string[], events: ConnectionEvents): Connection {
  let socket: WebSocket | null = null;
  let failures = 0;
  let hasReceived = true;
  /** One timer at a time: the timeout of opening, the reset of the back-off, or the next attempt. */
  let timer: ReturnType<typeof setTimeout> | undefined;

  // A lost network sends no close event. A socket that received nothing since the last ping is dead.
  const pings = setInterval(() => {
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (!hasReceived) {
      events.onClose(LOST, "");
      return restart();
    }
    hasReceived = false;
    socket.send(PING);
  }, PING_INTERVAL_MS);

  function open(): void {
    const current = new WebSocket(url(), protocols());
    socket = current;
    hasReceived = true;
    timer = setTimeout(() => ended(LOST, ""), OPEN_TIMEOUT_MS);
    current.addEventListener("open", () => {
      if (current !== socket) return;
      clearTimeout(timer);
      timer = setTimeout(() => (failures = 0), STEADY_MS);
    });
    current.addEventListener("message", ({ data }) => {
      if (current !== socket) return;
      hasReceived = true;
      const frame = parseFrame(data);
      if (frame) events.onFrame(frame);
    });
    current.addEventListener("close", ({ code, reason }) => {
      if (current === socket) ended(code, reason);
    });
  }

  /** Closes the socket. Its later events are ignored. */
  function abandon(): void {
    clearTimeout(timer);
    const former = socket;
    socket = null;
    former?.close();
  }

  function ended(code: number, reason: string): void {
    abandon();
    if (!isFinal(code)) timer = setTimeout(open, waitBefore(failures++, Math.random()));
    events.onClose(code, reason);
  }

  function restart(): void {
    abandon();
    failures = 0;
    open();
  }

  open();
  return {
    send: (frame) => {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
    },
    restart,
    close: () => {
      clearInterval(pings);
      abandon();
    },
  };
}

/** Whether a close code means that no further attempt can succeed. */
export function isFinal(code: number): code is FinalCode {
  return FINAL_CODES.includes(code as FinalCode);
}
