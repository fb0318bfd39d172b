import { expect, test } from "vitest";
import { neededUntil } from "../../../src/keys/last-manager.ts";
import type { Permission } from "../../../src/model/permission.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

const manager = (expiresAt: number | null = null) => ({
  permissions: ["chats:read", "keys:write"] as Permission[],
  revokedAt: null as number | null,
  expiresAt,
});
const narrow = { ...manager(), permissions: ["keys:read"] as Permission[] };

test.each([
  ["a revocation", manager(), null, NOW + HOUR],
  ["a loss of keys:write", manager(), narrow, NOW + HOUR],
  ["an expiry that has passed", manager(), manager(NOW - 1), NOW + HOUR],
  ["an expiry in an hour", manager(), manager(NOW + HOUR), NOW + HOUR],
  ["an expiry after an hour", manager(), manager(NOW + HOUR + 1), null],
  ["no change", manager(), manager(), null],
  ["no change of a key that expires soon", manager(NOW + 5), manager(NOW + 5), null],
  ["a longer life that is short still", manager(NOW + 5), manager(NOW + 6), null],
  ["a shorter life", manager(NOW + 5), manager(NOW + 4), NOW + 4],
  ["a revocation of a key that expires soon", manager(NOW + 5), null, NOW + 4],
  ["a revocation of a key that has expired", manager(NOW), null, null],
  ["a second revocation", { ...manager(), revokedAt: NOW - 1 }, null, null],
  ["a revocation of a key that manages none", narrow, null, null],
])("%s", (_, before, after, until) => {
  expect(neededUntil(before, after, NOW)).toBe(until);
});
