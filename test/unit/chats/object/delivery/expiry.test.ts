import { expect, test } from "vitest";
import { mayCancel } from "../../../../../src/chats/object/delivery/cancelable.ts";
import { MESSAGE_EXPIRED, mayExpire, nextStep } from "../../../../../src/chats/object/delivery/head.ts";
import { begin, NOT_TRIED, nextAttemptAt, notBegun, wakeAt } from "../../../../../src/chats/object/delivery/retry.ts";
import type { Delivery, StoredParts } from "../../../../../src/chats/object/log/delivery-column.ts";
import type { Message } from "../../../../../src/model/message.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const SECOND = 1_000;
const DAY = 86_400_000;
const OPEN = begin(NOT_TRIED, NOW - 5 * SECOND);
const WAITING: Delivery = { ...OPEN, startedAt: null, nextAt: NOW + 10 * SECOND };

/** A message that expires `ms` from now. */
function row(ms: number | null, delivery: Delivery = NOT_TRIED) {
  const expiresAt = ms === null ? undefined : new Date(NOW + ms).toISOString();
  return { message: { expiresAt }, delivery, lastError: null, parts: { ids: [] } };
}

test("a message expires at its time, and without a time never", () => {
  expect(mayExpire(row(1), false, NOW)).toBe(false);
  expect(mayExpire(row(0), false, NOW)).toBe(true);
  expect(mayExpire(row(-1), false, NOW)).toBe(true);
  expect(mayExpire(row(null), false, NOW)).toBe(false);
});

test("an open attempt ends before its message expires, unless it has not begun", () => {
  expect(mayExpire(row(-1, OPEN), false, NOW)).toBe(false);
  expect(mayExpire(row(-1, OPEN), true, NOW)).toBe(true);
});

test("an expired message gets no attempt, whether it is new, waits, or was stored with its first attempt", () => {
  const expired = { turn: "expire", error: { code: "expired", message: "It expired before it was delivered" } };
  expect(nextStep(row(0), false, NOW)).toEqual(expired);
  expect(nextStep(row(0, WAITING), false, NOW)).toEqual(expired);
  expect(nextStep(row(0, OPEN), true, NOW)).toEqual(expired);
  expect(nextStep(row(1), false, NOW)).toEqual({ turn: "ask", reservedAt: null });
});

test("a lost attempt of an expired or overdue message is closed first", () => {
  expect(nextStep(row(0, OPEN), false, NOW).turn).toBe("close");
  const old = { ...OPEN, firstAt: NOW - 2 * DAY };
  expect(nextStep(row(null, old), false, NOW).turn).toBe("close");
  expect(nextStep(row(null, { ...old, startedAt: null }), false, NOW).turn).toBe("expire");
});

test("an expired message is expired, even if its day is over too", () => {
  const step = nextStep(row(0, { ...WAITING, firstAt: NOW - 2 * DAY }), false, NOW);
  expect(step).toEqual({ turn: "expire", error: MESSAGE_EXPIRED });
});

test("the outbox looks at a message again when it expires, but not during an attempt", () => {
  expect(wakeAt(WAITING, NOW)).toBe(NOW + 10 * SECOND);
  expect(wakeAt(WAITING, NOW, NOW + 3 * SECOND)).toBe(NOW + 3 * SECOND);
  expect(wakeAt(WAITING, NOW, NOW + 30 * SECOND)).toBe(NOW + 10 * SECOND);
  expect(wakeAt(WAITING, NOW, NOW - 1)).toBe(NOW);
  expect(wakeAt(OPEN, NOW, NOW + SECOND)).toBe(wakeAt(OPEN, NOW));
});

test("the next attempt begins at its time, unless the message expires or its day ends first", () => {
  expect(nextAttemptAt(NOT_TRIED, NOW, null)).toBe(NOW);
  expect(nextAttemptAt(WAITING, NOW, null)).toBe(NOW + 10 * SECOND);
  expect(nextAttemptAt(WAITING, NOW, NOW + 11 * SECOND)).toBe(NOW + 10 * SECOND);
  expect(nextAttemptAt(WAITING, NOW, NOW + 10 * SECOND)).toBeNull();
  expect(nextAttemptAt({ ...WAITING, nextAt: NOW + 2 * DAY }, NOW, null)).toBeNull();
  expect(nextAttemptAt(OPEN, NOW, null)).toBeNull();
});

/** A message that may be canceled. */
function queued(delivery: Delivery, parts: StoredParts, status: Message["status"] = "QUEUED") {
  return { message: { status }, delivery, parts };
}

test.each<[string, boolean, ReturnType<typeof queued>, boolean]>([
  ["that waits for its first attempt", true, queued(NOT_TRIED, { ids: [] }), false],
  ["that waits after a refused attempt", true, queued(WAITING, { ids: [], lost: [0] }), false],
  ["that was stored with an attempt that has not begun", true, queued(OPEN, { ids: [] }), true],
  ["with an open attempt", false, queued(OPEN, { ids: [] }), false],
  ["of which one part has an unknown outcome", false, queued(WAITING, { of: 2, ids: [], lost: [0, 1] }), false],
  ["with an unknown outcome", false, queued(WAITING, { ids: [], lost: [1] }), false],
  ["with a part that is sent", false, queued(WAITING, { of: 2, ids: ["a"] }), false],
  ["that is sent", false, queued(NOT_TRIED, { ids: [] }, "SENT"), false],
  ["that failed", false, queued(NOT_TRIED, { ids: [] }, "FAILED"), false],
])("a message %s: canceled is %s", (_which, expected, message, isMarked) => {
  expect(mayCancel(message, isMarked)).toBe(expected);
});

test("an attempt that did not begin does not count", () => {
  expect(notBegun(OPEN)).toStrictEqual(NOT_TRIED);
  expect(notBegun(begin(WAITING, NOW))).toEqual({ ...WAITING, nextAt: null });
  expect(notBegun(WAITING)).toBe(WAITING);
});
