import { and, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { apiKeys, members, organizations, type Region } from "../db/schema.ts";
import type { KeyRules } from "./decide.ts";

/** What a key's own object knows of it: its row in the directory, and what its organization adds. */
export interface KeyRecord extends KeyRules {
  id: string;
  organizationId: string;
  name: string;
  ipAllowlist: string[];
  createdAt: number;
  /** The organization's first member, who sends where a message names no sender. */
  defaultSenderId: string;
  region: Region | null;
}

const { stats: _stats, ...columns } = getTableColumns(apiKeys);

/** The record of a key from the directory, or null where there is none, or its organization is being erased. */
export async function readKeyRecord(db: Directory, id: string): Promise<KeyRecord | null> {
  const defaultSenderId = sql<string>`(
    select ${members.id} from ${members} where ${members.organizationId} = ${apiKeys.organizationId}
    order by ${members.createdAt}, ${members.id} limit 1)`;
  const row = await db
    .select({ key: columns, region: organizations.region, defaultSenderId })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(and(eq(apiKeys.id, id), isNull(organizations.erasingAt)))
    .get();
  return row ? { ...row.key, region: row.region, defaultSenderId: row.defaultSenderId } : null;
}

/** A key as the API shows it. Its hashes stay inside. */
export function presentKey(key: Omit<KeyRecord, "defaultSenderId" | "region">, now: number) {
  const previousLives = key.previousUntil !== null && key.previousUntil > now;
  return {
    id: key.id,
    organizationId: key.organizationId,
    name: key.name,
    permissions: key.permissions,
    ipAllowlist: key.ipAllowlist,
    rateLimit: { limit: key.rateLimit, windowSeconds: key.windowSeconds },
    monthlyQuota: key.monthlyQuota,
    expiresAt: timeOrNull(key.expiresAt),
    revokedAt: timeOrNull(key.revokedAt),
    previousSecretExpiresAt: previousLives ? timeOrNull(key.previousUntil) : null,
    createdAt: new Date(key.createdAt).toISOString(),
  };
}

function timeOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
