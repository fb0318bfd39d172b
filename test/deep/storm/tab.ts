import { deliveredUpTo } from "../../../src/web/visitor/acknowledgments.ts";
import { type Connection, type ConnectionEvents, isFinal } from "../../../src/web/visitor/connection.ts";
import type { Conversation, OwnMessage } from "../../../src/web/visitor/conversation.ts";
import { parseFrame } from "../../../src/web/visitor/frames.ts";
import { ChatSession } from "../../../src/web/visitor/session.ts";
import type { Random } from "../../support/random.ts";

const AGAIN_AFTER_MS = { least: 50, most: 300 };

/** The addresses that a visitor's tabs use. */
export interface TabPlace {
  /** `ws://…/web/<channel>/socket`. */
  url: string;
  protocols: string[];
  /** The visitor's own address, because requests without a key are counted by address. */
  from: string;
  random: Random;
  /** The highest seq that one of the visitor's tabs has acknowledged. */
  acknowledged: number;
  faults: string[];
}

/** A tab with the session of the visitors' page, without its view, on a connection that reconnects quickly. */
export class Tab {
  readonly session: ChatSession;
  readonly #place: TabPlace;
  #outbox: OwnMessage[];
  #link: StormConnection | null = null;

  constructor(place: TabPlace, outbox: readonly OwnMessage[] = []) {
    this.#place = place;
    this.#outbox = structuredClone([...outbox]);
    this.session = new ChatSession({
      socketUrl: (after, events) => `${place.url}?after=${after}${events === null ? "" : `&events=${events}`}`,
      canUpload: false,
      upload: () => Promise.reject(new Error("This visitor sends no files")),
      protocols: () => place.protocols,
      storage: {
        outbox: () => this.#outbox,
        saveOutbox: (outbox) => void (this.#outbox = structuredClone([...outbox])),
      },
      onChange: ({ conversation }) => this.#judge(conversation),
      connect: (url, _protocols, events) => (this.#link = new StormConnection(place, url, events)),
    });
  }

  get conversation(): Conversation {
    return this.session.view.conversation;
  }

  /** A duplicate, as a browser makes it: both tabs have the unsent messages. */
  duplicate(): Tab {
    return new Tab(this.#place, this.#outbox);
  }

  /** Whether everything was sent, and everything up to `seq` is here and acknowledged. */
  isSettled(seq: number): boolean {
    const { entries, outbox, caughtUp } = this.conversation;
    const isHere = (entries.at(-1)?.message.seq ?? 0) === seq;
    return isHere && caughtUp && outbox.length === 0 && deliveredUpTo(this.conversation) === 0;
  }

  /** Offline until the next call. */
  goOffline(): void {
    this.#link?.hold();
  }

  goOnline(): void {
    this.#link?.restart();
  }

  close(): void {
    this.session.close();
  }

  #judge({ entries }: Conversation): void {
    const first = entries[0]?.message.seq ?? 0;
    const wrong = entries.findIndex(({ message }, at) => message.seq !== first + at);
    if (wrong >= 0) this.#place.faults.push(`a tab showed ${entries[wrong]?.message.seq} in place of ${first + wrong}`);
  }
}

class StormConnection implements Connection {
  readonly #place: TabPlace;
  readonly #url: () => string;
  readonly #events: ConnectionEvents;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(place: TabPlace, url: () => string, events: ConnectionEvents) {
    this.#place = place;
    this.#url = url;
    this.#events = events;
    this.#open();
  }

  send(frame: Parameters<Connection["send"]>[0]): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    if (frame.type === "delivered") this.#place.acknowledged = Math.max(this.#place.acknowledged, frame.seq);
    this.#socket.send(JSON.stringify(frame));
  }

  restart(): void {
    this.close();
    this.#open();
  }

  hold(): void {
    this.close();
    this.#events.onClose(1006, "");
  }

  close(): void {
    clearTimeout(this.#timer);
    const former = this.#socket;
    this.#socket = null;
    former?.close();
  }

  #open(): void {
    const url = this.#url();
    const { protocols, from, random, faults } = this.#place;
    const after = Number(new URL(url).searchParams.get("after"));
    // Node's own socket accepts headers, unlike a browser's.
    const Open = WebSocket as unknown as new (url: string, options: object) => WebSocket;
    const current = new Open(url, { protocols, headers: { "CF-Connecting-IP": from } });
    this.#socket = current;
    current.addEventListener("message", ({ data }) => {
      if (current !== this.#socket) return;
      const frame = parseFrame(data);
      if (!frame) return;
      if (frame.type === "ready" && frame.messages.some(({ seq }) => seq <= after)) {
        faults.push(`a tab that had ${after} was told of one before it`);
      }
      this.#events.onFrame(frame);
    });
    current.addEventListener("error", () => {});
    current.addEventListener("close", ({ code, reason }) => {
      if (current !== this.#socket) return;
      this.#socket = null;
      if (isFinal(code)) faults.push(`a tab was sent away: ${code} ${reason}`);
      else this.#timer = setTimeout(() => this.#open(), random.between(AGAIN_AFTER_MS.least, AGAIN_AFTER_MS.most));
      this.#events.onClose(code, reason);
    });
  }
}
