type AlarmStorage = Pick<DurableObjectStorage, "getAlarm" | "setAlarm" | "deleteAlarm">;

/**
 * The alarm of a Durable Object. Setting an alarm is a write, so its time is cached, and an earlier alarm is not
 * replaced.
 */
export class StandingAlarm {
  readonly #storage: AlarmStorage;
  /** Unix milliseconds; null for none, undefined if unknown. */
  #at: number | null | undefined;

  constructor(storage: AlarmStorage) {
    this.#storage = storage;
  }

  /** The time of the alarm; null if none is set. */
  async standing(): Promise<number | null> {
    if (this.#at === undefined) this.#at = await this.#storage.getAlarm();
    return this.#at;
  }

  /** Ensures an alarm at `at` or before. Null does nothing. */
  async by(at: number | null): Promise<void> {
    if (at === null) return;
    await this.standing();
    // Read after the wait: another call may have set the alarm meanwhile.
    if (this.#at == null || this.#at > at) await this.set(at);
  }

  /** Sets the alarm to `at`, or deletes it. If this fails, the time is unknown and is read again. */
  async set(at: number | null): Promise<void> {
    this.#at = at;
    try {
      await (at === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(at));
    } catch (error) {
      this.#at = undefined;
      throw error;
    }
  }

  /** The alarm rang, or all storage was deleted: none is set. */
  gone(): void {
    this.#at = null;
  }
}
