import type { VisitorMessage } from "../../../src/channels/web/render.ts";
import type { ServerFrame } from "../../../src/chats/object/visitors/frames.ts";
import type { SimulatedSocket } from "../objects/sockets.ts";
import type { Book, Row } from "./book.ts";
import type { LifeWorld } from "./rules.ts";

const FORWARD = ["SENT", "DELIVERED", "READ"];

/** A visitor's page on one life of a chat: what it is told must be whole, in order, and go forward alone. */
export class Tab {
  readonly name: string;
  readonly book: Book;
  socket: SimulatedSocket | undefined;
  /** The newest message that it was shown. */
  newest = 0;
  /** The number of the newest event when it last connected. */
  events: number | null = null;
  /** What it had when it connected: of that it is told no more than what happens from then on. */
  #before = 0;
  /** What the page knows of the messages, by their seqs: their status. */
  readonly #known = new Map<number, string>();
  readonly #world: LifeWorld;

  constructor(world: LifeWorld, name: string, book: Book) {
    this.#world = world;
    this.name = name;
    this.book = book;
  }

  get isOpen(): boolean {
    return this.socket?.isOpen ?? false;
  }

  connected(socket: SimulatedSocket): void {
    this.socket?.close();
    this.socket = socket;
    this.#before = this.newest;
  }

  /** A frame from the chat. */
  hear(frame: ServerFrame): void {
    const world = this.#world;
    world.count(`frame: ${frame.type}`);
    if (frame.type === "ready") {
      this.events = frame.events;
      for (const message of frame.messages) this.#learn(message.seq, message.status);
    }
    if (frame.type === "message" || frame.type === "updated") this.#shown(frame.type, frame.message);
    if (frame.type === "stored") {
      const row = this.book.rows.get(frame.messageId);
      const isStored = row?.columns.dedupe === `in:${frame.id}` && row.message.seq === frame.seq;
      world.check("told", isStored, () => `${frame.id} is not stored as message ${frame.seq}`);
      this.#known.set(frame.seq, "RECEIVED");
    }
    if (frame.type === "status") {
      const before = this.#known.get(frame.seq) ?? "";
      const isForward = FORWARD.indexOf(frame.status) > FORWARD.indexOf(before);
      world.check("page", isForward, () => `${this.name} is told ${frame.status} of ${frame.seq} after ${before}`);
      this.#known.set(frame.seq, frame.status);
    }
  }

  /** A message is new, or it has changed. */
  #shown(type: "message" | "updated", { id, seq, status, text }: VisitorMessage): void {
    this.#world.check("blank", text === "" || !this.book.redacted.has(id), () => `${this.name} is shown ${id}`);
    if (type === "message") this.#learn(seq, status);
  }

  #learn(seq: number, status: string): void {
    const { name, newest } = this;
    this.#world.check("page", seq > newest, () => `${name} is told of message ${seq} after ${newest}`);
    this.newest = seq;
    this.#known.set(seq, status);
  }

  /** It has all that there is, as it is; unless it was hung up on, and would connect again. */
  checkWhole(): void {
    if (!this.isOpen) return;
    for (const { message } of this.book.in("messages")) {
      const { seq, status } = message as Row["message"] & { seq: number };
      const known = this.#known.get(seq);
      const isRight = known === status || (known !== undefined && seq <= this.#before);
      this.#world.check("page", isRight, () => `${this.name} knows message ${seq} as ${known}, and it is ${status}`);
    }
  }
}
