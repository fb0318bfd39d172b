import { and, eq, isNull, sql } from "drizzle-orm";
import { directory } from "../db/client.ts";
import { channels, organizations, type Region } from "../db/schema.ts";
import { unavailable } from "../http/errors.ts";
import { isId } from "../ids.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { open, sealingKeys } from "../secrets/sealing.ts";
import type { Credentials } from "./adapter.ts";
import type { ChannelKind } from "./kinds.ts";
import type { ChannelSettings } from "./spec.ts";

/** A channel as its webhooks, its visitors and its object see it. */
export interface ChannelRecord {
  id: string;
  organizationId: string;
  kind: ChannelKind;
  name: string;
  settings: ChannelSettings;
  /** Where the organization would have its objects. */
  region: Region | null;
  /** Opened; `{}` on a web channel. */
  credentials: Credentials;
  /** Names the credentials without telling them: another value for each write of them; empty on a web channel. */
  credentialsVersion: string;
  /** Opened; what the network shows to prove itself; null on a web channel. */
  verifyToken: string | null;
  /** The secrets that vouch for a site's users at `now`, opened when asked for; none on other kinds. */
  identitySecrets(now: number): Promise<string[]>;
  /** When the directory was asked, Unix milliseconds. */
  readAt: number;
}

/** How long a change may go unseen where nothing fails because of it. */
const HOLD_MS = 10_000;
/** How old a fresh record may be, and how far apart two reads are that failures cause: forged calls must not each cost one. */
const FRESH_MS = 1_000;
const MAX_HELD = 1_000;

/**
 * What a read of the directory found; the later read has the higher number, whatever the clock says. Null is held too:
 * a channel that there is not, or that is being erased, never comes to be.
 */
type Held = { read: number; readAt: number; record: ChannelRecord | null };
type Reading = { readAt: number; found: Promise<ChannelRecord | null> };

const kept = perIsolate(() => ({
  held: new BoundedMap<string, Held>(MAX_HELD),
  reading: new BoundedMap<string, Reading>(MAX_HELD),
  /** When a verification that failed last had its channel read. */
  failed: new BoundedMap<string, { readAt: number }>(MAX_HELD),
}));
let reads = 0;

/**
 * A channel, as this isolate has held it for at most 10 s, or with `fresh` for at most 1 s; with `now` it is read, for
 * who has just changed it. Null where there is none, or where it is being erased.
 * @throws ApiError `unavailable` when its secrets open under no configured key
 */
export async function channelRecord(
  env: Env,
  channelId: string,
  { fresh = false }: { fresh?: boolean | "now" } = {},
): Promise<ChannelRecord | null> {
  if (!isId("chn", channelId)) return null;
  if (fresh === "now") return readRecord(env, channelId);
  const known = heldRecord(env, channelId, fresh ? FRESH_MS : HOLD_MS);
  return known ? known.record : sharedRead(env, channelId);
}

/**
 * What `verify` makes of a channel, as it is held for at most 10 s, or with `fresh` for at most 1 s. Where it finds
 * nothing good in a record that was read before, the channel is read once more, so that a rotated secret works with its
 * first call; but not for a second after another failure had it read, which is all that forged calls can cost.
 * @returns null where there is no such channel
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
  const { held, failed } = kept(env);
  const newest = held.get(channelId);
  const isOfThisCall = newest !== undefined && newest.read > readsBefore;
  if (isOfThisCall) failed.set(channelId, { readAt: newest.readAt });
  const again = isOfThisCall ? newest.record : await readAfterFailure(env, channelId, record);
  if (again === record) return { record, verified };
  return again && { record: again, verified: await verify(again) };
}

/** The channel for a call that failed with `known`, which is given back where a failure had it read a moment ago. */
async function readAfterFailure(env: Env, channelId: string, known: ChannelRecord): Promise<ChannelRecord | null> {
  const { failed, reading } = kept(env);
  const last = failed.get(channelId);
  if (!last || !isRecent(last, FRESH_MS)) {
    failed.set(channelId, { readAt: Date.now() });
    return readRecord(env, channelId);
  }
  // That read may still be under way. One of a request that was cancelled never ends.
  const other = reading.get(channelId);
  if (other) return (await Promise.race([other.found, scheduler.wait(FRESH_MS)])) ?? known;
  return heldRecord(env, channelId, HOLD_MS)?.record ?? known;
}

function heldRecord(env: Env, channelId: string, maxAge: number): Held | undefined {
  const known = kept(env).held.get(channelId);
  return known && isRecent(known, maxAge) ? known : undefined;
}

function isRecent({ readAt }: { readAt: number }, maxAge: number): boolean {
  const age = Date.now() - readAt;
  return age >= 0 && age < maxAge;
}

/** Whether this isolate has met a channel; however long ago, and whatever became of it. The directory is not asked. */
export function isKnownChannel(env: Env, channelId: string): boolean {
  return Boolean(kept(env).held.get(channelId)?.record);
}

/** The read of another request that has just begun, or one of our own. */
async function sharedRead(env: Env, channelId: string): Promise<ChannelRecord | null> {
  const other = kept(env).reading.get(channelId);
  if (!other || !isRecent(other, FRESH_MS)) return readRecord(env, channelId);
  // The platform may cancel the request that reads, and what it began then never ends.
  const found = await Promise.race([other.found, scheduler.wait(FRESH_MS)]);
  return found === undefined ? readRecord(env, channelId) : found;
}

async function readRecord(env: Env, channelId: string): Promise<ChannelRecord | null> {
  const read = ++reads;
  const readAt = Date.now();
  const begun: Reading = { readAt, found: askDirectory(env, channelId, readAt) };
  const { held, reading } = kept(env);
  reading.set(channelId, begun);
  try {
    const record = await begun.found;
    // A read that began before another tells nothing that the other does not know.
    if ((held.get(channelId)?.read ?? 0) < read) held.set(channelId, { read, readAt, record });
    return record;
  } finally {
    if (reading.get(channelId) === begun) reading.delete(channelId);
  }
}

async function askDirectory(env: Env, channelId: string, readAt: number): Promise<ChannelRecord | null> {
  const row = await directory(env)
    .select({ channel: channels, region: organizations.region })
    .from(channels)
    .innerJoin(organizations, eq(organizations.id, channels.organizationId))
    .where(and(eq(channels.id, channelId), isNull(channels.erasingAt)))
    .get();
  return row ? openRecord(env, row.channel, row.region, readAt) : null;
}

/**
 * The channels of an organization and a kind that have one of these accounts, the oldest first, in one query. A record
 * is opened only when it is asked for.
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
        // A statement takes at most 100 parameters.
        sql`${channels.account} in (select value from json_each(${JSON.stringify(accounts)}))`,
        eq(channels.kind, kind),
        isNull(channels.erasingAt),
      ),
    )
    .orderBy(channels.createdAt, channels.id);
  return rows.map(({ channel, region }) => ({
    account: channel.account,
    open: () => openRecord(env, channel, region, readAt),
  }));
}

async function openRecord(
  env: Env,
  row: typeof channels.$inferSelect,
  region: Region | null,
  readAt: number,
): Promise<ChannelRecord> {
  const { id, organizationId, kind, name, settings } = row;
  const openColumn = async (column: string, sealed: string | null) => {
    if (sealed === null) return null;
    const keys = sealingKeys(env);
    return open(keys, { id, column }, sealed).catch((error) => Promise.reject(unavailable(error)));
  };
  const credentials = await openColumn("credentials", row.credentials);
  // Opened at the first use: neither the page nor a visitor with a token needs them.
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
    // The version byte and the nonce, which no two sealings share.
    credentialsVersion: row.credentials?.slice(0, 16) ?? "",
    credentials: credentials === null ? {} : (JSON.parse(credentials) as Credentials),
    verifyToken: await openColumn("verify_token", row.verifyToken),
    identitySecrets,
    readAt,
  };
}
