/** An alarm that should have rung this long ago was given up by the platform. */
export const LOST_AFTER_MS = 120_000;
/** What is overdue in many objects begins within this time, not all at once. */
export const JITTER_MS = 30_000;

type AlarmStorage = Pick<DurableObjectStorage, "getAlarm" | "setAlarm" | "deleteAlarm">;

/**
 * The alarm of a Durable Object. Setting an alarm is a write, so its time is cached, and an earlier alarm is not
 * replaced.
 */
export class StandingAlarm {
  /**
   * How many calls of objects, one within the other, led to the newest event of the object. The platform attributes each
   * call that the object makes to that event, and refuses calls from about the 16th. The alarm itself begins at 0. Calls
   * that don't say their depth are not counted: they come from the Worker.
   */
  depth = 0;
  readonly #storage: AlarmStorage;
  /** Unix milliseconds; null for none, undefined if unknown. */
  #at: number | null | undefined;
  /** The last change, if it is under way. */
  #changing: Promise<void> | undefined;
  /** An alarm is under way, and none is set since: if the object is lost, the platform repeats this one. */
  #isRinging = false;

  constructor(storage: AlarmStorage) {
    this.#storage = storage;
  }

  /** The time of the alarm; null if none is set. */
  async standing(): Promise<number | null> {
    if (this.#at === undefined) this.#at = await this.#storage.getAlarm();
    return this.#at;
  }

  /** Whether this instance knows of an alarm at `at` or before. It may still be on its way to storage. */
  isBy(at: number): boolean {
    return this.#isRinging || (this.#at != null && this.#at <= at);
  }

  /**
   * Ensures an alarm at `at` or before. Null does nothing. An alarm that is ringing is early enough, and sets the next
   * one at its end. Setting a later alarm before that would replace the platform's repeat of the ringing one.
   */
  async by(at: number | null): Promise<void> {
    if (at === null) return;
    await this.standing();
    if (this.#isRinging) return;
    // Read after the wait: another call may have set the alarm meanwhile.
    if (this.#at == null || this.#at > at) await this.set(at);
    // Another call sets the alarm. If that fails, there is none for this one either.
    else await this.#changing;
  }

  /** Sets the alarm to `at`, or deletes it. If this fails, the time is unknown and is read again. */
  async set(at: number | null): Promise<void> {
    this.#isRinging = false;
    if (at === this.#at) return this.#changing;
    this.#at = at;
    const changing = at === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(at);
    this.#changing = changing;
    try {
      await changing;
    } catch (error) {
      this.#at = undefined;
      throw error;
    } finally {
      if (this.#changing === changing) this.#changing = undefined;
    }
  }

  /**
   * Sets the alarm again if the stored one does not serve: there is none, it is too late, or it should have rung minutes
   * ago. Looks into storage, because the platform gives up an alarm without notice.
   * @param dueAt when something is due, Unix milliseconds
   * @param delayMs how long what is overdue waits, up to 30 seconds
   * @returns whether it was set again
   */
  async renew(dueAt: number, now: number, delayMs: number): Promise<boolean> {
    const known = this.#at;
    const stored = await this.#storage.getAlarm();
    // Another call sets the alarm, or the alarm rings.
    if (this.#isRinging || this.#changing || this.#at !== known) return false;
    this.#at = stored;
    if (stored !== null && now - LOST_AFTER_MS < stored && stored <= Math.max(dueAt, now) + JITTER_MS) return false;
    await this.set(dueAt > now ? dueAt : Math.round(now + delayMs));
    return true;
  }

  /** The alarm rang. Its handler must set the next one. */
  rang(): void {
    this.gone();
    this.#isRinging = true;
    this.depth = 0;
  }

  /** All storage was deleted: none is set. */
  gone(): void {
    this.#at = null;
    this.#isRinging = false;
  }
}

/** The earliest of some times; null if there is none. */
export function earliest(times: (number | null)[]): number | null {
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}
