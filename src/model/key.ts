import type { Caller } from "./caller.ts";
import type { Counts } from "./counts.ts";
import type { Permission } from "./permission.ts";
import { pick } from "./pick.ts";
import type { Region } from "./region.ts";
import { isoTime, isoTimeOrNull } from "./time.ts";

/**
 * The values that pass between the Worker and a key's object. Plain unions, because an error loses its class on the way.
 * After a release, only add optional fields: during a deploy the two run different versions for minutes.
 */

export interface KeyLimits {
  rateLimit: number;
  windowSeconds: number;
  /** Null if the key has no quota. */
  monthlyQuota: number | null;
}

export interface WindowState {
  limit: number;
  windowSeconds: number;
  remaining: number;
  /** When the running window ends, or when a window that begins now would end; Unix milliseconds. */
  reset: number;
}

/** The rules that a key's requests are checked against. Times are Unix milliseconds. */
export interface KeyRules extends KeyLimits {
  permissions: readonly Permission[];
  /** Whether it only writes drafts. Records that an earlier version stored don't have it. */
  draftsOnly?: boolean;
  expiresAt: number | null;
  revokedAt: number | null;
  hash: string;
  previousHash: string | null;
  previousUntil: number | null;
}

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
  /** The organization's. */
  region: Region | null;
  /** The key's own. Records that an earlier version stored don't have it. */
  ownRegion?: Region | null;
  /** The channels whose bot it is. Absent as above. */
  botOf?: string[];
}

/** A key as the API shows it, without hashes. `region` is the key's own. */
export function presentKey(key: Omit<KeyRecord, "defaultSenderId" | "ownRegion" | "botOf">, now: number) {
  const previousLives = key.previousUntil !== null && key.previousUntil > now;
  return {
    ...pick(key, "id", "organizationId", "name", "permissions", "ipAllowlist"),
    rateLimit: { limit: key.rateLimit, windowSeconds: key.windowSeconds },
    monthlyQuota: key.monthlyQuota,
    draftsOnly: key.draftsOnly ?? false,
    region: key.region,
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
    previousSecretExpiresAt: previousLives ? isoTimeOrNull(key.previousUntil) : null,
    createdBy: key.createdBy,
    createdAt: isoTime(key.createdAt),
  };
}

export type RefusalReason = CountedRefusal | "drafts_only";

/** How refusals are counted. `drafts_only` counts as `permission_denied`. */
export type CountedRefusal =
  | "invalid_api_key"
  | "ip_not_allowed"
  | "permission_denied"
  | "rate_limited"
  | "quota_exceeded";

export function countedAs(reason: RefusalReason): CountedRefusal {
  return reason === "drafts_only" ? "permission_denied" : reason;
}

/** The longest time for which a grant lasts, in milliseconds. */
export const GRANT_MS = 500;
/** After this time no isolate uses a grant, not even one whose clock was set back or whose timers are late. */
export const GRANTS_OVER_AFTER_MS = 2 * GRANT_MS;
/** An isolate with more of a caller's requests a second gets units ahead. */
export const MIN_GRANT_PACE = 2;

/**
 * Units that the calling isolate may use without a call: for the same secret, address and permission, from its call on
 * for `endsInMs` milliseconds. A duration, because the clocks of two machines differ. Its id is the call's.
 */
export interface Grant {
  units: number;
  endsInMs: number;
}

/** The end of a grant: how many of its units the isolate will not use. */
export interface ReturnedGrant {
  id: string;
  unused: number;
}

/** `window` is null if the key doesn't exist. */
export type Admission =
  | { outcome: "admitted"; granted: number; caller: Caller; window: WindowState; grant?: Grant }
  /** `final`: no change of the key can make the secret valid again. */
  | { outcome: "refused"; reason: RefusalReason; window: WindowState | null; final?: boolean };

/** How many requests of a key were admitted, and how many were refused for each reason. */
export interface RequestCounts {
  admitted: number;
  refused: Counts<CountedRefusal>;
}
