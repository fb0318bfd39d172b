type AlarmStorage = Pick<DurableObjectStorage, "getAlarm" | "setAlarm" | "deleteAlarm">;

/**
 * The one alarm of a Durable Object. Setting it is a write, so one that stands early enough is left alone, and what
 * stands is remembered.
 */
export class StandingAlarm {
  readonly #storage: AlarmStorage;
  /** Unix milliseconds; null for none, undefined before it was asked for. */
  #at: number | null | undefined;

  constructor(storage: AlarmStorage) {
    this.#storage = storage;
  }

  /** When it rings; null for never. */
  async standing(): Promise<number | null> {
    if (this.#at === undefined) this.#at = await this.#storage.getAlarm();
    return this.#at;
  }

  /** Has it ring at `at` or before; null asks for nothing. */
  async by(at: number | null): Promise<void> {
    if (at === null) return;
    const standing = await this.standing();
    if (standing === null || standing > at) await this.set(at);
  }

  /** Has it ring at `at`, or never. Where that fails it is asked for again: none may be remembered that does not stand. */
  async set(at: number | null): Promise<void> {
    this.#at = at;
    try {
      await (at === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(at));
    } catch (error) {
      this.#at = undefined;
      throw error;
    }
  }

  /** It rang, or all storage was erased: none stands any more. */
  gone(): void {
    this.#at = null;
  }
}
