import { and, eq, isNull } from "drizzle-orm";
import { OpenChanges } from "../../calls/change-fence.ts";
import { directory, isOutage } from "../../db/client.ts";
import { members, organizations } from "../../db/schema.ts";
import type { MemberRecord } from "../../model/organization.ts";
import { MEMBER_LASTS_MS } from "../../model/session.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { causeOf } from "../../platform/log.ts";
import type { Existence } from "./existence.ts";

/** A session of a member. Times are Unix milliseconds. */
export interface MemberSession {
  memberId: string;
  sessionId: string;
  startedAt: number;
}

interface HeldRecord {
  record: MemberRecord;
  readAt: number;
}

/** Changes of members reach the object at once. Only the restore of a directory is noticed this late. */
const FRESH_MS = 60_000;
/** The maximum age of a record while the directory is down. */
const USABLE_MS = 3_600_000;
const MAX_HELD = 1_000;
/** The maximum number of ended sessions that are kept for a member. Beyond it, all of its sessions end. */
export const MAX_ENDED = 100;
const PURGED_AT_ONCE = 100;
/** Stands for all of a member's sessions. */
const ALL = "";

/**
 * An organization's members, read from the directory, and which of their sessions ended. The records are in memory: after
 * the object was evicted, the next request reads the directory.
 *
 * A change of a member takes three steps, as a key's: `begin` here, the write to the directory, `end` here. In between
 * every request reads the directory. So the change applies from its commit on, even if the third step never happens.
 *
 * What ended is stored here and never taken back, so that restoring the directory revives no session.
 */
export class MemberRecords {
  readonly #env: Env;
  readonly #storage: DurableObjectStorage;
  readonly #existence: Existence;
  readonly #changes: OpenChanges;
  readonly #held = new BoundedMap<string, HeldRecord>(MAX_HELD);
  /** Reads under way that no change has made outdated. */
  readonly #loading = new Map<string, Promise<MemberRecord | null>>();
  /** Incremented by every change. A record that was read before a change is not cached after it. */
  #generation = 0;

  constructor(env: Env, storage: DurableObjectStorage, existence: Existence) {
    this.#env = env;
    this.#storage = storage;
    this.#existence = existence;
    this.#changes = new OpenChanges(storage.kv, "memberChanges");
  }

  /** The member of a session; null if the session has ended. @throws if D1 does not answer */
  async find(organizationId: string, { memberId, sessionId, startedAt }: MemberSession): Promise<MemberRecord | null> {
    if (this.#hasEnded(memberId, sessionId, startedAt)) return null;
    const record = await this.#record(organizationId, memberId);
    // No `await` from here on: what ended during the read counts.
    if (!record || startedAt <= record.sessionsSince || this.#hasEnded(memberId, sessionId, startedAt)) return null;
    return record;
  }

  /**
   * Step one of a change: drops the records and holds none until `end`, for a minute at most. Idempotent.
   * @returns whether the organization exists
   */
  async begin(organizationId: string, change: string): Promise<boolean> {
    if (!(await this.#existence.exists(organizationId))) return false;
    this.forget();
    this.#changes.begin(change);
    return true;
  }

  /**
   * Step three: the change is in the directory.
   * @param ended the sessions that it ended, if it did
   * @returns whether the organization's object has its tables
   */
  end(change: string, ended: { memberId: string; since: number } | null): boolean {
    this.forget();
    if (!this.#existence.isReady()) return false;
    this.#changes.end(change);
    if (ended) this.#endAll(ended.memberId, ended.since);
    return true;
  }

  /** Ends one session permanently. @param until when it would have ended anyway */
  async endSession(organizationId: string, { memberId, sessionId }: MemberSession, until: number): Promise<void> {
    if (!(await this.#existence.exists(organizationId))) return;
    const { sql } = this.#storage;
    sql.exec(
      "insert or ignore into session_ends (member_id, session_id, until) values (?, ?, ?)",
      ...[memberId, sessionId, until],
    );
    const query = "select 1 from session_ends where member_id = ? limit ?";
    const ended = sql.exec(query, memberId, MAX_ENDED + 1).toArray().length;
    if (ended <= MAX_ENDED) return this.#purge();
    this.#endAll(memberId, Date.now());
    sql.exec("delete from session_ends where member_id = ? and session_id <> ?", memberId, ALL);
  }

  /** Drops all records, for a change, and when the organization is closed or deleted. */
  forget(): void {
    this.#generation++;
    this.#held.clear();
    this.#loading.clear();
  }

  #hasEnded(memberId: string, sessionId: string, startedAt: number): boolean {
    if (!this.#existence.isReady()) return false;
    const query = "select since from session_ends where member_id = ? and session_id in (?, ?)";
    const rows = this.#storage.sql.exec<{ since: number | null }>(query, memberId, ALL, sessionId).toArray();
    return rows.some(({ since }) => since === null || startedAt <= since);
  }

  /** Ends the sessions of a member that began by `since`. */
  #endAll(memberId: string, since: number): void {
    this.#storage.sql.exec(
      `insert into session_ends (member_id, session_id, since, until) values (?, ?, ?, ?)
       on conflict do update set since = max(since, excluded.since), until = max(until, excluded.until)`,
      ...[memberId, ALL, since, since + MEMBER_LASTS_MS],
    );
    this.#purge();
  }

  /** Deletes rows of sessions that would be over anyway. */
  #purge(): void {
    this.#storage.sql.exec(
      `delete from session_ends where (member_id, session_id) in
         (select member_id, session_id from session_ends where until <= ? limit ?)`,
      ...[Date.now(), PURGED_AT_ONCE],
    );
  }

  async #record(organizationId: string, memberId: string): Promise<MemberRecord | null> {
    const held = this.#held.get(memberId);
    const age = held ? Date.now() - held.readAt : Number.POSITIVE_INFINITY;
    if (held && age < FRESH_MS) return held.record;
    try {
      return await this.#read(organizationId, memberId);
    } catch (error) {
      if (!held || age >= USABLE_MS || this.#held.get(memberId) !== held || !isOutage(error)) throw error;
      console.warn({ event: "member_record_not_refreshed", error: causeOf(error) });
      return held.record;
    }
  }

  /** Reads a record, and caches it unless a change began meanwhile. */
  #read(organizationId: string, memberId: string): Promise<MemberRecord | null> {
    // During a change each request makes its own read, because a shared one may be older than the commit.
    const isChanging = this.#changes.isAny;
    const shared = isChanging ? undefined : this.#loading.get(memberId);
    if (shared) return shared;
    const generation = this.#generation;
    const record = readMemberRecord(this.#env, organizationId, memberId)
      .then((read) => {
        if (generation === this.#generation) this.#keep(memberId, read, isChanging);
        return read;
      })
      .finally(() => {
        if (this.#loading.get(memberId) === record) this.#loading.delete(memberId);
      });
    if (!isChanging) this.#loading.set(memberId, record);
    return record;
  }

  #keep(memberId: string, record: MemberRecord | null, isChanging: boolean): void {
    if (record && !isChanging) this.#held.set(memberId, { record, readAt: Date.now() });
    if (!record) this.#held.delete(memberId);
    // The step that reports the change may have failed.
    const since = record?.sessionsSince ?? Date.now();
    if (!this.#existence.isReady() || since + MEMBER_LASTS_MS <= Date.now()) return;
    if (!this.#hasEnded(memberId, ALL, since)) this.#endAll(memberId, since);
  }
}

/** Null if there is no such member, or its organization is being deleted. */
async function readMemberRecord(env: Env, organizationId: string, memberId: string): Promise<MemberRecord | null> {
  const { id, name, publicName, email, permissions, sessionsSince } = members;
  const row = await directory(env)
    .select({
      id,
      organizationId: organizations.id,
      name,
      publicName,
      email,
      permissions,
      sessionsSince,
      region: organizations.region,
    })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(eq(members.id, memberId), eq(organizations.id, organizationId), isNull(organizations.erasingAt)))
    .get();
  return row ?? null;
}
