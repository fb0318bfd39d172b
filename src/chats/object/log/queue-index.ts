import type { ChatTables, LateTable } from "./chat-tables.ts";
import { type DeliveryRow, type QueuedMessage, queuedMessage } from "./delivery-column.ts";
import { QueueExpiry } from "./queue-expiry.ts";

const SAVE_FLOOR_EVERY = 100;

/** Finds and counts the queued messages of a log at a cost that grows neither with the queue nor with the chat. */
export class QueueIndex {
  readonly #storage: DurableObjectStorage;
  readonly #messages: LateTable;
  readonly #newest: () => { seq: number; queued: number };
  readonly expiry: QueueExpiry;
  /** Every queued message has a higher seq. Messages never return to the queue, so an outdated floor is only too low. */
  #floorCopy: number | undefined;
  /** A copy of the seqs of messages that left the queue while an older message was queued. */
  #leftEarly: number[] | undefined;

  /** @param newest the newest message's seq, and the count of messages ever queued */
  constructor(storage: DurableObjectStorage, tables: ChatTables, newest: () => { seq: number; queued: number }) {
    this.#storage = storage;
    this.#messages = tables.messages;
    this.#newest = newest;
    this.expiry = new QueueExpiry(tables, () => this.#floor());
  }

  forget(): void {
    this.#floorCopy = undefined;
    this.#leftEarly = undefined;
    this.expiry.forget();
  }

  depth(): number {
    const query = "select seq, queued from messages where seq > ? and status = 'QUEUED' order by seq limit 1";
    const [first] = this.#messages.run<{ seq: number; queued: number }>(query, this.#floor());
    const { seq: newest, queued } = this.#newest();
    this.#floorCopy = first ? first.seq - 1 : newest;
    if (!first) this.expiry.emptied();
    if (!first) return 0;
    return queued - first.queued + 1 - this.#leftEarlySince(first.seq).length;
  }

  head(): QueuedMessage | null {
    const query = `select seq, doc, delivery, template from messages
      where seq > ? and status = 'QUEUED' order by seq limit 1`;
    const [row] = this.#messages.run<DeliveryRow>(query, this.#floor());
    this.#floorCopy = row ? row.seq - 1 : this.#newest().seq;
    if (!row) this.expiry.emptied();
    return row ? queuedMessage(row) : null;
  }

  /** Messages left the queue. `depth` must subtract those with an older one still queued, so their seqs are stored. */
  left(...seqs: number[]): void {
    const early = seqs.filter((seq) => seq > this.#floor() + 1);
    if (early.length === 0) return;
    const all = [...this.#leftEarlySince(this.#floor()), ...early];
    this.#storage.kv.put("leftEarly", all);
    this.#leftEarly = all;
  }

  /** Stores the floor now and then, so that an object that wakes up doesn't search the chat from its start. */
  saveFloor(): void {
    if (this.#floor() - (this.#storage.kv.get<number>("queueFloor") ?? 0) < SAVE_FLOOR_EVERY) return;
    this.#storage.kv.put("queueFloor", this.#floor());
  }

  #leftEarlySince(from: number): number[] {
    this.#leftEarly ??= this.#storage.kv.get<number[]>("leftEarly") ?? [];
    return this.#leftEarly.filter((seq) => seq > from);
  }

  #floor(): number {
    this.#floorCopy ??= this.#storage.kv.get<number>("queueFloor") ?? 0;
    return this.#floorCopy;
  }
}
