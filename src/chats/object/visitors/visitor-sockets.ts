import { fileLink } from "../../../channels/web/file-link.ts";
import { type VisitorMessage, visitorMessage } from "../../../channels/web/render.ts";
import type { Message } from "../../../model/message.ts";
import { type ConnectingVisitor, readVisitor, type Visitor } from "../../../model/visitor.ts";
import { configured } from "../../../platform/config.ts";
import { causeOf } from "../../../platform/log.ts";
import type { ChatTables } from "../log/chat-tables.ts";
import { rangeAfter, rangeBefore } from "../log/ranges.ts";
import { redacted } from "../log/redaction.ts";
import type { SeqRange } from "../log/rows.ts";
import type { Typing } from "../typing.ts";
import { Acknowledgments } from "./acknowledgments.ts";
import { type Attachment, attached } from "./attachment.ts";
import {
  CHAT_DELETED,
  CONNECTION_LOST,
  close,
  INVALID_FRAME,
  isAbandoned,
  NORMAL,
  TOO_LARGE,
  TOO_MANY_PAGES,
  TRY_LATER,
  WRONG_IDENTITY,
} from "./closing.ts";
import { FrameBudget, PAGE_COST } from "./frame-budget.ts";
import { featuresOf, PING, PONG, readFrame, type ServerFrame, sendFrame } from "./frames.ts";
import { type Acknowledged, changedSince } from "./queries.ts";
import { type ChannelWords, isOwner, SocketCheck } from "./socket-check.ts";
import { type InputParts, VisitorInput } from "./visitor-input.ts";

interface Parts extends InputParts {
  ctx: DurableObjectState;
  tables: ChatTables;
  typing: Typing;
  /** See `Acts`, which uses sockets, so its class isn't imported. */
  acts: { readUpTo(): number | null };
}

export const MAX_SOCKETS = 5;
/** How many frames may wait for the check of their sockets. */
const MAX_WAITING_FRAMES = 100;
const PAGE_SIZE = 100;

/**
 * The open sockets of a web chat's visitor, one for each tab. The platform keeps them open while the object sleeps, so an
 * idle visitor costs nothing. The object loses its memory then, so the data of a socket is in its attachment.
 *
 * A page sees only stored data: the output gate delays frames, like responses, until all earlier writes are on disk.
 */
export class VisitorSockets {
  readonly #parts: Parts;
  #waitingFrames = 0;
  readonly #input: VisitorInput;
  readonly #acknowledgments: Acknowledgments;
  readonly #socketCheck: SocketCheck;
  readonly #frameBudget = new FrameBudget();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#acknowledgments = new Acknowledgments(parts.ctx.storage, parts.tables, parts.log);
    this.#input = new VisitorInput(parts, this);
    this.#socketCheck = new SocketCheck(parts, () => this.#openSockets());
  }

  /** Whether a page is open. */
  get isOnline(): boolean {
    return this.#openSockets().length > 0;
  }

  /** Accepts a visitor's socket. The Worker has verified the request. Stores nothing until the visitor writes. */
  accept(request: Request): Response {
    const { ctx } = this.#parts;
    const visitor = readVisitor(request.headers);
    const { 0: page, 1: socket } = new WebSocketPair();
    const hasRoom = this.#makeRoom();
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    // Before the socket is accepted: this throws if the data is too long, and every open socket must have its data.
    socket.serializeAttachment({ ...visitor, openedAt: Date.now() } satisfies Attachment);
    // Even if it is closed at once: otherwise it would keep the object awake until the page closes its end.
    ctx.acceptWebSocket(socket);
    if (!hasRoom) {
      close(socket, TOO_MANY_PAGES);
    } else if (!isOwner(visitor, this.#parts.adoption.identity())) {
      close(socket, WRONG_IDENTITY);
    } else {
      // Nothing is awaited after the log is read, so the socket gets every later message.
      for (const frame of this.#firstFrames(visitor)) sendFrame([socket], frame);
      const seq = this.#parts.adoption.identity() ? this.#parts.acts.readUpTo() : null;
      if (seq !== null) sendFrame([socket], { type: "read", seq });
    }
    return new Response(null, { status: 101, webSocket: page });
  }

  /** Handles a frame from a page. Never throws. */
  async onMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    // The page sent this frame before it saw that the socket was closed. It sends it again.
    if (socket.readyState !== WebSocket.OPEN) return;
    if (!this.#frameBudget.allows(socket, Date.now())) return close(socket, TRY_LATER);
    const frame = readFrame(data);
    if (frame === "too_large") return close(socket, TOO_LARGE);
    if (frame === "invalid") return close(socket, INVALID_FRAME);
    if (this.#waitingFrames >= MAX_WAITING_FRAMES) return close(socket, TRY_LATER);
    this.#waitingFrames++;
    await new Promise<void>((resolve) => this.#socketCheck.afterCheck(resolve));
    this.#waitingFrames--;
    try {
      if (!this.#visitorSockets().includes(socket)) return;
      switch (frame.type) {
        case "ping":
          return socket.send(PONG);
        case "typing":
          return this.#parts.typing.byContact();
        case "delivered":
          return await this.#acknowledge(frame.seq, "DELIVERED");
        case "read":
          return await this.#acknowledge(frame.seq, "READ");
        case "older":
          if (!this.#frameBudget.allows(socket, Date.now(), PAGE_COST)) return close(socket, TRY_LATER);
          return sendFrame([socket], { type: "older", messages: this.#before(frame.before, attached(socket)) });
        case "message":
          // To say why a file can't be sent, the newest messages are searched.
          if (frame.mediaId !== undefined && !this.#frameBudget.allows(socket, Date.now(), PAGE_COST)) {
            return close(socket, TRY_LATER);
          }
          return await this.#input.message(socket, frame);
        case "reaction":
          return await this.#input.reaction(socket, frame);
        case "contact":
          return await this.#input.contact(socket, frame);
      }
    } catch (error) {
      const { chatId } = attached(socket);
      console.error({ event: "frame_failed", chatId, error: causeOf(error) });
      // The page connects again and repeats what was not acknowledged.
      close(socket, TRY_LATER);
    }
  }

  /** See `SocketCheck`. */
  wordsOf(socket: WebSocket): ChannelWords {
    return this.#socketCheck.wordsOf(socket);
  }

  /** Completes the closing handshake, which the platform leaves to us. After a lost connection nobody reads a reply. */
  onClose(socket: WebSocket, code: number): void {
    if (code !== CONNECTION_LOST) close(socket, NORMAL);
  }

  /** Sends a new message to the open pages. */
  show(message: Message): void {
    this.#sendMessage(this.#visitorSockets(), "message", message);
  }

  /** Sends a new message to all open pages except for one. */
  showOthers(socket: WebSocket, message: Message): void {
    const others = this.#visitorSockets().filter((other) => other !== socket);
    this.#sendMessage(others, "message", message);
  }

  /** Sends a message as it is to one page. */
  answer(socket: WebSocket, message: Message): void {
    this.#sendMessage([socket], "updated", message);
  }

  /** Sends a changed message to the open pages: an edit, a deletion, a redaction, a reaction. */
  update(message: Message): void {
    this.#sendMessage(this.#visitorSockets(), "updated", message);
  }

  /** Tells the open pages that the company is writing. @param sender null for none @returns whether one is open */
  showTyping(sender: { name: string } | null): boolean {
    return this.#tell({ type: "typing", sender });
  }

  /** Tells the open pages that the company has read up to `seq`. @returns whether one is open */
  showRead(seq: number): boolean {
    return this.#tell({ type: "read", seq });
  }

  /** The chat was deleted. */
  closeAll(): void {
    this.#acknowledgments.forget();
    for (const socket of this.#openSockets()) close(socket, CHAT_DELETED);
  }

  /**
   * What has changed since the page was here, and `ready`. The changes come first: a page that has `ready` has all of
   * them, and may remember its number of events.
   */
  #firstFrames(visitor: ConnectingVisitor): ServerFrame[] {
    const { after, events } = visitor;
    const ready = (from: number) => this.#ready(from, visitor);
    const { log, tables } = this.#parts;
    const isAdopted = this.#parts.adoption.identity() !== undefined;
    if (events === null || (events === 0 && !isAdopted)) return [ready(after)];
    const changed = isAdopted ? changedSince(tables.messages, log.events, events) : null;
    if (!changed) return [{ type: "reset" }, ready(isAdopted ? log.newest().seq - PAGE_SIZE : 0)];
    return [
      ...changed.map((message) => ({ type: "updated" as const, message: this.#shown(message, visitor) })),
      ready(after),
    ];
  }

  /** @param after the seq of the newest message that the page has */
  #ready(after: number, visitor: Visitor): ServerFrame {
    const features = featuresOf(this.#parts.env, visitor);
    const chatId = this.#parts.adoption.identity()?.chatId ?? null;
    const { log } = this.#parts;
    if (chatId === null) {
      return { type: "ready", chatId, messages: [], hasMore: false, lastSeq: 0, events: 0, features };
    }
    const { range, pagination } = rangeAfter(log.bounds(), after, PAGE_SIZE);
    const lastSeq = log.isEmpty ? 0 : log.newest().seq;
    const messages = this.#messages(range, visitor);
    const { hasMore } = pagination;
    return { type: "ready", chatId, messages, hasMore, lastSeq, events: log.events.newest, features };
  }

  #before(cursor: number, visitor: Visitor): VisitorMessage[] {
    if (!this.#parts.adoption.identity()) return [];
    const bounds = this.#parts.log.bounds();
    return this.#messages(rangeBefore(bounds, Math.min(cursor, bounds.newest + 1), PAGE_SIZE).range, visitor);
  }

  /** The messages of a range, oldest first. */
  #messages(range: SeqRange, visitor: Visitor): VisitorMessage[] {
    const documents = this.#parts.log.documents.joined(range);
    return (JSON.parse(`[${documents}]`) as Message[]).reverse().map((message) => this.#shown(message, visitor));
  }

  /** A message as a page shows it. Links to files are on the host that the page knows. */
  #shown(message: Message, { channelId, chatId, admission }: Visitor): VisitorMessage {
    return visitorMessage(message, ({ id: messageId }) => {
      try {
        const key = configured(this.#parts.env, "KEY_SECRET");
        return fileLink(key, admission.ownOrigin, { channelId, chatId, messageId }, Date.now());
      } catch (error) {
        // The page gets the message without the file.
        console.error({ event: "file_not_linked", chatId, error: causeOf(error) });
        return null;
      }
    });
  }

  /** Whether the visitor can open another socket. If there are too many, closes abandoned ones. */
  #makeRoom(): boolean {
    const open = this.#openSockets();
    if (open.length < MAX_SOCKETS) return true;
    const now = Date.now();
    for (const socket of open) {
      const answeredAt = this.#parts.ctx.getWebSocketAutoResponseTimestamp(socket);
      if (isAbandoned(attached(socket).openedAt, answeredAt, now)) close(socket, TRY_LATER);
    }
    return this.#openSockets().length < MAX_SOCKETS;
  }

  async #acknowledge(upTo: number, status: Acknowledged): Promise<void> {
    if (!this.#parts.adoption.identity() || !this.#acknowledgments.isNew(upTo, status)) return;
    this.#acknowledgments.request(Math.min(upTo, this.#parts.log.newest().seq), status);
    while (this.#parts.adoption.identity()) {
      const changed = this.#acknowledgments.step(status, Date.now());
      if (changed === null) return;
      for (const { seq } of changed) this.#broadcast(this.#visitorSockets(), () => ({ type: "status", seq, status }));
      // Lets other events run between the steps.
      await scheduler.wait(0);
    }
  }

  #tell(frame: ServerFrame): boolean {
    const sockets = this.#visitorSockets();
    this.#broadcast(sockets, () => frame);
    return sockets.length > 0;
  }

  /**
   * Sends a message to sockets, after a check. A message that changed meanwhile is sent as it is now, and one that is
   * gone is sent blank.
   */
  #sendMessage(sockets: WebSocket[], type: "message" | "updated", message: Message): void {
    const { log } = this.#parts;
    const { changes } = log;
    this.#broadcast(sockets, (visitor) => {
      if (log.changes === changes) return { type, message: this.#shown(message, visitor) };
      const row = log.byId(message.id);
      const now = row ? (JSON.parse(row.doc) as Message) : redacted(message, Date.now());
      return { type, message: this.#shown(now, visitor) };
    });
  }

  /** Sends a frame to sockets, after a check. The frame is made when it is sent, for each visitor's page. */
  #broadcast(sockets: WebSocket[], frame: (visitor: Visitor) => ServerFrame): void {
    if (sockets.length === 0) return;
    this.#socketCheck.afterCheck(() => {
      for (const socket of sockets) sendFrame([socket], frame(attached(socket)));
    });
  }

  /** The open sockets. One whose data can't be read is closed and holds up no other: its page connects again. */
  #openSockets(): WebSocket[] {
    return this.#parts.ctx.getWebSockets().filter((socket) => {
      if (socket.readyState !== WebSocket.OPEN) return false;
      try {
        return attached(socket).chatId !== "";
      } catch (error) {
        console.error({ event: "socket_not_readable", error: causeOf(error) });
        close(socket, TRY_LATER);
        return false;
      }
    });
  }

  /** The open sockets of this chat's visitor. Closes sockets of anyone else. */
  #visitorSockets(): WebSocket[] {
    return this.#openSockets().filter((socket) => {
      if (isOwner(attached(socket), this.#parts.adoption.identity())) return true;
      close(socket, WRONG_IDENTITY);
      return false;
    });
  }
}
