import type { Schemas } from "../api.ts";

export type Key = Schemas["Key"];
export type Permission = Key["permissions"][number];

/** Whether a key can be used, and what is special about it. `tone` is that of its badge. */
export interface KeyState {
  name: "Active" | "Two secrets" | "Expired" | "Revoked";
  tone: "good" | "warn" | "quiet";
  isLive: boolean;
}

/** The state of a key at `now`, Unix milliseconds. */
export function stateOf({ revokedAt, expiresAt, previousSecretExpiresAt }: Key, now: number): KeyState {
  if (revokedAt !== null) return { name: "Revoked", tone: "quiet", isLive: false };
  if (expiresAt !== null && Date.parse(expiresAt) <= now) return { name: "Expired", tone: "quiet", isLive: false };
  const hasTwo = previousSecretExpiresAt !== null && Date.parse(previousSecretExpiresAt) > now;
  return hasTwo ? { name: "Two secrets", tone: "warn", isLive: true } : { name: "Active", tone: "good", isLive: true };
}

/** A rate limit in words: "300 per minute". */
export function rateText({ limit, windowSeconds }: Key["rateLimit"], number: (value: number) => string): string {
  const named: Record<number, string> = { 1: "second", 60: "minute", 3600: "hour" };
  return `${number(limit)} per ${named[windowSeconds] ?? `${number(windowSeconds)} seconds`}`;
}
