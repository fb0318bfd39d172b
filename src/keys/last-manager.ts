import type { apiKeys } from "../db/schema.ts";

type Manager = Pick<typeof apiKeys.$inferSelect, "permissions" | "revokedAt" | "expiresAt">;

/** How long another key must still live to take over, in milliseconds: there is time to notice, and to create one. */
const TAKE_OVER_MS = 3_600_000;

/**
 * Whether a change of a key needs another key that manages keys, so that the organization does not lose its last one: a
 * revocation, a loss of `keys:write`, or an expiry less than an hour ahead.
 * @param after the key after the change; null for a revocation
 * @param now Unix milliseconds
 * @returns the time at which the other key must still be valid, in Unix milliseconds; null if the change needs none
 */
export function neededUntil(before: Manager, after: Manager | null, now: number): number | null {
  const end = managesUntil(before);
  if (end <= now) return null;
  // A key that is about to expire needs no successor that lives longer than itself.
  const needed = Math.min(now + TAKE_OVER_MS, end - 1);
  return after && managesUntil(after) > needed ? null : needed;
}

/** The end of the time in which a key can manage keys, in Unix milliseconds. */
function managesUntil({ permissions, revokedAt, expiresAt }: Manager): number {
  if (revokedAt !== null || !permissions.includes("keys:write")) return 0;
  return expiresAt ?? Number.POSITIVE_INFINITY;
}
