import { MAX_SESSION_STREAMS, MAX_STREAM_MS, MAX_STREAMS, REPLACED } from "../../model/organization.ts";
import { isRecent } from "../../platform/clock.ts";
import { causeOf } from "../../platform/log.ts";

/**
 * Who opened a doorbell. `stream`: a live stream, whose `id` stays the same when its doorbell is opened again. `poll`: a
 * request that waits for an event. `session`: the console's session that it belongs to, and `member` whose session that
 * is; null or absent for a key, and `member` for the operator.
 */
type Attachment =
  | { kind: "stream"; id: string; openedAt: number; session?: string | null; member?: string | null }
  | { kind: "poll"; openedAt: number };

/** Whose stream it is: of a session and its member, of a session of the operator, or of a key. */
interface StreamOwner {
  session: string | null;
  member: string | null;
}

/** The stream of an older doorbell is gone, although the doorbell was never closed. */
const MAX_AGE_MS = MAX_STREAM_MS + 60_000;
/** One for each tab, in browsers whose tabs can't share a stream. */
export const MAX_STREAMS_OF_A_SESSION = 6;
/** Two devices of such a browser. One member must not take the places of all others. */
export const MAX_STREAMS_OF_A_MEMBER = 12;
/** How often doorbells ring at most. People don't see the difference. */
const RING_EVERY_MS = { key: 100, session: 1_000 };
/** For how long a chat that hears of a listener reports at once. It hears so again with each report. */
const LISTENING_FOR_MS = 60_000;
/** The pause between two polls of a client, during which it still counts as listening. */
const PAUSE_MS = 10_000;

/** The maximum number of news per second that streams get without a log, such as typing. */
const MAX_PASSED = 20;

/** Whose doorbell it is. */
type Group = keyof typeof RING_EVERY_MS;
const GROUPS: readonly Group[] = ["key", "session"];
const tagOf = (group: Group, chatId: string | null) => (chatId === null ? `${group} all` : `${group} ${chatId}`);

/**
 * The sockets that wait for events: of an organization, or of one of its chats. They carry the feed's newest position, or
 * the number of the chat's newest event, as text, at most ten times a second, and once a second to sessions. The platform
 * keeps them open while the object sleeps. Whoever listens reads the events elsewhere, so a ring that gets lost does no
 * harm.
 */
export class Doorbells {
  readonly #state: DurableObjectState;
  /** The newest number for each tag that was not sent yet. */
  readonly #unsent: Record<Group, Map<string, number>> = { key: new Map(), session: new Map() };
  readonly #isSending = { key: false, session: false };
  #closedAt = Number.NEGATIVE_INFINITY;
  /** The times at which news was passed on in the last second. */
  #passed: number[] = [];

  constructor(state: DurableObjectState) {
    this.#state = state;
  }

  /**
   * Opens a doorbell. In the URL's query, `stream` is the id of the stream that it is for, `session` and `member` are those of
   * the session which asks, if no key does, and `chat` the id of the only chat that it rings for.
   * @returns a 409 if the organization has too many streams
   */
  accept(request: Request): Response {
    const { searchParams } = new URL(request.url);
    const given = (name: string) => searchParams.get(name);
    const [id, chatId] = [given("stream"), given("chat")];
    const owner = { session: given("session"), member: given("member") };
    const now = Date.now();
    if (id !== null && !this.#makeRoom(id, owner, now)) return new Response(null, { status: 409 });
    const { 0: listener, 1: socket } = new WebSocketPair();
    const attachment: Attachment =
      id === null ? { kind: "poll", openedAt: now } : { kind: "stream", id, ...owner, openedAt: now };
    socket.serializeAttachment(attachment);
    const group = owner.session === null ? "key" : "session";
    this.#state.acceptWebSocket(socket, [group, tagOf(group, chatId)]);
    return new Response(null, { status: 101, webSocket: listener });
  }

  /**
   * The feed has more.
   * @param chatId whose events these are; null for the organization's own
   * @param last the number of the newest of them
   */
  ring(position: number, chatId: string | null, last: number): void {
    for (const group of GROUPS) {
      if (this.#open(group).length === 0) continue;
      this.#unsent[group].set(tagOf(group, null), position);
      if (chatId !== null) this.#unsent[group].set(tagOf(group, chatId), last);
      if (!this.#isSending[group]) this.#state.waitUntil(this.#sendAll(group));
    }
  }

  /**
   * Passes news that no log has on to the streams, at most 20 in a second.
   * @param text a JSON object
   * @returns whether a stream is open
   */
  pass(text: string, now: number): boolean {
    const streams = this.#open().filter((socket) => attachmentOf(socket)?.kind === "stream");
    this.#passed = this.#passed.filter((at) => isRecent(at, 1_000, now));
    if (streams.length === 0 || this.#passed.length >= MAX_PASSED) return streams.length > 0;
    this.#passed.push(now);
    for (const socket of streams) send(socket, text);
    return true;
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

  forget(): void {
    for (const socket of this.#open()) close(socket);
  }

  async #sendAll(group: Group): Promise<void> {
    const unsent = this.#unsent[group];
    this.#isSending[group] = true;
    try {
      while (unsent.size > 0) {
        for (const [tag, number] of unsent) {
          for (const socket of this.#open(tag)) send(socket, number);
        }
        unsent.clear();
        await scheduler.wait(RING_EVERY_MS[group]);
      }
    } finally {
      // Whatever failed: the next event rings again.
      this.#isSending[group] = false;
    }
  }

  /**
   * Whether a stream can have a doorbell. Closes its earlier one, and those that are over or can't be read. A session or a
   * member that has too many ends its own oldest stream: a page that was loaded again must not wait until its earlier
   * stream ends. A key's streams belong to different programs, so none ends another.
   */
  #makeRoom(id: string, { session, member }: StreamOwner, now: number): boolean {
    const others: (StreamOwner & { socket: WebSocket; openedAt: number })[] = [];
    for (const socket of this.#open()) {
      const attachment = attachmentOf(socket);
      if (attachment?.kind === "poll") continue;
      if (!attachment || attachment.id === id || !isRecent(attachment.openedAt, MAX_AGE_MS, now)) close(socket);
      else {
        const owner = { session: attachment.session ?? null, member: attachment.member ?? null };
        others.push({ socket, ...owner, openedAt: attachment.openedAt });
      }
    }
    if (session === null) return others.filter((each) => each.session === null).length < MAX_STREAMS;
    const oldestFirst = others.sort((a, b) => a.openedAt - b.openedAt);
    const ofSession = oldestFirst.filter((each) => each.session === session);
    const ofMember = member === null ? [] : oldestFirst.filter((each) => each.member === member);
    const isFull = others.filter((each) => each.session !== null).length >= MAX_SESSION_STREAMS;
    const isSessionFull = ofSession.length >= MAX_STREAMS_OF_A_SESSION;
    const isMemberFull = ofMember.length >= MAX_STREAMS_OF_A_MEMBER;
    if (!isSessionFull && !isMemberFull && !isFull) return true;
    const [replaced] = isSessionFull || (!isMemberFull && ofSession.length > 0) ? ofSession : ofMember;
    if (!replaced) return false;
    close(replaced.socket, REPLACED);
    return true;
  }

  #open(tag?: string): WebSocket[] {
    return this.#state.getWebSockets(tag).filter(({ readyState }) => readyState === WebSocket.OPEN);
  }
}

/** Null if it can't be read. */
function attachmentOf(socket: WebSocket): Attachment | null {
  try {
    return socket.deserializeAttachment() as Attachment | null;
  } catch (error) {
    console.error({ event: "doorbell_not_readable", error: causeOf(error) });
    return null;
  }
}

function send(socket: WebSocket, what: number | string): void {
  try {
    socket.send(String(what));
  } catch {
    // It was closed meanwhile.
  }
}

function close(socket: WebSocket, code = 1000): void {
  try {
    socket.close(code);
  } catch {
    // It was already closed.
  }
}
