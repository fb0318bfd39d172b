import { DurableObject } from "cloudflare:workers";
import { addressMatcher } from "../../model/allowlist.ts";
import { addCounts, type Counts } from "../../model/counts.ts";
import { isBound } from "../../model/escalation.ts";
import {
  type Admission,
  type CountedRefusal,
  countedAs,
  type KeyRecord,
  presentKey,
  type RefusalReason,
  type RequestCounts,
  type ReturnedGrant,
} from "../../model/key.ts";
import type { Need } from "../../model/permission.ts";
import { asText, type Text } from "../../platform/answer-text.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { StandingAlarm } from "../../platform/object/alarm.ts";
import { DueWork } from "../../platform/object/due-work.ts";
import { decide, reasonToRefuse } from "./decide.ts";
import { KeyStatsBuffer, type StoredStats } from "./key-stats.ts";
import { type Counters, NO_COUNTERS, NO_RESERVATION, releaseReservation, takeBack, usageOf } from "./limits.ts";
import { type OpenGrant, OpenGrants } from "./open-grants.ts";
import { RecordCache } from "./record-cache.ts";

/** A batch of requests that need admission. `hash` is that of the key text. */
export interface AdmissionRequest {
  /** The call's id. A retry has the same id. */
  call: string;
  hash: string;
  address: string | null;
  permission: Need | null;
  /** Whether the request is for `contact:reach`. Then `permission` is the one that this needs. */
  reaches?: boolean;
  /** The number of requests in the batch, at least 1. */
  units: number;
  /** Requests that the calling isolate refused from its cache since its last report. */
  refused?: Counts<CountedRefusal>;
  /** The caller reads the answer as text. */
  asText?: boolean;
  /** The calling isolate's requests like this one in about a second. Absent: it takes no grant. */
  pace?: number;
  /** Grants that the calling isolate no longer uses. */
  returned?: ReturnedGrant[];
}

/** Stored with the counters, because another row costs a write. */
interface CountersExtra {
  stats?: StoredStats | null;
  /** The hash of the newest secret that was ever admitted. */
  admittedHash?: string | undefined;
  /** Whether an isolate may hold a grant. */
  mayHoldGrants?: boolean;
}

type StoredCounters = Counters & CountersExtra;

/** Retries follow at once, and an object answers about a thousand calls per second. */
const REMEMBERED_CALLS = 1_000;

/**
 * One API key: its record, read from the directory, and its counts. Its storage has three values: `record`, `counters`
 * (with the operator's statistics) and `changing`. Its fields are copies that may be lost at any moment.
 *
 * A change of the key takes three steps: `beginChange` here, the write to the directory, `endChange` here. In between
 * every request reads the directory. So the change applies from its commit on, even if the third step never happens.
 */
export class KeyObject extends DurableObject<Env> {
  /**
   * Results of recent calls by the call's id, so that a retry counts once. If the object lost its memory in between,
   * the retry counts again: this costs the key the units of one call, and never grants more.
   */
  readonly #answers = new BoundedMap<string, Admission>(REMEMBERED_CALLS);
  /** Ids of recent reports of refusals, so that a retry counts once. */
  readonly #countedCalls = new BoundedMap<string, true>(REMEMBERED_CALLS);
  readonly #record = new RecordCache(this.env, this.ctx);
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #stats = new KeyStatsBuffer(this.env, this.#alarm, {
    stored: () => this.ctx.storage.kv.get<StoredCounters>("counters")?.stats ?? null,
    isSettled: () => {
      this.#storedCounters();
      return !this.#grants.areAny;
    },
    settle: () => this.#settle(),
  });
  readonly #due = new DueWork(
    { name: "key", alarm: this.#alarm, waitUntil: (work) => this.ctx.waitUntil(work) },
    { stats: this.#stats },
  );
  readonly #grants = new OpenGrants();
  #counters: Counters | undefined;
  #admittedHash: string | undefined;
  #reservation = NO_RESERVATION;
  #matches: { rules: string[]; test: (address: string | null) => boolean } | undefined;

  /**
   * Admits or refuses `asked.units` requests of the key `id`. Granted units are stored before this responds. A retry
   * gets the first result and counts nothing.
   */
  async admit(id: string, asked: AdmissionRequest): Promise<Admission | Text<Admission>> {
    const record = await this.#record.read(id);
    const answer = this.#answer(id, record, asked);
    return asked.asText ? asText(answer) : answer;
  }

  #answer(id: string, record: KeyRecord | null, asked: AdmissionRequest): Admission {
    // Deleted during the read of the directory. Nothing may be stored from then on.
    if (!record || this.#record.isGone)
      return { outcome: "refused", reason: "invalid_api_key", window: null, final: true };
    this.#takeBack(record, asked.returned ?? []);
    // No `await`, so the second of two tries finds the result of the first.
    const answer = this.#answers.get(asked.call) ?? this.#decide(id, record, asked);
    this.#answers.set(asked.call, answer);
    return answer;
  }

  /**
   * Counts requests that an isolate refused from its cache, once for each `call`. Stores nothing for a key that doesn't
   * exist.
   */
  async countRefused(id: string, refused: Counts<CountedRefusal>, call: string): Promise<void> {
    const record = await this.#record.read(id);
    if (!record || this.#record.isGone || this.#countedCalls.has(call)) return;
    this.#countedCalls.set(call, true);
    this.#count(record, { refused }, false);
  }

  /** Takes back grants that an isolate no longer uses. Each counts once, by its id. */
  async giveBack(id: string, returned: ReturnedGrant[]): Promise<void> {
    const record = await this.#record.read(id);
    if (record && !this.#record.isGone) this.#takeBack(record, returned);
  }

  /** Why an admitted request may not continue, by the key as it is now; null if it may. Counts nothing. */
  async check(
    id: string,
    { hash, address, permission }: Pick<AdmissionRequest, "hash" | "address" | "permission">,
  ): Promise<RefusalReason | null> {
    const record = await this.#record.read(id);
    if (!record || this.#record.isGone) return "invalid_api_key";
    const addressAllowed = this.#isAllowed(record.ipAllowlist, address);
    return reasonToRefuse(record, { hash, addressAllowed, permission }, Date.now());
  }

  #decide(id: string, record: KeyRecord, asked: AdmissionRequest): Admission {
    const now = Date.now();
    this.#endLostGrants(record, now);
    // Not during a change, for which no record is held: `beginChange` has already returned how long to wait.
    const mayGrant = this.#grants.isAwake(now) && this.#record.isHeld(record);
    const decision = decide(
      record,
      this.#storedCounters(),
      this.#reservation,
      {
        hash: asked.hash,
        permission: asked.reaches ? "contact:reach" : asked.permission,
        addressAllowed: this.#isAllowed(record.ipAllowlist, asked.address),
        units: asked.units,
        pace: mayGrant ? (asked.pace ?? 0) : 0,
      },
      now,
    );
    if (decision.outcome === "refused") {
      this.#count(
        record,
        { refused: addCounts({ [countedAs(decision.reason)]: asked.units }, asked.refused ?? {}) },
        false,
      );
      return { ...decision, final: isFinal(record, asked.hash) };
    }
    this.#counters = decision.counters;
    this.#reservation = decision.reservation;
    const isFirstGrant = decision.ahead !== null && this.#addGrant(asked.call, decision.ahead.units, now);
    const isSettled = decision.write && decision.reservation.units === 0 && !this.#grants.areAny;
    this.#count(record, { admitted: decision.granted, refused: asked.refused ?? {} }, isSettled);
    const isFirstUse = asked.hash === record.hash && asked.hash !== this.#admittedHash;
    if (isFirstUse) this.#admittedHash = asked.hash;
    // The output gate holds the response until this is on disk.
    if (decision.write || isFirstUse || isFirstGrant) this.#store();
    const { name, organizationId, permissions, defaultSenderId, region, botOf = [] } = record;
    return {
      outcome: "admitted",
      granted: decision.granted,
      caller: {
        principal: { type: "key", id, name },
        organizationId,
        permissions,
        defaultSenderId,
        region,
        ...(isBound(record) && { isBound: true }),
        ...(botOf.length > 0 && { botOf }),
        ...(record.draftsOnly && { draftsOnly: true }),
      },
      window: decision.window,
      ...(decision.ahead && { grant: decision.ahead }),
    };
  }

  /** @returns whether it must be stored that there is one */
  #addGrant(id: string, units: number, grantedAt: number): boolean {
    const { windowStart, month } = this.#storedCounters();
    return this.#grants.add(id, { units, windowStart, month, grantedAt });
  }

  #takeBack(record: KeyRecord, returned: ReturnedGrant[]): void {
    for (const { id, unused } of returned) {
      const grant = this.#grants.take(id);
      if (grant) this.#endGrant(record, grant, Math.min(unused, grant.units));
    }
  }

  #endLostGrants(record: { id: string; organizationId: string }, now: number): void {
    for (const grant of this.#grants.takeLost(now)) this.#endGrant(record, grant, 0);
  }

  #endGrant(record: { id: string; organizationId: string }, grant: OpenGrant, unused: number): void {
    const { counters, reservation } = takeBack(this.#storedCounters(), this.#reservation, grant, unused);
    this.#counters = counters;
    this.#reservation = reservation;
    this.#count(record, { admitted: grant.units - unused }, false);
  }

  /** The key and its usage; null if the directory has no such key. Counts nothing. */
  async describe(id: string) {
    const record = await this.#record.read(id);
    if (!record) return null;
    const now = Date.now();
    const { month, used, quota, window, running } = usageOf(record, this.#storedCounters(), this.#reservation, now);
    const { limit, remaining, reset } = window;
    return {
      key: presentKey({ ...record, region: record.ownRegion ?? null }, now),
      usage: {
        month,
        used,
        quota,
        window: { limit, remaining, reset: running ? new Date(reset).toISOString() : null },
      },
    };
  }

  /**
   * The hash of the newest secret that was ever admitted; null if none was. A rotation asks whether a secret is in use.
   */
  admittedHash(): string | null {
    this.#storedCounters();
    return this.#admittedHash ?? null;
  }

  /**
   * Step one of a change: drops the cached record and caches none until `endChange`, for a minute at most. Idempotent.
   * @param waits whether the caller waits. A Worker of an earlier version does not, so this method waits for it
   * @returns after how many milliseconds no isolate admits a request without this object
   */
  async beginChange(change: string, waits = false): Promise<number> {
    this.#record.beginChange(change);
    this.#storedCounters();
    const overInMs = this.#grants.beginChange(change);
    if (waits || overInMs === 0) return overInMs;
    await SYSTEM_CLOCK.wait(overInMs);
    return 0;
  }

  /** Step three: the change is in the directory. @returns see `OpenGrants` */
  endChange(change: string): number {
    this.#record.endChange(change);
    return this.#grants.endChange(change);
  }

  async erase(): Promise<void> {
    this.#record.erase();
    this.#counters = undefined;
    this.#admittedHash = undefined;
    this.#reservation = NO_RESERVATION;
    this.#grants.forget();
    this.#due.forget();
    await this.ctx.storage.deleteAll();
  }

  /** Sets the alarm again if the platform gave it up. @returns whether it had */
  checkAlarm(): Promise<boolean> {
    this.#stats.resume(Date.now());
    return this.#due.renew(true);
  }

  /** Releases what is reserved and not used, and reports the key's numbers. */
  override alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    return this.#due.ring(invocation);
  }

  #count(record: { id: string; organizationId: string }, counts: Partial<RequestCounts>, isSettled: boolean): void {
    const alarmSet = this.#stats.count(record, counts, isSettled);
    if (alarmSet) this.ctx.waitUntil(alarmSet);
  }

  #storedCounters(): Counters {
    if (!this.#counters) {
      const stored: StoredCounters = this.ctx.storage.kv.get("counters") ?? NO_COUNTERS;
      const { stats: _stats, admittedHash, mayHoldGrants = false, ...counters } = stored;
      this.#counters = counters;
      this.#admittedHash = admittedHash;
      this.#grants.resume(mayHoldGrants);
    }
    return this.#counters;
  }

  /** Stores what is only in memory, and releases what is reserved. @returns whether each grant is accounted for */
  async #settle(): Promise<boolean> {
    const stats = this.#stats.current();
    if (stats) this.#endLostGrants({ ...stats, id: stats.keyId }, Date.now());
    await this.#grants.settle();
    if (this.#record.isGone) return true;
    const { counters, reservation } = releaseReservation(this.#storedCounters(), this.#reservation);
    this.#counters = counters;
    this.#reservation = reservation;
    this.#store();
    return !this.#grants.areAny;
  }

  #store(): void {
    const counters = this.#storedCounters();
    const extra: CountersExtra = { stats: this.#stats.current(), admittedHash: this.#admittedHash };
    if (this.#grants.mayBeHeld) extra.mayHoldGrants = true;
    this.ctx.storage.kv.put("counters", { ...counters, ...extra } satisfies StoredCounters);
  }

  #isAllowed(rules: string[], address: string | null): boolean {
    if (rules.length === 0) return true;
    const known = this.#matches;
    // During a change, each request reads the record again: the same rules are not parsed again.
    const isSame = known !== undefined && (known.rules === rules || known.rules.join() === rules.join());
    this.#matches = { rules, test: isSame ? known.test : addressMatcher(rules) };
    return this.#matches.test(address);
  }
}

/** Whether a secret is permanently invalid: its key was revoked, or has other secrets. */
function isFinal({ revokedAt, hash, previousHash }: KeyRecord, asked: string): boolean {
  return revokedAt !== null || (asked !== hash && asked !== previousHash);
}
