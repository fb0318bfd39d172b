import type { Trouble } from "../shared/files/repeat-upload.ts";
import { isRemoved, reactionOf } from "../shared/message/extras.ts";
import type { Reacting } from "./conversation.ts";
import type { ChatMessage } from "./frames.ts";

interface Host {
  /** Whether there is a connection. Without one, the first reaction waits for the next. */
  isOnline: () => boolean;
  send: (reaction: Reacting) => void;
  onChange: (reacting: readonly Reacting[]) => void;
  /** The first reaction was taken back. */
  onTrouble: (trouble: Trouble) => void;
}

/** A reaction that is not answered within this time is taken back. */
const ANSWER_TIMEOUT_MS = 15_000;

/** The visitor's reactions that the server has not confirmed. They go out one after the other. */
export class ReactionSender {
  readonly #host: Host;
  #waiting: readonly Reacting[] = [];
  /** Ends the wait for an answer, or before the first reaction is sent again. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Adds a reaction behind those before it. It replaces one to the same message that was not sent. */
  add(reaction: Reacting): void {
    const [inFlight, ...rest] = this.#waiting;
    const others = rest.filter((one) => one.seq !== reaction.seq);
    this.#change([...(inFlight ? [inFlight] : []), ...others, reaction]);
    if (!inFlight) this.start();
  }

  /** Sends the first reaction. */
  start(): void {
    clearTimeout(this.#timer);
    const [next] = this.#waiting;
    if (!next || !this.#host.isOnline()) return;
    this.#host.send(next);
    // In a full chat the server drops a reaction, and says nothing.
    this.#timer = setTimeout(() => {
      this.refuse({ code: "not_accepted", message: "", retryAfter: null });
    }, ANSWER_TIMEOUT_MS);
  }

  /** Sends the first reaction again after a time in ms. @returns whether there is one */
  startAfter(waitMs: number): boolean {
    if (this.#waiting.length === 0) return false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.start(), waitMs);
    return true;
  }

  /** Ends the wait for the first reaction if the message shows it, or can't have one any longer. */
  look(message: ChatMessage): void {
    const [first] = this.#waiting;
    if (first?.seq !== message.seq) return;
    if (isRemoved(message) || reactionOf("contact", message) === first.emoji) this.#removeFirst();
  }

  /** Takes the first reaction back. */
  refuse(trouble: Trouble): void {
    this.#removeFirst();
    this.#host.onTrouble(trouble);
  }

  /** Forgets them all: the connection is lost. */
  clear(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length > 0) this.#change([]);
  }

  #removeFirst(): void {
    this.#change(this.#waiting.slice(1));
    this.start();
  }

  #change(waiting: readonly Reacting[]): void {
    this.#waiting = waiting;
    this.#host.onChange(waiting);
  }
}
