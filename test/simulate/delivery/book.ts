import type { Delivery, DeliveryError } from "../../../src/chats/object/log/delivery-column.ts";
import type { StatusNews } from "../../../src/model/chat-answers.ts";
import { expiryOf, type Message } from "../../../src/model/message.ts";
import type { ObjectStorage } from "../objects/storage.ts";

/** A stored message and the state of its delivery. */
export interface Row {
  seq: number;
  message: Message;
  delivery: Delivery & { parts: string[]; lastError: DeliveryError | null };
  /** The columns that it was read from. */
  text: string;
}

/** The rows of a chat as of its last commit. A row that did not change is the same object as before. */
export class Book {
  rows: readonly Row[] = [];
  /** How many calls each message takes, by its seq. A redacted message no longer shows it. */
  readonly #calls = new Map<number, number>();
  #changes = -1;

  /** Reads the rows again. @returns each row that changed, as it was and as it is */
  read(storage: ObjectStorage): [Row, Row][] {
    if (storage.changes === this.#changes) return [];
    this.#changes = storage.changes;
    const before = this.rows;
    const stored = storage.read<{ seq: number; doc: string; delivery: string }>(
      "messages",
      "select seq, doc, delivery from messages order by seq",
    );
    this.rows = stored.map(({ seq, doc, delivery }, at) => {
      const text = doc + delivery;
      const known = before[at];
      if (known?.text === text) return known;
      return { seq, text, message: JSON.parse(doc) as Message, delivery: JSON.parse(delivery) as Row["delivery"] };
    });
    for (const { seq, message } of this.rows.slice(before.length)) {
      this.#calls.set(seq, message.mediaUrl === null ? 1 : 2);
    }
    return before.flatMap((row, at): [Row, Row][] => {
      const after = this.rows[at];
      return after && after !== row ? [[row, after]] : [];
    });
  }

  callsFor(seq: number): number {
    return this.#calls.get(seq) ?? 1;
  }

  get head(): Row | undefined {
    return this.rows.find(isQueued);
  }

  byId(id: string): Row | undefined {
    return this.rows.find(({ message }) => message.id === id);
  }

  /** The message that a status names; undefined if it names none that is known. */
  named({ messageId, networkId }: StatusNews): Row | undefined {
    if (messageId !== null) return this.byId(messageId);
    return this.rows.findLast(({ delivery }) => delivery.parts.includes(networkId));
  }
}

export function isQueued({ message: { status } }: Row): boolean {
  return status === "QUEUED";
}

/** When a message expires, Unix milliseconds; infinite if it never does. */
export function expiresAt({ message }: Row): number {
  return expiryOf(message) ?? Number.POSITIVE_INFINITY;
}
