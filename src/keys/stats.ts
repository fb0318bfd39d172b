import { StandingAlarm } from "../alarm.ts";
import { added, type Counts } from "../counts.ts";
import { causeOf } from "../log.ts";
import type { Refusal } from "./admission.ts";

/** How many requests of a key were admitted, and refused for what reason. */
export interface RequestCounts {
  admitted: number;
  refused: Counts<Refusal>;
}

/** A key's numbers since it was made, as its row of the directory has them. `at` is in Unix milliseconds. */
export type KeyStats = RequestCounts & { at: number };

/** Less than the 10 s for which an object stays awake after a call: a key that is used seldom is looked at before. */
const LOOK_AFTER_MS = 5_000;
/** The directory is written no more often than this, however much a key is used. */
const WRITE_EVERY_MS = 60_000;
const NONE: RequestCounts = { admitted: 0, refused: {} };

/**
 * A key's numbers on their way to the directory. Nothing is stored for a request: what came since the last write is in
 * memory alone, and a crash loses that of a minute at most.
 */
export class KeyStatsBuffer {
  readonly #storage: DurableObjectStorage;
  readonly #alarm: StandingAlarm;
  /** Whose numbers they are, once there are any. */
  #keyId = "";
  #unwritten = NONE;
  /** Whether something came since the last look. */
  #isBusy = false;
  #failed = false;
  #triedAt = 0;
  #erased = false;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#alarm = new StandingAlarm(storage);
  }

  /** @returns the first time after a look: what ends when the next look is sure; it never fails */
  count(keyId: string, { admitted = 0, refused = {} }: Partial<RequestCounts>): Promise<void> | null {
    this.#keyId = keyId;
    this.#unwritten = sum(this.#unwritten, { admitted, refused });
    if (this.#isBusy) return null;
    this.#isBusy = true;
    return this.#lookBy(Date.now() + LOOK_AFTER_MS);
  }

  /** The alarm rang: writes to the key's row, unless it did a moment ago and the key goes on being used. Never throws. */
  async look(db: D1Database): Promise<void> {
    this.#alarm.gone();
    const isEarly = Date.now() - this.#triedAt < WRITE_EVERY_MS;
    const mayWait = this.#isBusy || this.#failed;
    this.#isBusy = false;
    if (this.#unwritten === NONE) return;
    if (!(isEarly && mayWait)) await this.#write(db);
    if (this.#unwritten !== NONE) await this.#lookBy(Date.now() + LOOK_AFTER_MS);
  }

  /** Everything was erased. */
  erased(): void {
    this.#erased = true;
    this.#unwritten = NONE;
    this.#alarm.gone();
  }

  async #write(db: D1Database): Promise<void> {
    const written = this.#unwritten;
    this.#unwritten = NONE;
    this.#triedAt = Date.now();
    const total = sum(this.#storage.kv.get<RequestCounts>("stats") ?? NONE, written);
    const stats: KeyStats = { ...total, at: this.#triedAt };
    try {
      await db.prepare("update api_keys set stats = ? where id = ?").bind(JSON.stringify(stats), this.#keyId).run();
      this.#failed = false;
    } catch (error) {
      console.warn({ event: "stats_not_written", keyId: this.#keyId, error: causeOf(error) });
      this.#failed = true;
    }
    // Nothing may be left behind.
    if (this.#erased) return;
    if (this.#failed) this.#unwritten = sum(written, this.#unwritten);
    else this.#storage.kv.put("stats", total);
  }

  async #lookBy(at: number): Promise<void> {
    try {
      await this.#alarm.by(at);
    } catch (error) {
      // The next request tries again.
      this.#isBusy = false;
      console.warn({ event: "alarm_not_set", error: causeOf(error) });
    }
  }
}

function sum(counts: RequestCounts, more: RequestCounts): RequestCounts {
  return { admitted: counts.admitted + more.admitted, refused: added(counts.refused, more.refused) };
}
