import { deliveredUpTo, nextToSend, readUpTo, unreadCount } from "./acknowledgements.ts";
import { type Connection, connect, type FinalCode, isFinal } from "./connection.ts";
import {
  type Action,
  type Conversation,
  emptyConversation,
  reduce,
  resumeAfter,
  type Trouble,
} from "./conversation.ts";
import type { RefusedFrame, ServerFrame } from "./frames.ts";
import { randomToken } from "./identity.ts";
import type { Kept } from "./stored.ts";

/**
 * How the page stands with the server. `crowded`: the visitor has too many pages open, and this one waits for its
 * place; a number is the close code after which it no longer tries.
 */
export type LinkState = "connecting" | "online" | "offline" | "crowded" | FinalCode;

/** Everything that the interface shows. */
export interface SessionView {
  conversation: Conversation;
  link: LinkState;
  older: "idle" | "loading" | "failed";
  /** The latest refusal that the visitor should hear of; `wait` means that it is sent again by itself. */
  notice: { kind: "trouble" | "wait"; trouble: Trouble } | null;
  unread: number;
}

export interface SessionOptions {
  socketUrl: (after: number) => string;
  /** Null for an identity that can't even be told to the server. */
  protocols: string[] | null;
  kept: Kept;
  onChange: (view: SessionView) => void;
  connect?: typeof connect;
  now?: () => number;
}

/** A refusal that asks for no more than this is waited out; the message stays "Sending" and keeps its place. */
const PATIENCE_SECONDS = 5;
/** With this reason the server closes one page too many. */
const CROWDED = "Too many open pages";
/** A message that is not answered by then went into a connection that is dead and doesn't know it. */
const ANSWER_MS = 15_000;
/** So long is the past waited for. */
const OLDER_MS = 10_000;

/** A visitor's conversation: sends, resends, acknowledges and catches up, and tells each change. */
export class ChatSession {
  readonly #options: SessionOptions;
  readonly #connection: Connection | null = null;
  #view: SessionView;
  /** The server has answered this connection, so frames may be sent on it. */
  #ready = false;
  /** The own message whose acknowledgement is awaited on this connection. */
  #inFlight: string | null = null;
  /** Runs while a message is in flight: until its answer is overdue, or until it is sent again. */
  #patience: ReturnType<typeof setTimeout> | undefined;
  /** Runs while the past is waited for. */
  #olderPatience: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;
  #deliveredSent = 0;
  #readSent = 0;
  #seen = 0;
  #visible = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const conversation = emptyConversation(options.kept.outbox());
    const { protocols, connect: open = connect } = options;
    const link = protocols === null ? 4401 : "connecting";
    this.#view = { conversation, link, older: "idle", notice: null, unread: 0 };
    if (protocols === null) return;
    this.#connection = open(() => options.socketUrl((this.#asked = resumeAfter(this.#view.conversation))), protocols, {
      onFrame: (frame) => this.#receive(frame),
      onClose: (code, reason) => this.#closed(code, reason),
    });
  }

  get view(): SessionView {
    return this.#view;
  }

  /** Shows a message at once and sends it as soon as it is its turn. */
  write(text: string): void {
    const at = (this.#options.now ?? Date.now)();
    this.#apply({ type: "write", id: randomToken(), text, at });
    this.#send();
  }

  /** Sends a refused message again, under its own id. */
  sendAgain(id: string): void {
    this.#apply({ type: "again", id });
    this.#show({ notice: null });
    this.#send();
  }

  /** Whether the visitor sees the messages: only then are they read. */
  setVisible(visible: boolean): void {
    this.#visible = visible;
    if (visible) this.#acknowledge();
  }

  /** The network is back, or the page is looked at again: no reason to wait any longer. */
  wake(): void {
    if (!this.#ready && typeof this.#view.link === "string") this.#connection?.restart();
  }

  /** The device says that it has no network; the socket would find out by itself, much later. */
  networkLost(): void {
    if (typeof this.#view.link === "string") this.#closed(1006, "");
  }

  /** Asks for the page before the oldest message; without a connection, as soon as there is one. */
  loadOlder(): void {
    if (this.#view.older === "loading" || typeof this.#view.link !== "string") return;
    this.#show({ older: "loading" });
    this.#olderPatience = setTimeout(() => this.#endOlder("failed"), OLDER_MS);
    if (this.#ready) this.#askOlder();
    else this.wake();
  }

  close(): void {
    clearTimeout(this.#patience);
    clearTimeout(this.#olderPatience);
    this.#connection?.close();
  }

  #receive(frame: ServerFrame): void {
    if (frame.type === "refused" && this.#waitsOut(frame)) return;
    if ((frame.type === "stored" || frame.type === "refused") && frame.id === this.#inFlight) this.#land();
    this.#apply({ type: "frame", frame });
    if (frame.type === "stored") this.#show({ notice: null });
    if (frame.type === "refused") this.#show({ notice: { kind: "trouble", trouble: frame } });
    if (frame.type === "older") this.#endOlder("idle");
    if (frame.type === "ready") {
      this.#begin();
      this.#show({ link: "online" });
    }
    if (this.#mustCatchUp(frame)) {
      this.#restart();
      return;
    }
    this.#acknowledge();
    this.#send();
  }

  /** A new connection knows nothing of what was in flight or acknowledged on the last one. */
  #begin(): void {
    this.#ready = true;
    this.#land();
    this.#deliveredSent = 0;
    this.#readSent = 0;
    // Nothing is here: what was seen was of a chat that is gone.
    if (this.#view.conversation.entries.length === 0) this.#seen = 0;
    if (this.#view.older === "loading") this.#askOlder();
  }

  #askOlder(): void {
    const first = this.#view.conversation.entries[0]?.message.seq ?? 0;
    if (first > 1) this.#connection?.send({ type: "older", before: first });
    else this.#endOlder("idle");
  }

  #endOlder(older: "idle" | "failed"): void {
    clearTimeout(this.#olderPatience);
    if (this.#view.older === "loading") this.#show({ older });
  }

  /** A gap is filled by connecting again; but not for ever, should a server promise more than it gives. */
  #mustCatchUp(frame: ServerFrame): boolean {
    const { conversation } = this.#view;
    if (!this.#ready || conversation.caughtUp) return false;
    return frame.type !== "ready" || resumeAfter(conversation) !== this.#asked;
  }

  #waitsOut(frame: RefusedFrame): boolean {
    if (frame.id !== this.#inFlight || frame.retryAfter === null || frame.retryAfter > PATIENCE_SECONDS) return false;
    this.#show({ notice: { kind: "wait", trouble: frame } });
    clearTimeout(this.#patience);
    // The line stays held by this message, so that later ones don't overtake it.
    this.#patience = setTimeout(() => {
      this.#land();
      this.#send();
    }, Math.max(frame.retryAfter, 1) * 1_000);
    return true;
  }

  #closed(code: number, reason: string): void {
    const inFlight = this.#inFlight;
    this.#ready = false;
    this.#land();
    this.#endOlder("failed");
    // The server would hang up on the same frame each time: it is the message that can't be sent, not the network.
    if (inFlight !== null && (code === 1008 || code === 1009)) {
      const trouble = { code: code === 1009 ? "too_long" : "not_accepted", message: "", retryAfter: null };
      this.#apply({ type: "trouble", id: inFlight, trouble });
      this.#show({ notice: { kind: "trouble", trouble } });
    }
    this.#show({ link: isFinal(code) ? code : reason === CROWDED ? "crowded" : "offline" });
  }

  #send(): void {
    const own = nextToSend(this.#view.conversation);
    if (!this.#ready || this.#inFlight !== null || !own) return;
    this.#inFlight = own.id;
    this.#apply({ type: "tried", id: own.id });
    this.#connection?.send({ type: "message", id: own.id, content: own.text });
    this.#patience = setTimeout(() => this.#restart(), ANSWER_MS);
  }

  /** Nothing is in flight any more. */
  #land(): void {
    clearTimeout(this.#patience);
    this.#inFlight = null;
  }

  #restart(): void {
    this.#ready = false;
    this.#land();
    this.#connection?.restart();
  }

  #acknowledge(): void {
    const { conversation } = this.#view;
    const read = this.#visible ? readUpTo(conversation) : 0;
    this.#seen = Math.max(this.#seen, read);
    this.#show({ unread: unreadCount(conversation, this.#seen) });
    if (!this.#ready) return;
    const delivered = deliveredUpTo(conversation);
    if (delivered > this.#deliveredSent) {
      this.#deliveredSent = delivered;
      this.#connection?.send({ type: "delivered", seq: delivered });
    }
    if (read > this.#readSent) {
      this.#readSent = read;
      this.#connection?.send({ type: "read", seq: read });
    }
  }

  #apply(action: Action): void {
    const before = this.#view.conversation;
    const conversation = reduce(before, action);
    if (conversation.outbox !== before.outbox) this.#options.kept.keepOutbox(conversation.outbox);
    this.#show({ conversation });
  }

  #show(change: Partial<SessionView>): void {
    this.#view = { ...this.#view, ...change };
    this.#options.onChange(this.#view);
  }
}
