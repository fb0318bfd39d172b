import { and, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import { OpenChanges } from "../../calls/change-fence.ts";
import { type Directory, directory } from "../../db/client.ts";
import { apiKeys, channels, members, organizations } from "../../db/schema.ts";
import type { KeyRecord } from "../../model/key.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { inTime } from "../../platform/deadline.ts";
import { causeOf } from "../../platform/log.ts";

interface HeldRecord {
  record: KeyRecord;
  readAt: number;
}

/** A record of this age is refreshed in the background. */
const REFRESH_MS = 45_000;
/** A record of this age makes requests wait for its refresh, so the default sender is at most a minute old. */
const FRESH_MS = 60_000;
const REFRESH_TIMEOUT_MS = 1_000;
const REFRESH_AGAIN_AFTER_MS = 10_000;
/** The maximum age of a record while the directory is down. */
const USABLE_MS = 3_600_000;
/** An unchanged record is stored again after this time, because each time costs a row. */
const STORE_AGAIN_MS = 600_000;
/** A key's record, read from the directory. Copies are in memory and, as `record`, in the key's object. */
export class RecordCache {
  readonly #env: Env;
  readonly #ctx: DurableObjectState;
  readonly #changes: OpenChanges;
  #held: HeldRecord | undefined;
  /** The time of the next refresh after the directory did not answer. */
  #refreshAfter = 0;
  /** Incremented by every change. A record that was read before a change is not cached after it. */
  #generation = 0;
  #gone = false;
  #loading: { generation: number; record: Promise<KeyRecord | null> } | undefined;

  constructor(env: Env, ctx: DurableObjectState) {
    this.#env = env;
    this.#ctx = ctx;
    this.#changes = new OpenChanges(ctx.storage.kv, "changing");
  }

  /** Whether the directory has no such key. This is final, because ids are not reused. */
  get isGone(): boolean {
    return this.#gone;
  }

  /** Whether a record is the cached one. During a change none is. */
  isHeld(record: KeyRecord): boolean {
    return this.#held?.record === record;
  }

  /** @returns the key; null if the directory has no such key. Throws if the directory is down and no copy can be used */
  async read(id: string): Promise<KeyRecord | null> {
    if (this.#gone) return null;
    this.#held ??= this.#ctx.storage.kv.get<HeldRecord>("record");
    // A revocation is final, so it is not read again.
    if (this.#held && this.#held.record.revokedAt !== null) return this.#held.record;
    const age = this.#held ? Date.now() - this.#held.readAt : Number.POSITIVE_INFINITY;
    if (this.#held && age < USABLE_MS) {
      const { record } = this.#held;
      if (age < REFRESH_MS || Date.now() < this.#refreshAfter) return record;
      const refreshed = this.#refresh(id);
      if (age < FRESH_MS) {
        this.#ctx.waitUntil(refreshed);
        return record;
      }
      const read = await inTime(
        SYSTEM_CLOCK,
        REFRESH_TIMEOUT_MS,
        refreshed.then((record) => ({ record })),
      );
      return read?.record === undefined ? record : read.record;
    }
    // During a change each request makes its own read, because a shared one may be older than the commit.
    if (this.#changes.isAny) return readKeyRecord(directory(this.#env), id);
    return this.#load(id);
  }

  /** Reads the record again. @returns undefined if the directory is down; the next try is then ten seconds later */
  async #refresh(id: string): Promise<KeyRecord | null | undefined> {
    try {
      return await this.#load(id);
    } catch (error) {
      this.#refreshAfter = Date.now() + REFRESH_AGAIN_AFTER_MS;
      console.warn({ event: "key_record_not_refreshed", error: causeOf(error) });
      return undefined;
    }
  }

  /** Reads the record, and caches it unless a change began meanwhile. */
  #load(id: string): Promise<KeyRecord | null> {
    const generation = this.#generation;
    if (this.#loading?.generation === generation) return this.#loading.record;
    const record = readKeyRecord(directory(this.#env), id)
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
    const { kv } = this.#ctx.storage;
    const stored = kv.get<HeldRecord>("record");
    // Nothing is stored for a key that doesn't exist: invented ids must not create storage.
    if (!this.#held) {
      if (stored) kv.delete("record");
    } else if (!stored || isDue(stored, this.#held)) kv.put("record", this.#held);
  }

  /** Drops the copies, and keeps none until `endChange`, for a minute at most. Idempotent. */
  beginChange(change: string): void {
    if (this.#gone) return;
    this.#drop();
    this.#changes.begin(change);
  }

  /** The change is in the directory. */
  endChange(change: string): void {
    this.#drop();
    this.#changes.end(change);
  }

  /** The key is deleted, and its storage is about to be. */
  erase(): void {
    this.#generation++;
    this.#gone = true;
    this.#held = undefined;
  }

  #drop(): void {
    this.#generation++;
    this.#held = undefined;
    this.#ctx.storage.kv.delete("record");
  }
}

/** Whether the stored record is different, or so old that it would soon be of no use in an outage. */
function isDue(stored: HeldRecord, { record, readAt }: HeldRecord): boolean {
  return readAt - stored.readAt >= STORE_AGAIN_MS || JSON.stringify(stored.record) !== JSON.stringify(record);
}

/** Reads a key's record. @returns null if the key doesn't exist or its organization is being deleted */
export async function readKeyRecord(db: Directory, id: string): Promise<KeyRecord | null> {
  const defaultSenderId = sql<string>`(
    select ${members.id} from ${members} where ${members.organizationId} = ${apiKeys.organizationId}
    order by ${members.createdAt}, ${members.id} limit 1)`;
  const botOf = sql<string>`(
    select json_group_array(${channels.id}) from ${channels} where ${channels.organizationId} = ${apiKeys.organizationId}
    and ${channels.erasingAt} is null and ${channels.settings} ->> '$.bot.keyId' = ${apiKeys.id})`;
  const row = await db
    .select({ key: getTableColumns(apiKeys), region: organizations.region, defaultSenderId, botOf })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(and(eq(apiKeys.id, id), isNull(organizations.erasingAt)))
    .get();
  if (!row) return null;
  const { key, region, defaultSenderId: senderId } = row;
  return { ...key, ownRegion: key.region, region, defaultSenderId: senderId, botOf: JSON.parse(row.botOf) as string[] };
}
