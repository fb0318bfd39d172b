import { causeOf } from "../log.ts";

/**
 * Copies a value of an object to another place, later, so that many changes cost one write. One write is under way at a
 * time. A change during a write is left for the next one. The owner calls `flush` from its alarm, at the times that the
 * methods return in Unix milliseconds.
 */
export abstract class WriteBehind<Value> {
  /** For how many milliseconds changes are collected. */
  protected abstract readonly delayMs: number;
  /** After how many milliseconds a failed write is repeated. */
  protected abstract readonly retryMs: number;
  #underWay: Promise<number | null> | undefined;
  /** The last write failed or has not ended. */
  #isUncertain = false;
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
    return Date.now() + (this.#isUncertain ? this.retryMs : this.delayMs);
  }

  /** When to flush; null if nothing is pending. */
  dueAt(): number | null {
    return this.#pending() === null ? null : this.changed();
  }

  /** Writes what is pending, or waits for the write under way. Logs a failure. @returns when to flush again, or null */
  flush(): Promise<number | null> {
    this.#underWay ??= this.#flush().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** All storage was erased: a write under way changes nothing here any more, and is not repeated. */
  forget(): void {
    this.#erasures++;
    this.#isUncertain = false;
    this.#written = undefined;
  }

  async #flush(): Promise<number | null> {
    const value = this.#pending();
    if (value === null) return null;
    const erasures = this.#erasures;
    this.#isUncertain = true;
    // A write that fails may have reached the target.
    this.#written = undefined;
    try {
      await this.write(value);
    } catch (error) {
      console.warn({ ...this.failure(value), error: causeOf(error) });
      return erasures === this.#erasures ? this.changed() : null;
    }
    if (erasures !== this.#erasures) return null;
    this.#isUncertain = false;
    this.written(value);
    return this.dueAt();
  }

  #pending(): Value | null {
    const value = this.current();
    return this.#written !== undefined && JSON.stringify(value) === this.#written ? null : value;
  }
}
