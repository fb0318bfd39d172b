import { expect, test } from "vitest";
import { replyUntil, wroteAt } from "../../../src/model/reply-window.ts";

const DAY = 86_400_000;

test("WhatsApp takes free text for 24 hours after the contact wrote, and none before it ever did", () => {
  expect(replyUntil("whatsapp", 5_000, 7_000)).toBe(7_000 + DAY);
  expect(replyUntil("whatsapp", 5_000, null)).toBe(5_000);
});

test.each(["telegram", "web"] as const)("a %s chat always takes free text", (kind) => {
  expect(replyUntil(kind, 5_000, 7_000)).toBeNull();
  expect(replyUntil(kind, 5_000, null)).toBeNull();
});

const createdAt = "2026-11-20T10:00:00.000Z";

test.each([
  ["an earlier time", "2026-11-19T10:00:00.000Z", "2026-11-19T10:00:00.000Z"],
  ["a later time", "2026-11-21T10:00:00.000Z", createdAt],
  ["no time", null, createdAt],
  ["no field", undefined, createdAt],
])("a message whose network says %s was written at the earlier of both times", (_, networkTime, expected) => {
  expect(wroteAt({ createdAt, networkTime })).toBe(Date.parse(expected));
});
