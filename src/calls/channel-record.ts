import { and, eq, isNull, sql } from "drizzle-orm";
import { directory, isOutage } from "../db/client.ts";
import { channels, organizations } from "../db/schema.ts";
import type { ChannelSettings, Credentials } from "../model/channel.ts";
import type { ChannelKind } from "../model/channel-kind.ts";
import { unavailable } from "../model/error.ts";
import { isId } from "../model/id.ts";
import type { Region } from "../model/region.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { isRecent } from "../platform/clock.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { open, sealingKeys } from "../secrets/sealing.ts";
import { callObject, NEARBY } from "./call-object.ts";

/** A channel with decrypted secrets, as webhooks, visitors and the channel's object need it. */
export interface ChannelRecord {
  id: string;
  organizationId: string;
  kind: ChannelKind;
  name: string;
  settings: ChannelSettings;
  /** The region where the organization wants its objects. */
  region: Region | null;
  /** Decrypted; `{}` on a web channel. */
  credentials: Credentials;
  /** Changes with each write of the credentials, without revealing them; empty on a web channel. */
  credentialsVersion: string;
  /** Decrypted. The token that proves that a webhook is from the network; null on a web channel. */
  verifyToken: string | null;
  /** The secrets that verify a site's users at `now`, decrypted when called; empty for other kinds of channel. */
  identitySecrets(now: number): Promise<string[]>;
  /** When the directory was read, Unix milliseconds. */
  readAt: number;
  /** The row that it was made from, with sealed secrets. */
  row: ChannelRow;
}

/** A channel's row in the directory and its organization's region. */
export interface ChannelRow {
  channel: typeof channels.$inferSelect;
  region: Region | null;
}

/** The maximum age of a cached record. A change takes effect within this time, unless a failed verification causes a read. */
const MAX_AGE_MS = 10_000;
/** The maximum age of a fresh record, and the minimum time between reads caused by failed verifications. */
const FRESH_AGE_MS = 1_000;
/** The maximum age of a record while the directory is down. */
const OUTAGE_AGE_MS = 3_600_000;
/** How often a request looks whether another request's read has ended. */
const POLL_MS = 2;
const MAX_CACHED = 1_000;

/**
 * The result of reading the directory. `read` is a sequence number, which orders reads independently of the clock. Null is
 * cached too: a channel that does not exist or is being deleted never comes into existence later.
 */
type CachedRecord = { read: number; readAt: number; record: ChannelRecord | null };
/** A read that other requests may wait for. `found` is set when it succeeds. */
type PendingRead = { readAt: number; isOver: boolean; found?: ChannelRecord | null };

const caches = perIsolate(() => ({
  records: new BoundedMap<string, CachedRecord>(MAX_CACHED),
  pending: new BoundedMap<string, PendingRead>(MAX_CACHED),
  /** When a failed verification last caused a read, Unix milliseconds. */
  failures: new BoundedMap<string, number>(MAX_CACHED),
  /** When the directory failed to answer, Unix milliseconds; 0 if it has answered since. */
  outageAt: 0,
}));
let reads = 0;

/**
 * A channel's record, cached in this isolate.
 * @param fresh false: at most 10 seconds old. true: at most 1 second old. "now": read now, for use after a change
 * While the directory is down, a record is at most an hour old, or comes from the channel's object.
 * @returns null if the channel does not exist or is being deleted
 * @throws ApiError `unavailable` if no configured key decrypts its secrets
 */
export async function channelRecord(
  env: Env,
  channelId: string,
  { fresh = false }: { fresh?: boolean | "now" } = {},
): Promise<ChannelRecord | null> {
  if (!isId("chn", channelId)) return null;
  if (fresh === "now") return readRecord(env, channelId, { mayBeOld: false });
  const cached = cachedRecord(env, channelId, fresh ? FRESH_AGE_MS : MAX_AGE_MS);
  if (cached) return cached.record;
  // Each request would wait for a directory that does not answer.
  const old = isRecent(caches(env).outageAt, FRESH_AGE_MS) && cachedRecord(env, channelId, OUTAGE_AGE_MS);
  return old ? old.record : sharedRead(env, channelId);
}

/**
 * Verifies a request with a channel's record, which is at most 10 seconds old, or 1 second with `fresh`. If `verify` fails
 * with a record that was cached before this call, the channel is read again and verified again, so that a rotated secret
 * works at once. Failures cause at most one such read per second, which limits the cost of forged requests.
 * @param verify returns null if the verification fails
 * @returns null if the channel does not exist
 */
export async function verifyChannel<Verified>(
  env: Env,
  channelId: string,
  verify: (record: ChannelRecord) => Promise<Verified | null>,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<{ record: ChannelRecord; verified: Verified | null } | null> {
  const readsBefore = reads;
  const record = await channelRecord(env, channelId, { fresh });
  if (!record) return null;
  const verified = await verify(record);
  if (verified !== null) return { record, verified };
  const { records, failures } = caches(env);
  const newest = records.get(channelId);
  const wasReadNow = newest !== undefined && newest.read > readsBefore;
  if (wasReadNow) failures.set(channelId, newest.readAt);
  const latest = wasReadNow ? newest.record : await readAfterFailure(env, channelId, record);
  if (latest === record) return { record, verified };
  return latest && { record: latest, verified: await verify(latest) };
}

/** Reads the channel again after verification failed with `known`; returns `known` if a failure caused a read just before. */
async function readAfterFailure(env: Env, channelId: string, known: ChannelRecord): Promise<ChannelRecord | null> {
  const { failures, pending } = caches(env);
  const last = failures.get(channelId);
  if (last === undefined || !isRecent(last, FRESH_AGE_MS)) {
    failures.set(channelId, Date.now());
    return readRecord(env, channelId);
  }
  // That read may still be in progress.
  const pendingRead = pending.get(channelId);
  if (pendingRead) return (await resultOf(pendingRead)) ?? known;
  return cachedRecord(env, channelId, MAX_AGE_MS)?.record ?? known;
}

function cachedRecord(env: Env, channelId: string, maxAge: number): CachedRecord | undefined {
  const cached = caches(env).records.get(channelId);
  return cached && isRecent(cached.readAt, maxAge) ? cached : undefined;
}

/** Whether this isolate has a record of the channel, however old. Does not read the directory. */
export function isKnownChannel(env: Env, channelId: string): boolean {
  return Boolean(caches(env).records.get(channelId)?.record);
}

/** Waits for a read that another request has just started, or starts a read. */
async function sharedRead(env: Env, channelId: string): Promise<ChannelRecord | null> {
  const pendingRead = caches(env).pending.get(channelId);
  const isShared = pendingRead !== undefined && isRecent(pendingRead.readAt, FRESH_AGE_MS);
  const found = isShared ? await resultOf(pendingRead) : undefined;
  return found === undefined ? readRecord(env, channelId) : found;
}

/**
 * The result of another request's read; undefined if it fails or takes too long. If the platform cancels that request,
 * its read never ends. It polls with timers of its own, because the platform ends a request as hung if that waits only
 * for another one.
 */
async function resultOf(pendingRead: PendingRead): Promise<ChannelRecord | null | undefined> {
  for (let waitedMs = 0; !pendingRead.isOver && waitedMs < FRESH_AGE_MS; waitedMs += POLL_MS) {
    await scheduler.wait(POLL_MS);
  }
  return pendingRead.found;
}

async function readRecord(env: Env, channelId: string, { mayBeOld = true } = {}): Promise<ChannelRecord | null> {
  const read = ++reads;
  const readAt = Date.now();
  const pendingRead: PendingRead = { readAt, isOver: false };
  const { records, pending } = caches(env);
  pending.set(channelId, pendingRead);
  try {
    const record = await loadRecord(env, channelId, readAt).catch((error: unknown) => {
      if (!mayBeOld || !isOutage(error)) throw error;
      return recordInOutage(env, channelId, readAt, error);
    });
    const isOld = record !== null && record.readAt < readAt;
    // Ignore the result if a read that started later has already ended.
    if (!isOld && (records.get(channelId)?.read ?? 0) < read) records.set(channelId, { read, readAt, record });
    pendingRead.found = record;
    return record;
  } finally {
    pendingRead.isOver = true;
    if (pending.get(channelId) === pendingRead) pending.delete(channelId);
  }
}

/**
 * A record for use while the directory is down: the one that this isolate has, or one from the row that the channel's
 * object keeps.
 * @throws the outage's error if there is none
 */
async function recordInOutage(
  env: Env,
  channelId: string,
  readAt: number,
  outage: unknown,
): Promise<ChannelRecord | null> {
  caches(env).outageAt = Date.now();
  const cached = cachedRecord(env, channelId, OUTAGE_AGE_MS);
  if (cached) return cached.record;
  const row = await callObject(env.CHANNELS, channelId, (channel) => channel.storedRow(), NEARBY);
  if (!row) throw outage;
  return openRecord(env, row, readAt);
}

async function loadRecord(env: Env, channelId: string, readAt: number): Promise<ChannelRecord | null> {
  const row = await directory(env)
    .select({ channel: channels, region: organizations.region })
    .from(channels)
    .innerJoin(organizations, eq(organizations.id, channels.organizationId))
    .where(and(eq(channels.id, channelId), isNull(channels.erasingAt)))
    .get();
  caches(env).outageAt = 0;
  return row ? openRecord(env, row, readAt) : null;
}

/**
 * Finds the channels of an organization and a kind that have one of these accounts, oldest first, in one query. `open`
 * decrypts a record.
 */
export async function findByAccounts(
  env: Env,
  { organizationId, kind }: Pick<ChannelRecord, "organizationId" | "kind">,
  accounts: readonly string[],
): Promise<{ account: string | null; open: () => Promise<ChannelRecord> }[]> {
  const readAt = Date.now();
  const rows = await directory(env)
    .select({ channel: channels, region: organizations.region })
    .from(channels)
    .innerJoin(organizations, eq(organizations.id, channels.organizationId))
    .where(
      and(
        eq(channels.organizationId, organizationId),
        // One JSON parameter, because a D1 statement takes at most 100 parameters.
        sql`${channels.account} in (select value from json_each(${JSON.stringify(accounts)}))`,
        eq(channels.kind, kind),
        isNull(channels.erasingAt),
      ),
    )
    .orderBy(channels.createdAt, channels.id);
  return rows.map((row) => ({ account: row.channel.account, open: () => openRecord(env, row, readAt) }));
}

async function openRecord(env: Env, stored: ChannelRow, readAt: number): Promise<ChannelRecord> {
  const { channel: row, region } = stored;
  const { id, organizationId, kind, name, settings } = row;
  const openColumn = async (column: string, sealed: string | null) => {
    if (sealed === null) return null;
    const keys = sealingKeys(env);
    return open(keys, { id, column }, sealed).catch((error) => Promise.reject(unavailable(error)));
  };
  const credentials = await openColumn("credentials", row.credentials);
  // Decrypted on first use: neither the page nor an anonymous visitor needs them.
  let current: string | null = null;
  let previous: string | null = null;
  const identitySecrets = async (now: number) => {
    current ??= await openColumn("identity_secret", row.identitySecret);
    const inOverlap = (row.identityPreviousUntil ?? 0) > now;
    if (inOverlap) previous ??= await openColumn("identity_previous", row.identityPrevious);
    return [current, inOverlap ? previous : null].filter((secret) => secret !== null);
  };
  return {
    id,
    organizationId,
    kind,
    name,
    settings,
    region,
    // The version byte and the nonce, which is different for each encryption.
    credentialsVersion: row.credentials?.slice(0, 16) ?? "",
    credentials: credentials === null ? {} : (JSON.parse(credentials) as Credentials),
    verifyToken: await openColumn("verify_token", row.verifyToken),
    identitySecrets,
    readAt,
    row: stored,
  };
}
