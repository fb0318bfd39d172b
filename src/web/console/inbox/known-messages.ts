import type { Message } from "../api.ts";
import { currentSession } from "../session.ts";

/** Which messages of a conversation the person knows: those that they had in front of them for a moment, and their own. */
export class KnownMessages {
  readonly #acted = new Set<string>();
  #seen = 0;

  /** The person has had the messages up to this one in front of them for a moment. */
  saw(seq: number): void {
    this.#seen = Math.max(this.#seen, seq);
  }

  /** The person sent a message from here, or did something with it. */
  acted(messageId: string): void {
    this.#acted.add(messageId);
  }

  /** Whether the person sent a message: from here, in another tab, or before the conversation was opened again. */
  isOwn({ id, senderId }: Message): boolean {
    const { member } = currentSession();
    return this.#acted.has(id) || (member !== null && senderId === member.id);
  }

  /** Whether the person may not know a message: others wrote it, and so lately that it can't have been read. */
  isUnknown(message: Message): boolean {
    return message.seq !== null && message.seq > this.#seen && !this.isOwn(message);
  }

  /** The newest `seq` before the first message that the person may not know. */
  upTo(messages: readonly Message[], newest: number): number {
    const unknown = messages.filter((message) => this.isUnknown(message));
    return unknown.reduce((least, { seq }) => Math.min(least, (seq ?? Infinity) - 1), newest);
  }
}
