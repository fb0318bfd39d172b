import { isRecent } from "../platform/clock.ts";

/**
 * Who opened a doorbell. `stream`: a live stream, whose `id` stays the same when its doorbell is opened again. `poll`: a
 * request that waits for an event.
 */
type Attachment = { kind: "stream"; id: string; openedAt: number } | { kind: "poll"; openedAt: number };

/** A live stream ends after this time. */
export const MAX_STREAM_MS = 900_000;
/** An older doorbell lost its stream without a sign. */
const MAX_AGE_MS = MAX_STREAM_MS + 60_000;
export const MAX_STREAMS = 10;
const RING_EVERY_MS = 100;
/** For how long a chat that hears of a listener reports at once. It hears so again with each report. */
const LISTENING_FOR_MS = 60_000;
/** Between two polls of a client. */
const PAUSE_MS = 10_000;

const ALL = "all";
const tagOf = (chatId: string) => `chat ${chatId}`;

/**
 * The sockets that wait for events: of an organization, or of one of its chats. They carry the feed's newest position, or
 * the number of the chat's newest event, as text, at most ten times a second. The platform keeps them open while the
 * object sleeps. Whoever listens reads the events elsewhere, so a ring that gets lost does no harm.
 */
export class Doorbells {
  readonly #state: DurableObjectState;
  /** The newest number for each tag that was not sent yet. */
  readonly #unsent = new Map<string, number>();
  #isSending = false;
  #closedAt = Number.NEGATIVE_INFINITY;

  constructor(state: DurableObjectState) {
    this.#state = state;
  }

  /**
   * Opens a doorbell. In the URL's query, `stream` is the id of the stream that it is for, and `chat` the id of the only
   * chat that it rings for.
   * @returns a 409 if the organization has too many streams
   */
  accept(request: Request): Response {
    const { searchParams } = new URL(request.url);
    const [id, chatId] = [searchParams.get("stream"), searchParams.get("chat")];
    const now = Date.now();
    if (id !== null && this.#countOtherStreams(id, now) >= MAX_STREAMS) return new Response(null, { status: 409 });
    const { 0: listener, 1: socket } = new WebSocketPair();
    const attachment: Attachment =
      id === null ? { kind: "poll", openedAt: now } : { kind: "stream", id, openedAt: now };
    socket.serializeAttachment(attachment);
    this.#state.acceptWebSocket(socket, [chatId === null ? ALL : tagOf(chatId)]);
    return new Response(null, { status: 101, webSocket: listener });
  }

  /**
   * The feed has more.
   * @param chatId whose events these are; null for the organization's own
   * @param last the number of the newest of them
   */
  ring(position: number, chatId: string | null, last: number): void {
    if (this.#open().length === 0) return;
    this.#unsent.set(ALL, position);
    if (chatId !== null) this.#unsent.set(tagOf(chatId), last);
    if (!this.#isSending) this.#state.waitUntil(this.#sendAll());
  }

  /** For how many milliseconds chats should report at once; 0 if nobody listens. */
  listeningForMs(now: number): number {
    return this.#open().length > 0 || isRecent(this.#closedAt, PAUSE_MS, now) ? LISTENING_FOR_MS : 0;
  }

  /** Completes the closing handshake. */
  onClose(socket: WebSocket): void {
    this.#closedAt = Date.now();
    close(socket);
  }

  /** The organization was deleted. */
  closeAll(): void {
    for (const socket of this.#open()) close(socket);
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#unsent.size > 0) {
      for (const [tag, number] of this.#unsent) {
        for (const socket of this.#open(tag)) send(socket, number);
      }
      this.#unsent.clear();
      await scheduler.wait(RING_EVERY_MS);
    }
    this.#isSending = false;
  }

  /** Counts the streams besides one. Closes its earlier doorbell, and those of streams that are over. */
  #countOtherStreams(id: string, now: number): number {
    let count = 0;
    for (const socket of this.#open()) {
      const attachment = socket.deserializeAttachment() as Attachment;
      if (attachment.kind !== "stream") continue;
      if (attachment.id === id || !isRecent(attachment.openedAt, MAX_AGE_MS, now)) close(socket);
      else count++;
    }
    return count;
  }

  #open(tag?: string): WebSocket[] {
    return this.#state.getWebSockets(tag).filter(({ readyState }) => readyState === WebSocket.OPEN);
  }
}

function send(socket: WebSocket, number: number): void {
  try {
    socket.send(String(number));
  } catch {
    // It was closed meanwhile.
  }
}

function close(socket: WebSocket): void {
  try {
    socket.close(1000);
  } catch {
    // It was already closed.
  }
}
