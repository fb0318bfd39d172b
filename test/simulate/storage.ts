import { expiryOf } from "../../src/chats/message.ts";
import type { QueuePorts } from "../../src/chats/object/delivery/queue.ts";
import { printRedacted, type QueuedMessage, queuedMessage } from "../../src/chats/object/delivery/row.ts";
import { redacted } from "../../src/chats/object/log/redaction.ts";
import { withStatus } from "../../src/chats/object/message-status.ts";

type Log = QueuePorts["log"];

/** What a chat's object stores. */
interface Stored {
  rows: readonly QueuedMessage[];
  redacted: readonly number[];
  alarm: number | null;
  /** When the chat's report to its channel is due; null if there is nothing to report. */
  reportAt: number | null;
}

/** The storage of a chat's object. Its writes are lost with the object until they are committed. */
export class SimulatedStorage implements Log {
  #stored: Stored = { rows: [], redacted: [], alarm: null, reportAt: null };
  #onDisk = this.#stored;
  readonly #onChange: (before: QueuedMessage, after: QueuedMessage) => void;
  /** Until when this instance has looked at the messages that expired. */
  #passed = 0;

  constructor(onChange: (before: QueuedMessage, after: QueuedMessage) => void) {
    this.#onChange = onChange;
  }

  get rows(): readonly QueuedMessage[] {
    return this.#stored.rows;
  }

  get alarm(): number | null {
    return this.#stored.alarm;
  }

  set alarm(alarm: number | null) {
    this.#stored = { ...this.#stored, alarm };
  }

  get reportAt(): number | null {
    return this.#stored.reportAt;
  }

  set reportAt(reportAt: number | null) {
    this.#stored = { ...this.#stored, reportAt };
  }

  commit(): void {
    this.#onDisk = this.#stored;
  }

  rollBack(): void {
    this.#stored = this.#onDisk;
    this.#passed = 0;
  }

  append(row: QueuedMessage): void {
    this.#stored = { ...this.#stored, rows: [...this.rows, row] };
  }

  /** See `MessageLog.redact`. */
  redact(row: QueuedMessage, at: number): void {
    const { seq, message } = row;
    this.#stored = { ...this.#stored, redacted: [...this.#stored.redacted, seq] };
    this.#write(queuedMessage({ seq, message: redacted(message, at), delivery: printRedacted(row), template: null }));
  }

  head(): QueuedMessage | null {
    return this.rows.find(isQueued) ?? null;
  }

  depth(): number {
    return this.rows.filter(isQueued).length;
  }

  delivered(seq: number): QueuedMessage | null {
    return this.rows[seq - 1] ?? null;
  }

  byId(id: string): QueuedMessage | null {
    return this.rows.find(({ message }) => message.id === id) ?? null;
  }

  byNetworkId(networkId: string): QueuedMessage | null {
    return this.rows.findLast(({ parts }) => parts.ids.includes(networkId)) ?? null;
  }

  isRedacted(seq: number): boolean {
    return this.#stored.redacted.includes(seq);
  }

  writeDelivery(...[seq, delivery, parts, lastError]: Parameters<Log["writeDelivery"]>): void {
    this.#write({ ...this.#row(seq), delivery, parts, lastError });
  }

  writeStatus(...[before, change, known]: Parameters<Log["writeStatus"]>): void {
    const message = withStatus(before, change);
    const { delivery, parts, lastError } = known ?? this.#row(message.seq);
    this.#write({ ...this.#row(message.seq), message, delivery, parts, lastError });
  }

  failQueued(...[messages, error, at]: Parameters<Log["failQueued"]>): void {
    for (const message of messages) this.writeStatus(message, { status: "FAILED", error, at });
  }

  earliestExpiry(): number | null {
    const times = this.#expiring().map(({ at }) => at);
    const next = Math.min(...times.filter((at) => at > this.#passed));
    return Number.isFinite(next) ? next : null;
  }

  /** A few at a time, so that there is more than one batch. */
  expiredBy(now: number, after: number): QueuedMessage[] {
    const expired = this.#expiring().filter(({ at, row }) => at <= now && row.seq > after);
    return expired.map(({ row }) => row).slice(0, 2);
  }

  expiriesPassed(now: number): void {
    this.#passed = now;
  }

  #expiring(): { at: number; row: QueuedMessage }[] {
    return this.rows.filter(isQueued).flatMap((row) => {
      const at = expiryOf(row.message);
      return at === null ? [] : [{ at, row }];
    });
  }

  /** This log finds the head and counts the queue without it. */
  leftQueue(): void {}

  /** This log finds the head without it. */
  saveQueueFloor(): void {}

  #row(seq: number): QueuedMessage {
    const row = this.delivered(seq);
    if (!row) throw new Error(`There is no message ${seq}`);
    return row;
  }

  #write(row: QueuedMessage): void {
    this.#onChange(this.#row(row.seq), row);
    this.#stored = { ...this.#stored, rows: this.rows.with(row.seq - 1, row) };
  }
}

/** The key-value storage of a channel's object, in which each write is on disk at once. */
export class SimulatedKv implements Pick<SyncKvStorage, "get" | "put" | "delete" | "list"> {
  readonly #values = new Map<string, unknown>();

  get<T>(key: string): T | undefined {
    return this.#values.get(key) as T | undefined;
  }

  put(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    return this.#values.delete(key);
  }

  list<T>({ prefix = "", limit = Number.POSITIVE_INFINITY }: SyncKvListOptions = {}): Iterable<[string, T]> {
    const found = [...this.#values.entries()].filter(([key]) => key.startsWith(prefix));
    return found.slice(0, limit) as [string, T][];
  }
}

export function isQueued({ message: { status } }: QueuedMessage): boolean {
  return status === "QUEUED";
}
