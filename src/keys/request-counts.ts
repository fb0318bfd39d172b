import { causeOf } from "../log.ts";
import { StandingAlarm } from "../platform/alarm.ts";
import { added, type Counts } from "../platform/counts.ts";
import type { RefusalReason } from "./decide.ts";

/** How many requests of a key were admitted, and refused for what reason. */
export interface RequestCounts {
  admitted: number;
  refused: Counts<RefusalReason>;
}

/** A key's numbers since it was made, as its row of the directory has them. `at` is in Unix milliseconds. */
export type KeyStats = RequestCounts & { at: number };

/** As the key's object keeps them. */
export type StoredStats = RequestCounts & { keyId: string };

/** The directory is written no more often than this, however much a key is used. */
const WRITE_EVERY_MS = 60_000;
/** What is in memory alone is settled after this: less than the 10 s for which an object stays awake after a call. */
const SETTLE_AFTER_MS = 5_000;

/** Where the object keeps the numbers, with its other counts. */
interface Shelf {
  stored(): StoredStats | undefined;
  /** Stores the numbers, and gives back what is reserved and not used. */
  settle(): void;
}

/**
 * A key's numbers on their way to the directory. A request that is stored itself has them stored with it; of others a
 * crash may lose those of a few seconds.
 */
export class KeyStatsBuffer {
  readonly #alarm: StandingAlarm;
  readonly #shelf: Shelf;
  #current: StoredStats | undefined;
  #written: StoredStats | undefined;
  #isSettled = true;
  #isErased = false;
  #triedAt = 0;
  /** When the alarm rings, as far as this instance has set it. */
  #lookAt: number | null = null;

  constructor(storage: DurableObjectStorage, shelf: Shelf) {
    this.#alarm = new StandingAlarm(storage);
    this.#shelf = shelf;
  }

  get current(): StoredStats | undefined {
    this.#current ??= this.#shelf.stored();
    return this.#current;
  }

  /**
   * Counts requests; `isSettled` where the caller stores all that it has in the same commit, and reserves nothing.
   * @returns what ends when the alarm stands, which never fails; null where it stands
   */
  count(
    keyId: string,
    { admitted = 0, refused = {} }: Partial<RequestCounts>,
    isSettled: boolean,
  ): Promise<void> | null {
    const before = this.current ?? { admitted: 0, refused: {} };
    this.#current = { keyId, admitted: before.admitted + admitted, refused: added(before.refused, refused) };
    this.#isSettled = isSettled;
    return this.#lookBy(Date.now() + (isSettled ? WRITE_EVERY_MS : SETTLE_AFTER_MS));
  }

  /** The alarm rang: settles what is in memory alone, and writes to the key's row once a minute. */
  async look(db: D1Database): Promise<void> {
    this.#alarm.gone();
    this.#lookAt = null;
    const { current } = this;
    if (!current || current === this.#written) return;
    if (!this.#isSettled) this.#shelf.settle();
    this.#isSettled = true;
    const now = Date.now();
    const next = this.#triedAt + WRITE_EVERY_MS;
    // A clock that was set back holds nothing up.
    if (now >= next || now < this.#triedAt) await this.#write(db, current, now);
    else await this.#lookBy(next);
  }

  /** Everything was erased. */
  erased(): void {
    this.#isErased = true;
    this.#current = undefined;
    this.#alarm.gone();
  }

  async #write(db: D1Database, current: StoredStats, at: number): Promise<void> {
    this.#triedAt = at;
    const { keyId, ...counts } = current;
    const stats: KeyStats = { ...counts, at };
    try {
      await db.prepare("update api_keys set stats = ? where id = ?").bind(JSON.stringify(stats), keyId).run();
      this.#written = current;
    } catch (error) {
      console.warn({ event: "stats_not_written", keyId, error: causeOf(error) });
      if (!this.#isErased) await this.#lookBy(at + WRITE_EVERY_MS);
    }
  }

  #lookBy(at: number): Promise<void> | null {
    if (this.#lookAt !== null && this.#lookAt <= at) return null;
    this.#lookAt = at;
    return this.#alarm.by(at).catch((error: unknown) => {
      // The next request tries again.
      this.#lookAt = null;
      console.warn({ event: "alarm_not_set", error: causeOf(error) });
    });
  }
}
