import { and, eq, isNull } from "drizzle-orm";
import { directory } from "../db/client.ts";
import { type ChannelKind, type ChannelSettings, channels, organizations, type Region } from "../db/schema.ts";
import { unavailable } from "../http/errors.ts";
import { isId } from "../ids.ts";
import type { Credentials } from "./adapter.ts";
import { open, sealingKeys } from "./sealing.ts";

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
  /** Opened; what the network shows to prove itself; null on a web channel. */
  verifyToken: string | null;
  /** The secrets that vouch for a site's users at `now`, opened when asked for; none on other kinds. */
  identitySecrets(now: number): Promise<string[]>;
  /** When the directory was asked, Unix milliseconds. */
  readAt: number;
}

/** How long a change may go unseen where nothing fails because of it. */
const HOLD_MS = 10_000;
const MAX_HELD = 1_000;

/** Null is held too: a channel that there is not, or that is being erased, never comes to be. */
type Held = { readAt: number; record: ChannelRecord | null };

const held = new WeakMap<Env, Map<string, Held>>();

/**
 * A channel, as this isolate has held it for at most 10 s, or with `fresh` as it is now. Null where there is none, or
 * where it is being erased.
 * @throws ApiError `unavailable` when its secrets open under no configured key
 */
export async function channelRecord(
  env: Env,
  channelId: string,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<ChannelRecord | null> {
  if (!isId("chn", channelId)) return null;
  const known = fresh ? undefined : heldRecord(env, channelId);
  return known ? known.record : readRecord(env, channelId);
}

/**
 * What `verify` makes of a channel. Where it finds nothing good in a record that was held, the channel is read once
 * more, so that a rotated secret works at once.
 * @returns null where there is no such channel
 */
export async function verifyChannel<Verified>(
  env: Env,
  channelId: string,
  verify: (record: ChannelRecord) => Promise<Verified | null>,
): Promise<{ record: ChannelRecord; verified: Verified | null } | null> {
  const known = heldRecord(env, channelId)?.record;
  const verified = known ? await verify(known) : null;
  if (known && verified !== null) return { record: known, verified };
  const record = await channelRecord(env, channelId, { fresh: known !== undefined && known !== null });
  return record && { record, verified: await verify(record) };
}

function heldRecord(env: Env, channelId: string): Held | undefined {
  const known = held.get(env)?.get(channelId);
  const age = known ? Date.now() - known.readAt : HOLD_MS;
  return age >= 0 && age < HOLD_MS ? known : undefined;
}

async function readRecord(env: Env, channelId: string): Promise<ChannelRecord | null> {
  const readAt = Date.now();
  const row = await directory(env)
    .select({ channel: channels, region: organizations.region })
    .from(channels)
    .innerJoin(organizations, eq(organizations.id, channels.organizationId))
    .where(and(eq(channels.id, channelId), isNull(channels.erasingAt)))
    .get();
  const record = row ? await openRecord(env, row.channel, row.region, readAt) : null;
  hold(env, channelId, { readAt, record });
  return record;
}

function hold(env: Env, channelId: string, entry: Held): void {
  let records = held.get(env);
  if (!records) held.set(env, (records = new Map()));
  // A map lists its keys in the order in which they were put there, so the first is the oldest.
  records.delete(channelId);
  records.set(channelId, entry);
  const [oldest] = records.keys();
  if (records.size > MAX_HELD && oldest !== undefined) records.delete(oldest);
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
    credentials: credentials === null ? {} : (JSON.parse(credentials) as Credentials),
    verifyToken: await openColumn("verify_token", row.verifyToken),
    identitySecrets,
    readAt,
  };
}
