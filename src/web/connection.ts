import ReconnectingWebSocket from "partysocket/ws";
import { type ClientFrame, readFrame, type ServerFrame } from "./frames.ts";

/** Close codes after which trying again gives the same answer: wrong identity, wrong origin, no such channel. */
const FINAL_CODES = [4401, 4403, 4404] as const;
export type FinalCode = (typeof FINAL_CODES)[number];

export interface ConnectionEvents {
  onFrame: (frame: ServerFrame) => void;
  /** The socket closed or could not be opened; unless `code` is final, another attempt follows by itself. */
  onClose: (code: number) => void;
}

export interface Connection {
  /** Sends now or not at all: what must arrive is kept by its owner and sent again on the next `ready`. */
  send(frame: ClientFrame): void;
  /** Connects anew and at once, whatever wait was running. */
  restart(): void;
  close(): void;
}

const BEAT_MS = 25_000;
/** The server's object sleeps through a ping only if it is this very text, to which the platform answers for it. */
const PING = JSON.stringify({ type: "ping" } satisfies ClientFrame);

const options = {
  // Read anew for each attempt: after a deploy every page reconnects, and no two should keep in step.
  get minReconnectionDelay() {
    return 500 + Math.random() * 2_000;
  },
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.8,
  minUptime: 5_000,
  connectionTimeout: 10_000,
  maxEnqueuedMessages: 0,
  shouldReconnectOnClose: ({ code }: { code: number }) => !isFinal(code),
};

/** A socket that is always there again. `url` is asked before each attempt, because it says from where to catch up. */
export function connect(url: () => string, protocols: string[], events: ConnectionEvents): Connection {
  let socket: ReconnectingWebSocket | null = null;
  let heard = true;

  // A network that vanished tells nobody: a socket on which nothing came since the last ping is given up.
  const beat = setInterval(() => {
    if (socket?.readyState !== ReconnectingWebSocket.OPEN) return;
    if (!heard) return lose();
    heard = false;
    socket.send(PING);
  }, BEAT_MS);

  function lose(): void {
    events.onClose(1006);
    restart();
  }

  function restart(): void {
    const former = socket;
    const current = new ReconnectingWebSocket(url, protocols, options);
    socket = current;
    heard = true;
    former?.close();
    current.addEventListener("message", ({ data }) => {
      if (current !== socket) return;
      heard = true;
      const frame = readFrame(data);
      if (frame) events.onFrame(frame);
    });
    current.addEventListener("close", ({ code }) => {
      if (current === socket) events.onClose(code);
    });
  }

  restart();
  return {
    send: (frame) => {
      if (socket?.readyState === ReconnectingWebSocket.OPEN) socket.send(JSON.stringify(frame));
    },
    restart,
    close: () => {
      clearInterval(beat);
      const last = socket;
      socket = null;
      last?.close();
    },
  };
}

/** Whether a close code means that no further attempt can succeed. */
export function isFinal(code: number): code is FinalCode {
  return FINAL_CODES.some((final) => final === code);
}
