import type { Trouble, UploadFile } from "../shared/files/repeat-upload.ts";
import { isRemoved, reactionOf } from "../shared/message/extras.ts";
import { randomToken } from "../shared/random-token.ts";
import { deliveredUpTo, nextToSend, readUpTo, unreadCount } from "./acknowledgments.ts";
import { type Connection, connect, isFinal } from "./connection.ts";
import {
  type Action,
  type Conversation,
  emptyConversation,
  hasEarlier,
  isTapped,
  type OwnFile,
  reduce,
  resumeAfter,
  sentContentOf,
  type Tapped,
} from "./conversation.ts";
import { FileSender } from "./file-sender.ts";
import type { ChatMessage, IncomingFrame, RefusalFrame } from "./frames.ts";
import type { SessionView } from "./session-view.ts";
import type { TabStorage } from "./stored.ts";

/** A file that the visitor has chosen. */
export interface ChosenFile {
  file: File;
  shown: Omit<OwnFile, "mediaId">;
}

export interface SessionOptions {
  /** @param events the number of the newest event that the page knows of, or null */
  socketUrl: (after: number, events: number | null) => string;
  /** Null for a malformed identity. Called before each attempt to connect. */
  protocols: () => string[] | null;
  storage: Pick<TabStorage, "outbox" | "saveOutbox">;
  upload: UploadFile;
  /** Whether the visitor may send files, as far as the page knows before it is connected. */
  canUpload: boolean;
  /** The visitor is about to write. */
  onWrite?: () => void;
  onChange: (view: SessionView) => void;
  connect?: typeof connect;
  now?: () => number;
}

/** After a refusal with at most this `retryAfter`, the message stays "Sending" and is sent again. */
const MAX_WAIT_SECONDS = 5;
/** The server's close reason if the visitor has too many open pages. */
const CROWDED = "Too many open pages";
/** A connection that doesn't answer a message within this time is dead. */
const ANSWER_TIMEOUT_MS = 15_000;
/** How long the page says why it took back a reaction. */
const NOTICE_MS = 15_000;
/** How long the company's typing is shown. */
const TYPING_MS = 6_000;
/** The pause between two frames that tell that the visitor is typing. */
const TELL_TYPING_MS = 3_000;
/** The timeout of loading older messages. */
const OLDER_TIMEOUT_MS = 10_000;

/** A visitor's conversation: sends, resends, acknowledges and catches up, and reports each change. */
export class ChatSession {
  readonly #options: SessionOptions;
  readonly #connection: Connection | null = null;
  #view: SessionView;
  /** Whether `ready` has arrived, so that frames can be sent. */
  #ready = false;
  /** The id of the message that waits for its acknowledgment. */
  #inFlight: string | null = null;
  /** The timeout of the message in flight, or the wait before it is sent again. */
  #answerTimer: ReturnType<typeof setTimeout> | undefined;
  /** The timeout of loading older messages. */
  #olderTimer: ReturnType<typeof setTimeout> | undefined;
  /** Ends the wait for the answer to a reaction, or before it is sent again. */
  #reactingTimer: ReturnType<typeof setTimeout> | undefined;
  /** Ends the company's typing. */
  #typingTimer: ReturnType<typeof setTimeout> | undefined;
  #requestedAfter = 0;
  #events: number | null = null;
  readonly #files: FileSender;
  #toldTypingAt = Number.NEGATIVE_INFINITY;
  #deliveredSent = 0;
  #readSent = 0;
  #seen = 0;
  #visible = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const conversation = emptyConversation(options.storage.outbox());
    const { protocols, connect: open = connect } = options;
    const link = protocols() === null ? 4401 : "connecting";
    this.#view = {
      conversation,
      link,
      older: "idle",
      notice: null,
      unread: 0,
      typing: null,
      canUpload: options.canUpload,
      features: [],
      reacting: [],
      uploading: null,
      contactFault: null,
    };
    this.#files = new FileSender({
      upload: options.upload,
      isOnline: () => this.#ready,
      onProgress: (uploading) => this.#show({ uploading }),
      onStored: (id, mediaId) => {
        this.#apply({ type: "uploaded", id, mediaId });
        this.#send();
      },
      onTrouble: (id, trouble) => {
        this.#apply({ type: "trouble", id, trouble });
        this.#show({ uploading: null, notice: { kind: "trouble", trouble } });
        this.#send();
      },
    });
    if (link === 4401) return;
    this.#connection = open(
      () => options.socketUrl((this.#requestedAfter = resumeAfter(this.#view.conversation)), this.#events),
      () => protocols() ?? [],
      {
        onFrame: (frame) => this.#receive(frame),
        onClose: (code, reason) => this.#closed(code, reason),
      },
    );
  }

  get view(): SessionView {
    return this.#view;
  }

  /** Shows a message immediately and sends it after the messages before it. A second tap on choices changes nothing. */
  write(text: string, about: { choice?: Tapped; replyTo?: string | undefined } = {}): void {
    this.#options.onWrite?.();
    if (about.choice && isTapped(this.#view.conversation, about.choice.messageId)) return;
    this.#apply({ type: "write", id: randomToken(), text, ...about, at: this.#now() });
    this.#toldTypingAt = Number.NEGATIVE_INFINITY;
    this.#send();
  }

  /** Shows a message for each file, the first with the text and as the reply, and sends them one after the other. */
  sendFiles(text: string, files: readonly ChosenFile[], replyTo?: string): void {
    this.#options.onWrite?.();
    for (const [index, { file, shown }] of files.entries()) {
      const id = randomToken();
      this.#files.keep(id, file);
      const own = { ...shown, mediaId: null };
      const first = index === 0 ? { text, replyTo } : { text: "" };
      this.#apply({ type: "write", id, ...first, file: own, at: this.#now() });
    }
    this.#send();
  }

  /** Takes back a message with a file that was not sent yet. */
  withdraw(id: string): void {
    this.#files.forget(id);
    this.#apply({ type: "withdraw", id });
    this.#show({ notice: null, ...(this.#view.uploading?.id === id && { uploading: null }) });
    this.#send();
  }

  /** Tells the company that the visitor is typing, at most every 3 seconds. */
  typing(): void {
    const now = this.#now();
    if (!this.#offers("typing") || now - this.#toldTypingAt < TELL_TYPING_MS) return;
    this.#toldTypingAt = now;
    this.#connection?.send({ type: "typing" });
  }

  /** Tells the company who the visitor is. @returns whether there is a connection */
  tellContact(contact: { name?: string; email?: string; anonymousToken?: string }): boolean {
    if (!this.#offers("contact")) return false;
    this.#show({ contactFault: null });
    this.#connection?.send({ type: "contact", ...contact });
    return true;
  }

  /** Shows a reaction at once, and tells the server after the reactions before it. A null takes the reaction back. */
  react(seq: number, emoji: string | null): void {
    if (!this.#offers("reactions")) return;
    const [inFlight, ...waiting] = this.#view.reacting;
    const others = waiting.filter((one) => one.seq !== seq);
    this.#show({ reacting: [...(inFlight ? [inFlight] : []), ...others, { seq, emoji }], notice: null });
    if (!inFlight) this.#react();
  }

  /** Sends a refused message again, with the same id. */
  sendAgain(id: string): void {
    this.#apply({ type: "again", id });
    this.#show({ notice: null });
    this.#send();
  }

  /** Sets whether the visitor sees the messages. Only visible messages are acknowledged as read. */
  setVisible(visible: boolean): void {
    this.#visible = visible;
    if (visible) this.#acknowledge();
  }

  /** Reconnects immediately, because the network is back or the page is visible again. */
  wake(): void {
    if (!this.#ready && typeof this.#view.link === "string") this.#connection?.restart();
  }

  /** Goes offline when the device loses its network, long before the socket notices. */
  networkLost(): void {
    if (typeof this.#view.link === "string") this.#closed(1006, "");
  }

  /** Loads the page before the oldest message, as soon as there is a connection. */
  loadOlder(): void {
    if (this.#view.older === "loading" || typeof this.#view.link !== "string") return;
    this.#show({ older: "loading" });
    this.#olderTimer = setTimeout(() => this.#finishOlder("failed"), OLDER_TIMEOUT_MS);
    if (this.#ready) this.#requestOlder();
    else this.wake();
  }

  close(): void {
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#olderTimer);
    clearTimeout(this.#typingTimer);
    clearTimeout(this.#reactingTimer);
    this.#ready = false;
    this.#connection?.close();
  }

  #receive(frame: IncomingFrame): void {
    if (frame.type === "refused" && this.#retriesSoon(frame)) return;
    if (frame.type === "refused" && frame.id === "contact") {
      this.#show({ contactFault: frame.message || frame.code });
      return;
    }
    if ((frame.type === "stored" || frame.type === "refused") && frame.id === this.#inFlight) this.#clearInFlight();
    this.#apply({ type: "frame", frame });
    if (frame.type === "updated" && this.#isReacted(frame.message)) this.#reacted();
    if (frame.type === "stored") {
      this.#files.forget(frame.id);
      this.#show({ notice: null });
    }
    if (frame.type === "refused") {
      if (frame.id === "reaction") this.#takeBackReaction(frame);
      else this.#show({ notice: { kind: "trouble", trouble: frame } });
    }
    if (frame.type === "older") this.#finishOlder("idle");
    if (frame.type === "typing") this.#showTyping({ name: frame.name });
    if (frame.type === "message" && frame.message.direction === "OUTBOUND") this.#showTyping(null);
    if (frame.type === "ready") {
      this.#events = frame.events;
      this.#startConnection();
      const { features } = frame;
      this.#show({ link: "online", features, canUpload: features.includes("uploads") });
    }
    if (this.#mustCatchUp(frame)) {
      this.reconnect();
      return;
    }
    this.#acknowledge();
    this.#send();
  }

  /** Sends the first reaction that is not confirmed. */
  #react(): void {
    clearTimeout(this.#reactingTimer);
    const [next] = this.#view.reacting;
    if (!next || !this.#ready) return;
    this.#connection?.send({ type: "reaction", ...next });
    // In a full chat the server drops a reaction, and says nothing.
    this.#reactingTimer = setTimeout(() => {
      this.#takeBackReaction({ code: "not_accepted", message: "", retryAfter: null });
    }, ANSWER_TIMEOUT_MS);
  }

  /** Forgets the first reaction, and says why for a while. */
  #takeBackReaction(trouble: Trouble): void {
    this.#reacted();
    const notice = { kind: "reaction", trouble } as const;
    this.#show({ notice });
    setTimeout(() => this.#view.notice === notice && this.#show({ notice: null }), NOTICE_MS);
  }

  /** Whether a change ends the wait for the first reaction: it is there, or the message can't have one any longer. */
  #isReacted(message: ChatMessage): boolean {
    const [first] = this.#view.reacting;
    return first?.seq === message.seq && (isRemoved(message) || reactionOf("contact", message) === first.emoji);
  }

  /** Forgets the first reaction: it is confirmed or refused. */
  #reacted(): void {
    this.#show({ reacting: this.#view.reacting.slice(1) });
    this.#react();
  }

  /** Whether there is a connection to a server that understands this. */
  #offers(feature: string): boolean {
    return this.#ready && this.#view.features.includes(feature);
  }

  #showTyping(typing: SessionView["typing"]): void {
    clearTimeout(this.#typingTimer);
    if (typing) this.#typingTimer = setTimeout(() => this.#showTyping(null), TYPING_MS);
    if (typing || this.#view.typing) this.#show({ typing });
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** Resets the state of the previous connection. */
  #startConnection(): void {
    this.#ready = true;
    this.#clearInFlight();
    this.#deliveredSent = 0;
    this.#readSent = 0;
    // Without entries, `#seen` belongs to a deleted chat.
    if (this.#view.conversation.entries.length === 0) this.#seen = 0;
    if (this.#view.older === "loading") this.#requestOlder();
    this.#react();
  }

  #requestOlder(): void {
    const { conversation } = this.#view;
    const before = conversation.entries[0]?.message.seq ?? 0;
    if (hasEarlier(conversation)) this.#connection?.send({ type: "older", before });
    else this.#finishOlder("idle");
  }

  #finishOlder(older: "idle" | "failed"): void {
    clearTimeout(this.#olderTimer);
    if (this.#view.older === "loading") this.#show({ older });
  }

  /** Whether to reconnect to fill a gap. Not if the last attempt made no progress. */
  #mustCatchUp(frame: IncomingFrame): boolean {
    const { conversation } = this.#view;
    if (!this.#ready || conversation.caughtUp) return false;
    return frame.type !== "ready" || resumeAfter(conversation) !== this.#requestedAfter;
  }

  #retriesSoon(frame: RefusalFrame): boolean {
    if (frame.retryAfter === null || frame.retryAfter > MAX_WAIT_SECONDS) return false;
    const waitMs = Math.max(frame.retryAfter, 1) * 1_000;
    if (frame.id === "reaction" && this.#view.reacting.length > 0) {
      clearTimeout(this.#reactingTimer);
      this.#reactingTimer = setTimeout(() => this.#react(), waitMs);
      return true;
    }
    if (frame.id !== this.#inFlight) return false;
    this.#show({ notice: { kind: "wait", trouble: frame } });
    clearTimeout(this.#answerTimer);
    // The message stays in flight, so that later ones don't overtake it.
    this.#answerTimer = setTimeout(() => {
      this.#clearInFlight();
      this.#send();
    }, waitMs);
    return true;
  }

  #closed(code: number, reason: string): void {
    const inFlight = this.#inFlight;
    this.#ready = false;
    this.#clearInFlight();
    this.#finishOlder("failed");
    clearTimeout(this.#reactingTimer);
    if (this.#view.reacting.length > 0) this.#show({ reacting: [] });
    // With these codes the server rejects the message itself, so a resend would fail again.
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
    if (own.file?.mediaId === null) {
      void this.#files.start(own.id);
      return;
    }
    this.#inFlight = own.id;
    this.#apply({ type: "tried", id: own.id });
    const { id, choice, file, replyTo } = own;
    const extras = {
      ...(choice && { choice: choice.id }),
      ...(replyTo !== undefined && { replyTo }),
      ...(file?.mediaId && { mediaId: file.mediaId }),
    };
    this.#connection?.send({ type: "message", id, content: sentContentOf(own), ...extras });
    this.#answerTimer = setTimeout(() => this.reconnect(), ANSWER_TIMEOUT_MS);
  }

  #clearInFlight(): void {
    clearTimeout(this.#answerTimer);
    this.#inFlight = null;
  }

  /** Connects again, as another visitor if another tab has kept the token of one. */
  reconnect(): void {
    this.#ready = false;
    this.#clearInFlight();
    this.#connection?.restart();
  }

  #acknowledge(): void {
    const { conversation } = this.#view;
    const unread = this.#unreadIn(conversation);
    if (unread !== this.#view.unread) this.#show({ unread });
    if (!this.#ready) return;
    const delivered = deliveredUpTo(conversation);
    if (delivered > this.#deliveredSent) {
      this.#deliveredSent = delivered;
      this.#connection?.send({ type: "delivered", seq: delivered });
    }
    const read = this.#visible ? readUpTo(conversation) : 0;
    if (read > this.#readSent) {
      this.#readSent = read;
      this.#connection?.send({ type: "read", seq: read });
    }
  }

  #apply(action: Action): void {
    const before = this.#view.conversation;
    const conversation = reduce(before, action);
    if (conversation.outbox !== before.outbox) this.#options.storage.saveOutbox(conversation.outbox);
    // Part of what was missed is neither seen nor unread: the rest arrives after a reconnection.
    const unread = conversation.caughtUp ? this.#unreadIn(conversation) : this.#view.unread;
    this.#show({ conversation, unread });
  }

  /** How many messages are unread. A visible page has seen all that it shows. */
  #unreadIn(conversation: Conversation): number {
    if (this.#visible) this.#seen = Math.max(this.#seen, readUpTo(conversation));
    return unreadCount(conversation, this.#seen);
  }

  #show(change: Partial<SessionView>): void {
    this.#view = { ...this.#view, ...change };
    this.#options.onChange(this.#view);
  }
}
