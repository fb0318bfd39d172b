import { readVisitor, type Visitor } from "../../channels/web/visitor.ts";
import { jurisdictionOf, newId } from "../../ids.ts";
import { causeOf } from "../../log.ts";
import type { ChatIdentity } from "../identity.ts";
import type { MessageLog } from "../log/message-log.ts";
import { rangeAfter, rangeBefore } from "../log/ranges.ts";
import type { SeqRange } from "../log/rows.ts";
import type { Message } from "../message.ts";
import type { InboundDraft, ReceiveAnswer } from "../rpc.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import { Admittance, isOwner } from "./admittance.ts";
import {
  CROWDED,
  close,
  GOING_AWAY,
  isAbandoned,
  LOST,
  NO_CHANNEL,
  NO_FRAME,
  NORMAL,
  TOO_LARGE,
  TRY_LATER,
  WRONG_IDENTITY,
} from "./closing.ts";
import { FrameBudget, PAGE_COST } from "./frame-budget.ts";
import {
  contentFault,
  type MessageFrame,
  PING,
  PONG,
  type RefusedFrame,
  readFrame,
  refused,
  type ServerFrame,
  storedFrame,
  tell,
  type VisitorMessage,
  visitorMessage,
} from "./frames.ts";
import { type OpenedChat, openVisitorChat } from "./opening.ts";
import { MAX_IN_WINDOW, PACE_WINDOW_MS, waitBeforeNext } from "./pace.ts";
import { type Acknowledged, inboundTimes, redactedBetween } from "./queries.ts";

/** What the sockets need of their chat's object. */
export interface VisitorHost {
  state: DurableObjectState;
  env: Env;
  log: MessageLog;
  /** Who the chat is, with its log made ready; undefined before it was adopted. */
  identity(): ChatIdentity | undefined;
  /** Whether an inbound message was stored with this `dedupe`; asked of an adopted chat alone. */
  isRepeated(dedupe: string): boolean;
  /** Adopts the chat where that is given, and stores; `unknown` where it was erased meanwhile. */
  receive(organizationId: string, draft: InboundDraft, knownIdentity: ChatIdentity | null): Promise<ReceiveAnswer>;
}

/** What is known of a socket. */
type Attachment = Visitor & { openedAt: number };

const MAX_SOCKETS = 5;
/** How many messages may wait for those before them. A page sends one, and the next when that was answered. */
const MAX_WAITING = 20;
/** How many frames may wait to hear whether their sockets are still welcome. */
const MAX_HELD = 100;
const PAGE = 100;
/** How far back a page that comes back is told of redactions. */
const SHOWN = 1_000;
/** Seconds after which a page should try again what failed here. */
const SOON = 5;

/**
 * The open sockets of a web chat's visitor, one for each tab. They are the platform's: it keeps them open while the
 * object sleeps and loses its memory, so what is known of a socket lies in its attachment, and an idle visitor costs
 * nothing.
 *
 * What a page is told was stored before: the output gate holds a socket's frames, as it holds responses, until the
 * writes made before them are on disk.
 */
export class VisitorSockets {
  readonly #host: VisitorHost;
  /** Messages are taken one after the other, or two that wait for the directory could pass the pace at once. */
  #line: Promise<void> = Promise.resolve();
  #waiting = 0;
  #held = 0;
  /** Until when a visitor of each network is refused a new chat without asking again; Unix milliseconds. */
  readonly #refusedUntil = new Map<string, number>();
  readonly #acknowledgements: Acknowledgements;
  readonly #admittance: Admittance;
  readonly #budget = new FrameBudget();

  constructor(host: VisitorHost) {
    this.#host = host;
    this.#acknowledgements = new Acknowledgements(host.state.storage, host.log);
    this.#admittance = new Admittance({
      env: host.env,
      waitUntil: (work) => host.state.waitUntil(work),
      open: () => this.#open().map((socket) => ({ socket, visitor: attached(socket) })),
    });
  }

  /** Takes a visitor's socket, which our Worker has verified. Nothing is written: who only looks leaves no trace. */
  accept(request: Request): Response {
    const { state } = this.#host;
    const visitor = readVisitor(request.headers);
    const { 0: page, 1: socket } = new WebSocketPair();
    const isFull = this.#isFull();
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    // First, for it fails where it is too long: a socket of which nothing is known must not be among the open ones.
    socket.serializeAttachment({ ...visitor, openedAt: Date.now() } satisfies Attachment);
    // The platform's too where it is closed at once: one of ours would keep the object awake until the page hangs up.
    state.acceptWebSocket(socket);
    if (isFull) {
      close(socket, CROWDED);
    } else if (!isOwner(visitor, this.#host.identity())) {
      close(socket, WRONG_IDENTITY);
    } else {
      // With nothing awaited since the log was read, a message that comes next finds the socket among the open ones.
      tell([socket], this.#ready(visitor));
      for (const message of this.#redactedBefore(visitor.after)) tell([socket], { type: "message", message });
    }
    return new Response(null, { status: 101, webSocket: page });
  }

  /** A frame of a page; never throws. */
  async onMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    // What a page still sent before it heard that we hung up; it sends it again.
    if (socket.readyState !== WebSocket.OPEN) return;
    if (!this.#budget.allows(socket, Date.now())) return close(socket, TRY_LATER);
    const frame = readFrame(data);
    if (frame === "too_large") return close(socket, TOO_LARGE);
    if (frame === "no_frame") return close(socket, NO_FRAME);
    if (this.#held >= MAX_HELD) return close(socket, TRY_LATER);
    this.#held++;
    await new Promise<void>((resolve) => this.#admittance.when(resolve));
    this.#held--;
    try {
      if (!this.#welcome().includes(socket)) return;
      switch (frame.type) {
        case "ping":
          return socket.send(PONG);
        case "delivered":
          return await this.#acknowledge(frame.seq, "DELIVERED");
        case "read":
          return await this.#acknowledge(frame.seq, "READ");
        case "older":
          if (!this.#budget.allows(socket, Date.now(), PAGE_COST)) return close(socket, TRY_LATER);
          return tell([socket], { type: "older", messages: this.#before(frame.before) });
        case "message":
          return await this.#takeInLine(socket, frame);
      }
    } catch (error) {
      const { chatId } = attached(socket);
      console.error({ event: "frame_not_taken", chatId, error: causeOf(error) });
      // It keeps what was not acknowledged, connects again and sends it again.
      close(socket, TRY_LATER);
    }
  }

  /** The platform leaves the closing handshake to us. After a lost connection no page is left to reply to. */
  onClose(socket: WebSocket, code: number): void {
    if (code !== LOST) close(socket, NORMAL);
  }

  /** The company's message was stored. */
  stored(message: Message): void {
    this.#tell(this.#welcome(), { type: "message", message: visitorMessage(message) });
  }

  /** A stored message changed, for example by a redaction. Pages get the whole message again. */
  changed(message: Message): void {
    this.stored(message);
  }

  /** The chat was erased. */
  closeAll(): void {
    this.#acknowledgements.forget();
    for (const socket of this.#open()) close(socket, GOING_AWAY);
  }

  #ready(visitor: Visitor): ServerFrame {
    const identity = this.#host.identity();
    if (!identity) {
      const chatId = visitor.chatExists ? visitor.chatId : null;
      return { type: "ready", chatId, messages: [], hasMore: false, lastSeq: 0 };
    }
    const lastSeq = this.#host.log.newest().seq;
    const { range, pagination } = rangeAfter(lastSeq, visitor.after, PAGE);
    const messages = this.#messages(range);
    return { type: "ready", chatId: identity.chatId, messages, hasMore: pagination.hasMore, lastSeq };
  }

  #before(seq: number): VisitorMessage[] {
    if (!this.#host.identity()) return [];
    const { seq: lastSeq } = this.#host.log.newest();
    return this.#messages(rangeBefore(lastSeq, Math.min(seq, lastSeq + 1), PAGE).range);
  }

  /** Oldest first. */
  #messages(range: SeqRange): VisitorMessage[] {
    const documents = this.#host.log.documents(range);
    return (JSON.parse(`[${documents}]`) as Message[]).reverse().map(visitorMessage);
  }

  /** What a page that comes back may still show as it was: it tells only from where it goes on. */
  #redactedBefore(after: number): VisitorMessage[] {
    if (after === 0 || !this.#host.identity()) return [];
    return redactedBetween(this.#host.state.storage.sql, after - SHOWN, after).map(visitorMessage);
  }

  /** Takes a message after those before it; a page that does not wait for answers is hung up on. */
  async #takeInLine(socket: WebSocket, frame: MessageFrame): Promise<void> {
    if (this.#waiting >= MAX_WAITING) return close(socket, TRY_LATER);
    this.#waiting++;
    const taken = this.#line.then(() => this.#take(socket, frame)).finally(() => this.#waiting--);
    this.#line = taken.catch(() => undefined);
    await taken;
  }

  /** Stores a visitor's message once, however often it comes, and tells all tabs; or says why it was refused. */
  async #take(socket: WebSocket, frame: MessageFrame): Promise<void> {
    // The chat may have begun with another visitor's message while this one waited.
    if (!isOwner(attached(socket), this.#host.identity())) return close(socket, WRONG_IDENTITY);
    const { id, content } = frame;
    const refuse = (frame: RefusedFrame) => tell([socket], frame);
    const unfit = contentFault(frame);
    if (unfit) return refuse(unfit);
    const knownIdentity = this.#host.identity() ? null : await this.#openChat(socket, id);
    if (knownIdentity === "refused") return;
    // A chat that is only being adopted has no message of the visitor's yet.
    if (knownIdentity === null && !this.#host.isRepeated(id)) {
      const wait = this.#secondsToWait();
      if (wait > 0) return refuse(refused(id, "rate_limited", wait, "Too many messages"));
    }
    const { organizationId, chatId } = attached(socket);
    const draft: InboundDraft = {
      id: newId("msg", jurisdictionOf(chatId)),
      dedupe: id,
      type: "TEXT",
      content,
      media: null,
      mediaUrl: null,
      addresses: [],
    };
    const answer = await this.#host.receive(organizationId, draft, knownIdentity);
    if (answer.outcome === "chat_full") return refuse(refused(id, "chat_full", null));
    if (answer.outcome === "unknown") return refuse(refused(id, "unavailable", SOON));
    tell([socket], storedFrame(id, answer.doc));
    if (answer.outcome === "repeated") return;
    const message = visitorMessage(JSON.parse(answer.doc) as Message);
    this.#tell(
      this.#welcome().filter((other) => other !== socket),
      { type: "message", message },
    );
  }

  /** What the chat is to be adopted with, or `refused` where the page was told why not. */
  async #openChat(socket: WebSocket, id: string): Promise<ChatIdentity | "refused"> {
    const { clientNetwork } = attached(socket);
    const wait = this.#secondsRefused(clientNetwork);
    if (wait > 0) {
      tell([socket], refused(id, "rate_limited", wait, "Too many new chats"));
      return "refused";
    }
    let opened: OpenedChat;
    try {
      opened = await openVisitorChat(this.#host.env, attached(socket));
    } catch (error) {
      const { chatId } = attached(socket);
      console.error({ event: "chat_not_opened", chatId, error: causeOf(error) });
      tell([socket], refused(id, "unavailable", SOON));
      return "refused";
    }
    switch (opened.outcome) {
      case "opened":
        return opened.identity;
      case "too_many":
        // For a moment alone: the company may begin the chat meanwhile, and then the visitor is welcome.
        this.#refusedUntil.set(clientNetwork, Date.now() + Math.min(opened.retryAfter, SOON) * 1_000);
        tell([socket], refused(id, "rate_limited", opened.retryAfter, "Too many new chats"));
        break;
      case "erasing":
        tell([socket], refused(id, "unavailable", SOON));
        break;
      case "no_channel":
        close(socket, NO_CHANNEL);
        break;
      case "elsewhere":
        // Connecting again leads to the other object.
        close(socket, TRY_LATER);
    }
    return "refused";
  }

  /** Whether each place is taken by a page that gives signs of life; the others' are vacated. */
  #isFull(): boolean {
    const open = this.#open();
    if (open.length < MAX_SOCKETS) return false;
    const now = Date.now();
    for (const socket of open) {
      const answered = this.#host.state.getWebSocketAutoResponseTimestamp(socket);
      if (isAbandoned(attached(socket).openedAt, answered, now)) close(socket, TRY_LATER);
    }
    return this.#open().length >= MAX_SOCKETS;
  }

  #secondsToWait(): number {
    const now = Date.now();
    return waitBeforeNext(inboundTimes(this.#host.state.storage.sql, now - PACE_WINDOW_MS, MAX_IN_WINDOW), now);
  }

  /** For how long a network was told to wait before it opens a chat. Until then neither directory nor channel is asked. */
  #secondsRefused(network: string): number {
    const now = Date.now();
    for (const [known, until] of this.#refusedUntil) if (until <= now) this.#refusedUntil.delete(known);
    return Math.ceil(((this.#refusedUntil.get(network) ?? now) - now) / 1_000);
  }

  async #acknowledge(seq: number, status: Acknowledged): Promise<void> {
    if (!this.#host.identity() || !this.#acknowledgements.isNews(seq, status)) return;
    this.#acknowledgements.want(Math.min(seq, this.#host.log.newest().seq), status);
    while (this.#host.identity()) {
      const moved = this.#acknowledgements.step(status, Date.now());
      if (moved === null) return;
      for (const message of moved) this.#tell(this.#welcome(), { type: "status", seq: message.seq, status });
      // A long walk lets others in between its steps.
      await scheduler.wait(0);
    }
  }

  /** Tells sockets something of the chat: those of them that are welcome still. */
  #tell(sockets: WebSocket[], frame: ServerFrame): void {
    if (sockets.length > 0) this.#admittance.when(() => tell(sockets, frame));
  }

  #open(): WebSocket[] {
    return this.#host.state.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN);
  }

  /** The open sockets of this chat's visitor. Sockets of anyone else are closed. */
  #welcome(): WebSocket[] {
    return this.#open().filter((socket) => {
      if (isOwner(attached(socket), this.#host.identity())) return true;
      close(socket, WRONG_IDENTITY);
      return false;
    });
  }
}

function attached(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}
