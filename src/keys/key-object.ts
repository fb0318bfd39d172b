import { DurableObject } from "cloudflare:workers";
import { directory } from "../db/client.ts";
import type { Region } from "../db/schema.ts";
import { causeOf } from "../log.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { added, type Counts } from "../platform/counts.ts";
import { addressMatcher } from "./allowlist.ts";
import {
  type Counters,
  decide,
  NO_COUNTERS,
  NO_RESERVATION,
  type RefusalReason,
  releaseReservation,
  usageOf,
  type WindowState,
} from "./decide.ts";
import { type KeyRecord, presentKey, readKeyRecord } from "./key-record.ts";
import type { Permission } from "./permissions.ts";
import { KeyStatsBuffer, type RequestCounts, type StoredStats } from "./request-counts.ts";

/** A request that asks to be let in: `hash` of the key text, where it came from, what it wants to do. */
export interface AdmissionRequest {
  /** The call's id, the same if the call is repeated because its answer was lost. */
  call: string;
  hash: string;
  address: string | null;
  permission: Permission | null;
  /** How many requests ask together: at least 1. */
  units: number;
  /** Requests that the caller refused from memory since its last report. */
  refused?: Counts<RefusalReason>;
}

/** Who an admitted request acts for. */
export interface Caller {
  keyId: string;
  organizationId: string;
  defaultSenderId: string;
  region: Region | null;
}

/** `window` is null where the key is not known, and so has none. */
export type Admission =
  | { outcome: "admitted"; granted: number; caller: Caller; window: WindowState }
  /** `final`: no change of the key will ever make it good. */
  | { outcome: "refused"; reason: RefusalReason; window: WindowState | null; final?: boolean };

/** `admittedHash`: the hash of the newest secret that was ever admitted. In this row because it costs no row of its own. */
type StoredCounters = Counters & { stats?: StoredStats | null; admittedHash?: string | undefined };

interface HeldRecord {
  record: KeyRecord;
  readAt: number;
}

/** From this age on a record is read again in the background. */
const REFRESH_MS = 45_000;
/** From this age on a request waits for that read: the default sender is at most a minute old. */
const FRESH_MS = 60_000;
const REFRESH_TIMEOUT_MS = 1_000;
const REFRESH_AGAIN_AFTER_MS = 10_000;
/** While the directory is down, a record is used up to this age. */
const USABLE_MS = 3_600_000;
const CHANGE_ENDS_AFTER_MS = 60_000;
/** A call is repeated at once or never, and an object answers about a thousand calls a second. */
const REMEMBERED_CALLS = 1_000;

/**
 * One API key: its record, read from the directory at first sight, and its counts. Everything it knows lies in three
 * values of its storage: `record`, `counters` and `changing`; its fields are copies that it may lose at any moment.
 * With its counts lie those for the operator's eye, of what it admitted and refused.
 *
 * A change of the key is exact everywhere because it happens in three steps: `beginChange` here, then the directory,
 * then `endChange` here. In between every request reads the directory, so the change counts from its commit on even
 * where the third step never comes.
 */
export class KeyObject extends DurableObject<Env> {
  /**
   * Answers to recent calls by the call's id, so that a repeated call counts once. An object that lost its memory in
   * between counts the call again: that costs the key the units of one call, as a crash may, and never grants more.
   */
  readonly #answers = new BoundedMap<string, Admission>(REMEMBERED_CALLS);
  /** Ids of recent reports of refusals, for the same reason. */
  readonly #countedCalls = new BoundedMap<string, true>(REMEMBERED_CALLS);
  readonly #stats = new KeyStatsBuffer(this.ctx.storage, this.env, {
    stored: () => this.ctx.storage.kv.get<StoredCounters>("counters")?.stats ?? null,
    settle: () => this.#settle(),
  });
  #counters: Counters | undefined;
  #admittedHash: string | undefined;
  #spare = NO_RESERVATION;
  #held: HeldRecord | undefined;
  /** When the record may be read again, after the directory did not answer. */
  #refreshAfter = 0;
  #matches: { rules: string[]; test: (address: string | null) => boolean } | undefined;
  /** Grows with every change: what was read from the directory before one is not kept after it. */
  #generation = 0;
  /** The directory does not know this key. That is for good: an id comes but once. */
  #gone = false;
  #loading: { generation: number; record: Promise<KeyRecord | null> } | undefined;

  /**
   * Decides over `asked.units` requests of the key `id`. What it grants is counted durably before it answers. A repeated
   * call gets the first answer and counts nothing.
   */
  async admit(id: string, asked: AdmissionRequest): Promise<Admission> {
    const record = await this.#record(id);
    // Erased while it asked the directory: nothing may be counted in what is empty now.
    if (!record || this.#gone) return { outcome: "refused", reason: "invalid_api_key", window: null, final: true };
    // Nothing waits from here on: of two tries of one call the second finds the answer of the first.
    const answer = this.#answers.get(asked.call) ?? this.#decide(id, record, asked);
    this.#answers.set(asked.call, answer);
    return answer;
  }

  /**
   * Counts requests that an isolate refused from memory, unless they come with a call that was counted before. Stores
   * nothing for a key that the directory does not know.
   */
  async countRefused(id: string, refused: Counts<RefusalReason>, call: string): Promise<void> {
    const record = await this.#record(id);
    if (!record || this.#gone || this.#countedCalls.has(call)) return;
    this.#countedCalls.set(call, true);
    this.#count(id, { refused }, false);
  }

  #decide(id: string, record: KeyRecord, asked: AdmissionRequest): Admission {
    const decision = decide(
      record,
      this.#storedCounters(),
      this.#spare,
      {
        hash: asked.hash,
        permission: asked.permission,
        addressAllowed: this.#isAllowed(record.ipAllowlist, asked.address),
        units: asked.units,
      },
      Date.now(),
    );
    if (decision.outcome === "refused") {
      this.#count(id, { refused: added({ [decision.reason]: asked.units }, asked.refused ?? {}) }, false);
      return { ...decision, final: isOver(record, asked.hash) };
    }
    this.#counters = decision.counters;
    this.#spare = decision.spare;
    const isSettled = decision.write && decision.spare.units === 0;
    this.#count(id, { admitted: decision.granted, refused: asked.refused ?? {} }, isSettled);
    const isFirstUse = asked.hash === record.hash && asked.hash !== this.#admittedHash;
    if (isFirstUse) this.#admittedHash = asked.hash;
    // The output gate holds the answer until this is on disk.
    if (decision.write || isFirstUse) this.#store();
    const { organizationId, defaultSenderId, region } = record;
    return {
      outcome: "admitted",
      granted: decision.granted,
      caller: { keyId: id, organizationId, defaultSenderId, region },
      window: decision.window,
    };
  }

  /** The key and what it has used, or null where the directory has no such key. Counts nothing. */
  async describe(id: string) {
    const record = await this.#record(id);
    if (!record) return null;
    const now = Date.now();
    const { month, used, quota, window, running } = usageOf(record, this.#storedCounters(), this.#spare, now);
    const { limit, remaining, reset } = window;
    return {
      key: presentKey(record, now),
      usage: {
        month,
        used,
        quota,
        window: { limit, remaining, reset: running ? new Date(reset).toISOString() : null },
      },
    };
  }

  /** The hash of the newest secret that was ever admitted; null if none was. A rotation asks whether a secret is in use. */
  admittedHash(): string | null {
    this.#storedCounters();
    return this.#admittedHash ?? null;
  }

  /** Step one of a change: forgets the record and, for a minute at most, keeps none. Repeating it changes nothing. */
  beginChange(change: string): void {
    if (this.#gone) return;
    this.#generation++;
    this.#held = undefined;
    this.ctx.storage.kv.delete("record");
    this.ctx.storage.kv.put("changing", { ...this.#changing(), [change]: Date.now() + CHANGE_ENDS_AFTER_MS });
  }

  /** Step three: the directory has the change. */
  endChange(change: string): void {
    this.#generation++;
    this.#held = undefined;
    this.ctx.storage.kv.delete("record");
    const { [change]: _ended, ...others } = this.#changing();
    if (Object.keys(others).length > 0) this.ctx.storage.kv.put("changing", others);
    else this.ctx.storage.kv.delete("changing");
  }

  /** Erases what the object holds; the directory's row is gone. */
  async erase(): Promise<void> {
    this.#generation++;
    this.#gone = true;
    this.#held = undefined;
    this.#counters = undefined;
    this.#admittedHash = undefined;
    this.#spare = NO_RESERVATION;
    this.#stats.forget();
    await this.ctx.storage.deleteAll();
  }

  /** Releases what is reserved and not used, and writes the key's numbers to the directory. */
  override alarm(): Promise<void> {
    return this.#stats.onAlarm();
  }

  #count(id: string, counts: Partial<RequestCounts>, isSettled: boolean): void {
    const alarmSet = this.#stats.count(id, counts, isSettled);
    if (alarmSet) this.ctx.waitUntil(alarmSet);
  }

  #storedCounters(): Counters {
    if (!this.#counters) {
      const stored: StoredCounters = this.ctx.storage.kv.get("counters") ?? NO_COUNTERS;
      const { stats: _stats, admittedHash, ...counters } = stored;
      this.#counters = counters;
      this.#admittedHash = admittedHash;
    }
    return this.#counters;
  }

  #settle(): void {
    const { counters, spare } = releaseReservation(this.#storedCounters(), this.#spare);
    this.#counters = counters;
    this.#spare = spare;
    this.#store();
  }

  #store(): void {
    const counters = this.#storedCounters();
    const stored: StoredCounters = { ...counters, stats: this.#stats.current(), admittedHash: this.#admittedHash };
    this.ctx.storage.kv.put("counters", stored);
  }

  /** Changes under way and when each ends by itself. */
  #changing(): Record<string, number> {
    const stored = this.ctx.storage.kv.get<Record<string, number>>("changing") ?? {};
    return Object.fromEntries(Object.entries(stored).filter(([, endsAt]) => endsAt > Date.now()));
  }

  async #record(id: string): Promise<KeyRecord | null> {
    if (this.#gone) return null;
    this.#held ??= this.ctx.storage.kv.get<HeldRecord>("record");
    const age = this.#held ? Date.now() - this.#held.readAt : Number.POSITIVE_INFINITY;
    if (this.#held && age < USABLE_MS) {
      const { record } = this.#held;
      if (age < REFRESH_MS || Date.now() < this.#refreshAfter) return record;
      const refreshed = this.#refresh(id);
      if (age < FRESH_MS) {
        this.ctx.waitUntil(refreshed);
        return record;
      }
      const read = await Promise.race([refreshed, scheduler.wait(REFRESH_TIMEOUT_MS)]);
      return read === undefined ? record : read;
    }
    // A read that is shared may be older than a change that has just been made: then each request makes its own.
    if (Object.keys(this.#changing()).length > 0) return readKeyRecord(directory(this.env), id);
    return this.#read(id);
  }

  /** Reads the record again. @returns undefined, and makes no other try for ten seconds, if the directory is down */
  async #refresh(id: string): Promise<KeyRecord | null | undefined> {
    try {
      return await this.#read(id);
    } catch (error) {
      this.#refreshAfter = Date.now() + REFRESH_AGAIN_AFTER_MS;
      console.warn({ event: "key_record_not_refreshed", error: causeOf(error) });
      return undefined;
    }
  }

  /** Reads the directory and keeps what it says, unless a change came in between. */
  #read(id: string): Promise<KeyRecord | null> {
    const generation = this.#generation;
    if (this.#loading?.generation === generation) return this.#loading.record;
    const record = readKeyRecord(directory(this.env), id)
      .then((read) => {
        if (generation === this.#generation) this.#keep(read);
        return read;
      })
      .finally(() => {
        if (this.#loading?.record === record) this.#loading = undefined;
      });
    this.#loading = { generation, record };
    return record;
  }

  #keep(record: KeyRecord | null): void {
    this.#held = record ? { record, readAt: Date.now() } : undefined;
    this.#gone = record === null;
    // A key that the directory does not know leaves no trace here: a stranger's guess must not make storage.
    if (this.#held) this.ctx.storage.kv.put("record", this.#held);
    else if (this.ctx.storage.kv.get("record") !== undefined) this.ctx.storage.kv.delete("record");
  }

  #isAllowed(rules: string[], address: string | null): boolean {
    if (rules.length === 0) return true;
    if (this.#matches?.rules !== rules) this.#matches = { rules, test: addressMatcher(rules) };
    return this.#matches.test(address);
  }
}

/** Whether no change can make a secret good again: its key was revoked, or has others since. */
function isOver({ revokedAt, hash, previousHash }: KeyRecord, asked: string): boolean {
  return revokedAt !== null || (asked !== hash && asked !== previousHash);
}
