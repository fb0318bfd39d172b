import { type VisitorMessage, visitorMessage } from "../../../src/channels/web/render.ts";
import type { ServerFrame } from "../../../src/chats/object/visitors/frames.ts";
import type { Message } from "../../../src/model/message.ts";
import type { SimulatedSocket } from "../objects/sockets.ts";
import type { Book } from "./book.ts";
import { isBlank } from "./content-judge.ts";
import type { LifeWorld } from "./rules.ts";
import { wordsIn } from "./sayings.ts";

const FORWARD = ["SENT", "DELIVERED", "READ"];

/** The simulated service has no key to sign links with. */
const noLink = () => null;

/** A visitor's page on one life of a chat: what it is told must be whole, in order, and go forward alone. */
export class Tab {
  readonly name: string;
  readonly book: Book;
  socket: SimulatedSocket | undefined;
  /** The newest message that it was shown. */
  newest = 0;
  /** The number of the newest event when it last connected. */
  events: number | null = null;
  /** What it had when it connected: of that it is told no status but what happens from then on. */
  #before = 0;
  /** What the page shows, by seq. */
  readonly #known = new Map<number, VisitorMessage>();
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
    if (frame.type === "reset") {
      this.#known.clear();
      this.newest = 0;
    }
    if (frame.type === "ready") {
      this.events = frame.events;
      for (const message of frame.messages) this.#learn(message);
      this.#checkShown();
    }
    if (frame.type === "message") this.#learn(frame.message);
    if (frame.type === "updated") this.#updated(frame.message);
    if (frame.type === "stored") {
      const row = this.book.rows.get(frame.messageId);
      const isStored = row?.columns.dedupe === `in:${frame.id}` && row.message.seq === frame.seq;
      world.check("told", isStored, () => `${frame.id} is not stored as message ${frame.seq}`);
      if (row) this.#known.set(frame.seq, visitorMessage(row.message as Message, noLink));
    }
    if (frame.type === "status") {
      const message = this.#known.get(frame.seq);
      const isForward = FORWARD.indexOf(frame.status) > FORWARD.indexOf(message?.status ?? "");
      world.check("page", isForward, () => `${this.name} is told ${frame.status} of ${frame.seq} again`);
      if (message) this.#known.set(frame.seq, { ...message, status: frame.status });
    }
  }

  /** A message has changed. A page ignores one that it does not show: it comes with `ready`. */
  #updated(message: VisitorMessage): void {
    this.#checkBlank(message);
    if (this.#known.get(message.seq)?.id === message.id) this.#known.set(message.seq, message);
  }

  #learn(message: VisitorMessage): void {
    const { name, newest } = this;
    const { seq } = message;
    this.#checkBlank(message);
    this.#world.check("page", seq > newest, () => `${name} is told of message ${seq} after ${newest}`);
    this.newest = seq;
    this.#known.set(seq, message);
  }

  #checkBlank(message: VisitorMessage): void {
    const { id } = message;
    const row = this.book.rows.get(id);
    if (!row || !isBlank(row)) return;
    const left = wordsIn(JSON.stringify(message));
    const word = this.book.words.get(id)?.find((each) => left.includes(each));
    this.#world.check("blank", word === undefined, () => `${this.name} is shown "${word}" of ${id}`);
  }

  /** What it shows is what is stored. */
  #checkShown(): void {
    for (const { message } of this.book.in("messages")) {
      const known = this.#known.get(message.seq ?? 0);
      const [shown, right] = [said(known), said(visitorMessage(message as Message, noLink))];
      this.#world.check("shown", shown === right, () => `${this.name} shows ${shown}, and not ${right}`);
    }
  }

  /** It has all that there is, as it is; unless it was hung up on, and would connect again. */
  checkWhole(): void {
    if (!this.isOpen) return;
    this.#checkShown();
    for (const { message } of this.book.in("messages")) {
      const { status } = message;
      const seq = message.seq ?? 0;
      const known = this.#known.get(seq)?.status;
      const isRight = known === status || (known !== undefined && seq <= this.#before);
      this.#world.check("page", isRight, () => `${this.name} knows message ${seq} as ${known}, and it is ${status}`);
    }
  }
}

/** All that a page shows of a message but its status, of which it has its own frames. */
function said(message: VisitorMessage | undefined): string {
  return JSON.stringify({ ...message, status: null, error: null, updatedAt: null });
}
