import type { ChatTables, LateTable } from "./chat-tables.ts";
import { type DeliveryRow, type QueuedMessage, queuedMessage } from "./delivery-column.ts";

const MAX_ROWS = 500;

/**
 * Finds the queued messages that expire. The earliest expiry stays in memory, so that a queue without such messages is
 * read once an instance. Times are Unix milliseconds.
 */
export class QueueExpiry {
  readonly #messages: LateTable;
  readonly #floor: () => number;
  #earliest: number | null | undefined;

  /** @param floor every queued message has a higher seq */
  constructor(tables: ChatTables, floor: () => number) {
    this.#messages = tables.messages;
    this.#floor = floor;
  }

  forget(): void {
    this.#earliest = undefined;
  }

  /** No message is queued. */
  emptied(): void {
    this.#earliest = null;
  }

  /** A message joined the queue. @param expiresAt null for never */
  joined(expiresAt: number | null): void {
    if (this.#earliest === undefined || expiresAt === null) return;
    this.#earliest = Math.min(this.#earliest ?? expiresAt, expiresAt);
  }

  /** When the next message expires; null if none does. It may be too early, because a message left the queue since. */
  earliest(): number | null {
    if (this.#earliest === undefined) this.#earliest = this.#readEarliest(0);
    return this.#earliest;
  }

  /** The queued messages that expired by `now`, oldest first, from the one after the seq `after`. At most 500. */
  expiredBy(now: number, after: number): QueuedMessage[] {
    const query = `select seq, doc, delivery, template from messages
      where seq > ? and expires_at <= ? and status = 'QUEUED' order by seq limit ?`;
    const rows = this.#messages.run<DeliveryRow>(query, Math.max(after, this.#floor()), now, MAX_ROWS);
    return rows.map(queuedMessage);
  }

  /** The messages that expired by `now` need nothing more: they ended, or an attempt of the head is open. */
  passed(now: number): void {
    this.#earliest = this.#readEarliest(now);
  }

  #readEarliest(after: number): number | null {
    const query = "select min(expires_at) as at from messages where seq > ? and expires_at > ? and status = 'QUEUED'";
    const [row] = this.#messages.run<{ at: number | null }>(query, this.#floor(), after);
    return row?.at ?? null;
  }
}
