import type { Owner } from "../calls/call-chat.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { MAX_SESSION_STREAMS, REPLACED } from "../model/organization.ts";
import type { Doorbell } from "./follow.ts";

/** Whose events a doorbell rings for, and whether it belongs to a stream. */
export interface Listener {
  /** Only this chat's events. */
  chat?: string;
  /** The stream's own id. */
  stream?: string;
  /** The id of the session that asks, if no key does. */
  session?: string;
  /** The id of the member whose session it is. */
  member?: string;
}

/**
 * Opens a doorbell at the organization's object.
 * @throws ApiError `stream_limit`; `unavailable` if the object does not answer
 */
export async function openDoorbell(env: Env, { organizationId, region }: Owner, listener: Listener): Promise<Doorbell> {
  const url = `https://organization/doorbell?${new URLSearchParams({ ...listener }).toString()}`;
  const open = (organization: Fetcher) => organization.fetch(url, { headers: { Upgrade: "websocket" } });
  const { status, webSocket } = await callOrganization(env, organizationId, open, region);
  if (status === 409) {
    const text = `The organization already has ${MAX_SESSION_STREAMS} open streams of the console. Close one first`;
    throw new ApiError("stream_limit", listener.session === undefined ? {} : { text });
  }
  if (!webSocket) throw unavailable(new Error(`The organization's object answered ${status}, and no socket`));
  return new SocketDoorbell(webSocket);
}

/** The Worker's end of a doorbell. */
export class SocketDoorbell implements Doorbell {
  readonly #socket: WebSocket;
  onNews: ((text: string) => void) | undefined;
  #isLost = false;
  #isReplaced = false;
  /** The greatest number since it last woke somebody; 0 if there was none. */
  #newest = 0;
  #waiting: { readUpTo: number; run: () => void } | null = null;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      // A ring is a number, and news is JSON.
      if (String(data).startsWith("{")) return this.onNews?.(String(data));
      this.#newest = Math.max(this.#newest, Number(data));
      this.#wake();
    });
    socket.addEventListener("close", ({ code }) => {
      this.#isReplaced = code === REPLACED;
      this.close();
    });
    socket.addEventListener("error", () => this.close());
    socket.accept();
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  onRing(readUpTo: number, run: () => void): void {
    this.#waiting = { readUpTo, run };
    this.#wake();
  }

  close(): void {
    this.#isLost = true;
    try {
      this.#socket.close(1000);
    } catch {
      // It was already closed.
    }
    this.#wake();
  }

  #wake(): void {
    if (!this.#waiting || (!this.#isLost && this.#newest <= this.#waiting.readUpTo)) return;
    const { run } = this.#waiting;
    this.#waiting = null;
    this.#newest = 0;
    run();
  }
}
