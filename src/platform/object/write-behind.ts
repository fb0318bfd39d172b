import { isRecent } from "../clock.ts";
import { causeOf } from "../log.ts";
import type { DuePart } from "./due-work.ts";

/** The last write failed: when, how long to wait for the next one, and whether the target said that it is overloaded. */
interface Failure {
  at: number;
  waitMs: number;
  isOverloaded: boolean;
}

/**
 * Copies a value of an object to another place, later, so that many changes cost one write. One write is under way at a
 * time. A change during a write is left for the next one. It is a part of its owner's due work, at the times that the
 * methods return in Unix milliseconds. However often it is called, nothing is written while the target rests.
 */
export abstract class WriteBehind<Value> implements DuePart {
  /** For how many milliseconds changes are collected. */
  protected abstract readonly delayMs: number;
  /** After how many milliseconds a failed write is repeated. */
  protected abstract readonly retryMs: number;
  #underWay: Promise<number | null> | undefined;
  /** Undefined if the last write succeeded. */
  #failed: Failure | undefined;
  /** The last written value as JSON; undefined if unknown. */
  #written: string | undefined;
  #erasures = 0;

  /** The value that the target should have; null if there is none. */
  protected abstract current(): Value | null;

  /** Writes a value to the target. */
  protected abstract write(value: Value): Promise<unknown>;

  /** The log line of a failed write, without the error. */
  protected abstract failure(value: Value): { event: string };

  /** The target has `value`. An owner that stores what is pending overrides this, and deletes it from its storage. */
  protected written(value: Value): void {
    this.#written = JSON.stringify(value);
  }

  /** The value changed. @returns when to flush */
  changed(): number {
    const now = Date.now();
    if (this.isWriting) return now + this.retryMs;
    return this.restsUntil(now) ?? now + (this.#failed ? 0 : this.delayMs);
  }

  /** When to flush; null if nothing is pending. */
  dueAt(): number | null {
    return this.#pending() === null ? null : this.changed();
  }

  run(_now: number): Promise<unknown> {
    return this.flush();
  }

  /**
   * Writes what is pending, unless the target rests, or waits for the write under way. Logs a failure.
   * @param isAsked a client waits for this write: the write waits only if the target said that it is overloaded
   * @returns when to flush again, or null
   */
  async flush(isAsked = false): Promise<number | null> {
    if (this.#underWay) return this.#underWay;
    const value = this.#pending();
    if (value === null) return null;
    const restsUntil = this.restsUntil(Date.now());
    if (restsUntil !== null && (!isAsked || this.#failed?.isOverloaded)) return restsUntil;
    this.#underWay = this.#flush(value);
    return this.#underWay;
  }

  /** All storage was deleted: a write under way changes nothing here, and is not repeated. */
  forget(): void {
    this.#erasures++;
    this.#failed = undefined;
    this.#written = undefined;
  }

  /** A write is under way. */
  protected get isWriting(): boolean {
    return this.#underWay !== undefined;
  }

  /** Until when nothing may be written, because the last write failed; null if it may. */
  protected restsUntil(now: number): number | null {
    if (!this.#failed) return null;
    const { at, waitMs } = this.#failed;
    return isRecent(at, waitMs, now) ? at + waitMs : null;
  }

  async #flush(value: Value): Promise<number | null> {
    const erasures = this.#erasures;
    // A write that fails may have reached the target.
    this.#written = undefined;
    let failure: { error: unknown } | undefined;
    try {
      await this.write(value);
    } catch (error) {
      failure = { error };
      console.warn({ ...this.failure(value), error: causeOf(error) });
    }
    // Not awaited from here on: a change that comes later finds no write under way.
    this.#underWay = undefined;
    if (erasures !== this.#erasures) return null;
    this.#failed = failure && { at: Date.now(), waitMs: this.retryMs, isOverloaded: isOverloaded(failure.error) };
    if (!failure) this.written(value);
    return this.dueAt();
  }

  #pending(): Value | null {
    const value = this.current();
    return this.#written !== undefined && JSON.stringify(value) === this.#written ? null : value;
  }
}

/** Whether an object says that it has too many calls. @param error as `callObject` or a call of a stub throws it */
export function isOverloaded(error: unknown): boolean {
  const { overloaded, cause } = error as { overloaded?: boolean; cause?: { overloaded?: boolean } };
  return overloaded === true || cause?.overloaded === true;
}
