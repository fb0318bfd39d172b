import type { Region } from "../db/schema.ts";
import { isoTime, isoTimeOrNull } from "./iso-time.ts";
import type { KeyRules } from "./key-calls.ts";
import { pick } from "./pick.ts";

/** A key's row in the directory, and the fields of its organization that requests need. */
export interface KeyRecord extends KeyRules {
  id: string;
  organizationId: string;
  name: string;
  ipAllowlist: string[];
  createdBy: string;
  createdAt: number;
  /** The organization's first member: the sender of messages that name no sender. */
  defaultSenderId: string;
  region: Region | null;
}

/** A key as the API shows it, without hashes. */
export function presentKey(key: Omit<KeyRecord, "defaultSenderId" | "region">, now: number) {
  const previousLives = key.previousUntil !== null && key.previousUntil > now;
  return {
    ...pick(key, "id", "organizationId", "name", "permissions", "ipAllowlist"),
    rateLimit: { limit: key.rateLimit, windowSeconds: key.windowSeconds },
    monthlyQuota: key.monthlyQuota,
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
    previousSecretExpiresAt: previousLives ? isoTimeOrNull(key.previousUntil) : null,
    createdBy: key.createdBy,
    createdAt: isoTime(key.createdAt),
  };
}
