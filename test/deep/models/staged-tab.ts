import { expect } from "vitest";
import { visitorHeaders } from "../../../src/channels/web/visitor.ts";
import type { ServerFrame } from "../../../src/chats/object/visitors/frames.ts";
import { saw } from "./hold.ts";
import type { Stage } from "./stage.ts";

const FORWARD = ["SENT", "DELIVERED", "READ"];

/** A visitor's page on a staged chat: what it is told must be whole, in order, and go forward alone. */
export class StagedTab {
  readonly name: string;
  /** What the page knows of the messages, by their numbers: their status. */
  readonly known = new Map<number, string>();
  /** The ids of its messages that were told to be stored, with their numbers. */
  readonly stored = new Map<string, number>();
  readonly #stage: Stage;
  #socket: WebSocket | undefined;
  #newest = 0;
  /** What it had when it connected: of that it is told no more than what happens from then on. */
  #before = 0;

  constructor(stage: Stage, name: string) {
    this.#stage = stage;
    this.name = name;
  }

  /** Opens a socket, in place of the one before, and catches up from the newest message that it has. */
  connect(): void {
    this.#socket?.close();
    this.#before = this.#newest;
    const { chatId, organizationId, channelId, contactAddress: address } = this.#stage.identity;
    const admission = { origin: null, ownOrigin: "https://parley.test", fingerprint: null, readAt: Date.now() };
    const visitor = { chatId, organizationId, channelId, address, clientNetwork: this.name, admission };
    const headers = visitorHeaders({ ...visitor, after: this.#before });
    // The platform's end of it finds its tab by what it carries.
    this.#stage.chat.fetch(new Request("https://parley.test/", { headers })).webSocket?.accept();
    this.#socket = this.#stage.sockets().findLast((socket) => nameOf(socket) === this.name);
  }

  async say(frame: object): Promise<void> {
    if (this.#socket?.readyState !== WebSocket.OPEN) this.connect();
    if (this.#socket) await this.#stage.chat.webSocketMessage(this.#socket, JSON.stringify(frame));
  }

  /** Acknowledges all that it has. */
  acknowledge(type: "delivered" | "read"): Promise<void> {
    return this.say({ type, seq: this.#newest });
  }

  /** A frame from the chat. */
  hear(frame: ServerFrame): void {
    saw(`frame: ${frame.type}`);
    if (frame.type === "ready") for (const message of frame.messages) this.#learn(message.seq, message.status);
    if (frame.type === "message") this.#learn(frame.message.seq, frame.message.status);
    if (frame.type === "stored") {
      expect(this.stored.get(frame.id) ?? frame.seq, `the number of ${frame.id}`).toBe(frame.seq);
      this.stored.set(frame.id, frame.seq);
      this.known.set(frame.seq, "RECEIVED");
    }
    if (frame.type === "status") {
      const before = FORWARD.indexOf(this.known.get(frame.seq) ?? "");
      expect(FORWARD.indexOf(frame.status), `${this.name} is told of message ${frame.seq}`).toBeGreaterThan(before);
      this.known.set(frame.seq, frame.status);
    }
  }

  #learn(seq: number, status: string): void {
    expect(seq, `${this.name} is told of a message`).toBeGreaterThan(this.#newest);
    this.#newest = seq;
    this.known.set(seq, status);
  }

  /** All that there is, as it is; unless it was hung up on, and would connect again. */
  expectWhole(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const all = this.#stage.messages();
    expect(
      [...this.known.keys()].sort((one, other) => one - other),
      this.name,
    ).toEqual(all.map(({ seq }) => seq));
    for (const { seq, status } of all.slice(this.#before)) {
      expect(this.known.get(seq), `what ${this.name} knows of message ${seq}`).toBe(status);
    }
  }

  close(): void {
    this.#socket?.close();
  }
}

/** Which tab's socket this is; null: none's. */
export function nameOf(socket: WebSocket): string | null {
  return (socket.deserializeAttachment() as { clientNetwork: string } | null)?.clientNetwork ?? null;
}
