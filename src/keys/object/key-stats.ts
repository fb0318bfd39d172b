import { answerWithin } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import { addCounts } from "../../model/counts.ts";
import type { RequestCounts } from "../../model/key.ts";
import { causeOf } from "../../platform/log.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import { WriteBehind } from "../../platform/object/write-behind.ts";

/** A key's numbers as its object stores them. */
export type StoredStats = RequestCounts & { keyId: string; organizationId: string };

/** A key reports to its organization at most this often, however much it is used. */
const WRITE_EVERY_MS = 60_000;
/** What is only in memory is stored after this time: less than the 10 s for which an object stays awake after a call. */
const SETTLE_AFTER_MS = 5_000;
const CALL_TIMEOUT_MS = 10_000;

/** The key object's storage of its counts. */
interface CountStore {
  stored(): StoredStats | null;
  /** Whether an instance before this one left nothing to settle. */
  isSettled(): boolean;
  /**
   * Stores the numbers, and releases what is reserved and not used.
   * @returns false if isolates may still hold or return units: then it must be called again
   */
  settle(): Promise<boolean>;
}

/**
 * A key's numbers on their way to its organization's object. If a request stores the key's counters, its own numbers are
 * stored with them. The numbers of other requests are in memory for a few seconds, and a crash may lose them.
 */
export class KeyStatsBuffer extends WriteBehind<StoredStats> {
  protected readonly delayMs = WRITE_EVERY_MS;
  protected readonly retryMs = WRITE_EVERY_MS;
  readonly #env: Env;
  readonly #alarm: StandingAlarm;
  readonly #store: CountStore;
  #current: StoredStats | null = null;
  #isSettled: boolean | undefined;
  #triedAt = 0;
  /** When the alarm must call `run`, as far as this instance knows. */
  #dueAt: number | null = null;

  constructor(env: Env, alarm: StandingAlarm, store: CountStore) {
    super();
    this.#env = env;
    this.#alarm = alarm;
    this.#store = store;
  }

  override current(): StoredStats | null {
    this.#current ??= this.#store.stored();
    return this.#current;
  }

  /**
   * Counts requests.
   * @param isSettled whether the caller stores everything in the same commit and reserves nothing
   * @returns a promise that resolves when the alarm is set, and never rejects; null if the alarm was set before
   */
  count(
    { id: keyId, organizationId }: { id: string; organizationId: string },
    { admitted = 0, refused = {} }: Partial<RequestCounts>,
    isSettled: boolean,
  ): Promise<void> | null {
    const before = this.current() ?? { admitted: 0, refused: {} };
    this.#current = {
      keyId,
      organizationId,
      admitted: before.admitted + admitted,
      refused: addCounts(before.refused, refused),
    };
    this.#isSettled = isSettled;
    const at = this.#dueBy(Date.now() + (isSettled ? WRITE_EVERY_MS : SETTLE_AFTER_MS));
    if (this.#alarm.isBy(at)) return null;
    return this.#alarm.by(at).catch((error: unknown) => {
      // The next request tries again.
      console.warn({ event: "alarm_not_set", error: causeOf(error) });
    });
  }

  override dueAt(): number | null {
    return this.#dueAt;
  }

  /** Numbers that an instance before this one stored may not be reported: they are due now. */
  resume(now: number): void {
    if (super.dueAt() !== null) this.#dueBy(now);
  }

  /** Stores what is only in memory, and reports to the organization at most once a minute. */
  override async run(now: number): Promise<void> {
    // In case it can't be stored.
    this.#dueAt = now + WRITE_EVERY_MS;
    this.#isSettled ??= this.#store.isSettled();
    if (!this.#isSettled) this.#isSettled = await this.#store.settle();
    this.#dueAt = null;
    if (!this.#isSettled) this.#dueBy(now + SETTLE_AFTER_MS);
    if (super.dueAt() === null) return;
    let next: number | null = this.#triedAt + WRITE_EVERY_MS;
    // A clock that was set back delays nothing.
    if (now >= next || now < this.#triedAt) {
      this.#triedAt = now;
      await this.flush();
      next = super.dueAt();
    }
    if (next !== null) this.#dueBy(next);
  }

  override forget(): void {
    super.forget();
    this.#current = null;
    this.#dueAt = null;
  }

  protected write({ keyId, organizationId, admitted, refused }: StoredStats): Promise<unknown> {
    // A report that never ends would hold up all later ones.
    return answerWithin(CALL_TIMEOUT_MS, () =>
      callOrganization(this.#env, organizationId, (organization) =>
        organization.reportKey(organizationId, keyId, { admitted, refused }),
      ),
    );
  }

  protected failure({ keyId }: StoredStats) {
    return { event: "stats_not_reported", keyId };
  }

  #dueBy(at: number): number {
    this.#dueAt = Math.min(this.#dueAt ?? at, at);
    return this.#dueAt;
  }
}
