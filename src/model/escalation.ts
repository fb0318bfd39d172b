import { isWithinRules } from "./allowlist.ts";
import type { Permission } from "./permission.ts";

/**
 * What a key that manages keys can give to another key, or to itself: at most what it has. Otherwise a key could get
 * permissions, time or addresses through a key that it creates, changes or rotates. Members who manage keys are held to
 * the same rule.
 */

/** How errors begin that name a permission which the client lacks: an API key, or a person in the console. */
export type Lack = "The API key lacks" | "You lack";

/** What a key may do, until when (Unix milliseconds; null: without end) and from where (empty: from anywhere). */
export interface Power {
  permissions: readonly Permission[];
  expiresAt: number | null;
  ipAllowlist: readonly string[];
  /** Whether nothing that it does reaches a contact. */
  draftsOnly: boolean;
}

/** Whether a key ends, or works from some addresses only. What has neither would outlast it. */
export function isBound({ expiresAt, ipAllowlist }: Pick<Power, "expiresAt" | "ipAllowlist">): boolean {
  return expiresAt !== null || ipAllowlist.length > 0;
}

/** Why a key with the power `own` can't give `other` to a key, as the client reads it; null if it can. */
export function whyBeyond(own: Power, other: Power, lack: Lack): string | null {
  const lacking = whyLacking(own, other, lack);
  if (lacking !== null) return lacking;
  const livesLonger = own.expiresAt !== null && (other.expiresAt === null || other.expiresAt > own.expiresAt);
  if (livesLonger) return "The other key would expire after the API key of this request";
  const isFree = other.ipAllowlist.length === 0;
  if (own.ipAllowlist.length > 0 && (isFree || !isWithinRules(other.ipAllowlist, own.ipAllowlist))) {
    return "The other key would allow addresses that the API key of this request does not allow";
  }
  return null;
}

/** Why a key with the power `own` can't manage a key that may do this; null if it can. */
export function whyLacking(
  own: Power,
  { permissions, draftsOnly }: Pick<Power, "permissions" | "draftsOnly">,
  lack: Lack,
): string | null {
  if (own.draftsOnly && !draftsOnly) {
    return "The API key of this request has draftsOnly, and the other key would not have it";
  }
  const lacked = permissions.filter((permission) => !own.permissions.includes(permission));
  if (lacked.length === 0) return null;
  const what = lacked.length > 1 ? "the permissions" : "the permission";
  return `${lack} ${what} ${lacked.join(", ")} of the other key`;
}
