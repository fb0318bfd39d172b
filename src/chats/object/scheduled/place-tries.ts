import { placeAt, type Rest } from "./decisions.ts";
import type { ScheduledEntry } from "./scheduled-rows.ts";

/** Delay after an error. */
const AGAIN_AFTER_MS = 30_000;
/** How long a message that can't be placed holds up the others, so that a passing error changes no order. */
const HOLD_MS = 300_000;
/** After that it no longer blocks the others: it is retried alone, each wait twice the last, at most this long. */
const MAX_AGAIN_MS = 3_600_000;

/**
 * When due messages try to take their places. After an error, and while the queue is full, all of them rest. In memory
 * alone: a new instance tries them at once. Times are Unix milliseconds.
 */
export class PlaceTries {
  #rest: Rest | null = null;
  /** Messages that can't be placed, and when each is tried again. */
  readonly #alone = new Map<string, number>();

  /** When a message tries to take its place. */
  nextAt({ id, dueAt }: ScheduledEntry, now: number): number {
    return Math.max(placeAt(dueAt, this.#rest, now), this.aloneAt(id));
  }

  /** When a message that can't be placed is tried again; 0 for any other. */
  aloneAt(id: string): number {
    return this.#alone.get(id) ?? 0;
  }

  /** Whether they rest because the queue is full. */
  get isForRoom(): boolean {
    return this.#rest?.isForRoom ?? false;
  }

  restForRoom(now: number, until: number): void {
    this.#rest = { since: now, until, isForRoom: true };
  }

  restAfterFault(now: number): void {
    this.#rest = { since: now, until: now + AGAIN_AFTER_MS, isForRoom: false };
  }

  /** They rest no longer. */
  goOn(): void {
    this.#rest = null;
  }

  succeeded({ id }: ScheduledEntry): void {
    this.#alone.delete(id);
  }

  /** Whether a message that can't be placed still holds up the others. */
  mustHold({ dueAt }: ScheduledEntry, now: number): boolean {
    return now - dueAt < HOLD_MS;
  }

  tryAlone({ id, dueAt }: ScheduledEntry, now: number): void {
    this.#alone.set(id, now + Math.min(now - dueAt, MAX_AGAIN_MS));
  }

  forget(): void {
    this.#rest = null;
    this.#alone.clear();
  }
}
