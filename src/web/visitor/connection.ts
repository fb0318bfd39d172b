import { type ClientFrame, readFrame, type ServerFrame } from "./frames.ts";

/** Close codes after which trying again gives the same answer: wrong identity, wrong origin, no such channel. */
const FINAL_CODES = [4401, 4403, 4404] as const;
export type FinalCode = (typeof FINAL_CODES)[number];

export interface ConnectionEvents {
  onFrame: (frame: ServerFrame) => void;
  /** The socket closed or could not be opened; unless `code` is final, another attempt follows by itself. */
  onClose: (code: number, reason: string) => void;
}

export interface Connection {
  /** Sends now or not at all: what must arrive is kept by its owner and sent again on the next `ready`. */
  send(frame: ClientFrame): void;
  /** Connects anew and at once, whatever wait was running. */
  restart(): void;
  close(): void;
}

const BEAT_MS = 25_000;
const OPENING_MS = 10_000;
/** A connection that lasted this long was a good one: the next wait is a first one again. */
const STEADY_MS = 5_000;
/** Closed without a word, as the platform calls it. */
const LOST = 1006;
/** The server's object sleeps through a ping only if it is this very text, to which the platform answers for it. */
const PING = JSON.stringify({ type: "ping" } satisfies ClientFrame);

/** A socket that is always there again. `url` is asked before each attempt, because it says from where to catch up. */
export function connect(url: () => string, protocols: string[], events: ConnectionEvents): Connection {
  let socket: WebSocket | null = null;
  let failures = 0;
  let heard = true;
  /** One at a time: until the socket must be open, until it counts as steady, or until the next attempt. */
  let timer: ReturnType<typeof setTimeout> | undefined;

  // A network that vanished tells nobody: a socket on which nothing came since the last ping is given up.
  const beat = setInterval(() => {
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (!heard) {
      events.onClose(LOST, "");
      return restart();
    }
    heard = false;
    socket.send(PING);
  }, BEAT_MS);

  function open(): void {
    const current = new WebSocket(url(), protocols);
    socket = current;
    heard = true;
    timer = setTimeout(() => ended(LOST, ""), OPENING_MS);
    current.addEventListener("open", () => {
      if (current !== socket) return;
      clearTimeout(timer);
      timer = setTimeout(() => (failures = 0), STEADY_MS);
    });
    current.addEventListener("message", ({ data }) => {
      if (current !== socket) return;
      heard = true;
      const frame = readFrame(data);
      if (frame) events.onFrame(frame);
    });
    current.addEventListener("close", ({ code, reason }) => {
      if (current === socket) ended(code, reason);
    });
  }

  /** Whatever a socket that was left still says is heard by nobody. */
  function leave(): void {
    clearTimeout(timer);
    const former = socket;
    socket = null;
    former?.close();
  }

  function ended(code: number, reason: string): void {
    leave();
    if (!isFinal(code)) timer = setTimeout(open, waitBefore(failures++, Math.random()));
    events.onClose(code, reason);
  }

  function restart(): void {
    leave();
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
      clearInterval(beat);
      leave();
    },
  };
}

/**
 * Milliseconds before the next attempt, after `failures` in a row: from 0.5 to 2 seconds at first, to 7.5 to 30 at
 * last. After a deploy every page reconnects, and no two should keep in step; `random` is from 0 to 1.
 */
export function waitBefore(failures: number, random: number): number {
  return Math.min(2_000 * 1.8 ** failures, 30_000) * (0.25 + 0.75 * random);
}

/** Whether a close code means that no further attempt can succeed. */
export function isFinal(code: number): code is FinalCode {
  return FINAL_CODES.some((final) => final === code);
}
