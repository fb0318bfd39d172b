import { expect, test } from "vitest";
import { canBeBot, HANDED_OVER, HANDLERS, HANDOVER_REASONS, handlerOf } from "../../../src/model/handover.ts";

test("a chat is the bot's that its channel has now, and people's without one or with a former one", () => {
  expect(handlerOf(2, 2)).toBe("bot");
  expect(handlerOf(1, 2)).toBe("people");
  expect(handlerOf(null, 2)).toBe("people");
  expect(handlerOf(2, null)).toBe("people");
  expect(handlerOf(null, null)).toBe("people");
});

const NOW = 1_800_000_000_000;
const key = { permissions: ["messages:send"], draftsOnly: false, expiresAt: null, revokedAt: null } as const;

test.each([
  ["that never expires", {}, true],
  ["that expires later", { expiresAt: NOW + 1 }, true],
  ["that expires now", { expiresAt: NOW }, false],
  ["that has expired", { expiresAt: NOW - 1 }, false],
  ["that was revoked", { revokedAt: NOW - 1 }, false],
  ["that will be revoked", { revokedAt: NOW + 1 }, false],
  ["that only drafts", { draftsOnly: true }, false],
  ["that sends and more", { permissions: ["chats:read", "messages:send"] as const }, true],
  ["that sends nothing", { permissions: ["messages:read", "chats:write"] as const }, false],
])("a key %s can be a bot: %#", (_, change, expected) => {
  expect(canBeBot({ ...key, ...change }, NOW)).toBe(expected);
});

test("handlers and reasons are those that clients, counts and stored events have", () => {
  expect(HANDLERS).toEqual(["bot", "people"]);
  expect(HANDOVER_REASONS).toEqual(["asked", "took_over", "bot_silent", "bot_gone", "closed"]);
  expect(HANDED_OVER).toEqual(["bot_asked", "asked", "took_over", "bot_silent", "bot_gone"]);
});
