import type { Region } from "../db/schema.ts";
import type { KeyRules } from "./rpc.ts";

/** A key's row in the directory, and the fields of its organization that requests need. */
export interface KeyRecord extends KeyRules {
  id: string;
  organizationId: string;
  name: string;
  ipAllowlist: string[];
  /** Absent in a record that was stored before keys had it. The operator had created all keys then. */
  createdBy?: string;
  createdAt: number;
  /** The organization's first member: the sender of messages that name no sender. */
  defaultSenderId: string;
  region: Region | null;
}

/** A key as the API shows it, without hashes. */
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
    createdBy: key.createdBy ?? "operator",
    createdAt: new Date(key.createdAt).toISOString(),
  };
}

function timeOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
