import { expect, test } from "vitest";
import type { Outcome } from "../../../src/channels/adapter.ts";
import { type Delivery, hold, NOT_TRIED, settle, statusAfter, wakeAt } from "../../../src/chats/delivery/retry.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const POLICY = { unknownWaitMs: 90 * SECOND };

/** In its `count`th attempt, which began five seconds ago. */
const attempt = (count: number, firstAt = NOW - 5 * SECOND): Delivery => ({
  ...NOT_TRIED,
  attempts: count,
  startedAt: NOW - 5 * SECOND,
  firstAt,
});

const over = (outcome: Outcome, count = 1) => settle(attempt(count), outcome, POLICY, NOW, 0.5);

test("a message that was never tried is held by nothing", () => {
  expect(NOT_TRIED).toEqual({
    attempts: 0,
    startedAt: null,
    firstAt: null,
    nextAt: null,
    reserved: false,
    heldSince: null,
    heldMs: 0,
  });
});

test("a contact who moved is sent to at once, and after a pause where that goes on", () => {
  const moved: Outcome = { outcome: "moved", address: "2", parts: [] };
  const error = { code: "moved", message: "The contact has another address" };
  expect(over(moved)).toEqual({ state: "waiting", delivery: { ...attempt(1), startedAt: null, nextAt: NOW }, error });
  expect(over(moved, 2)).toMatchObject({ state: "waiting", delivery: { nextAt: NOW + 4 * SECOND }, error });
});

test("an attempt that nobody answered says so, and waits for a status", () => {
  expect(over({ outcome: "unknown", message: "No answer", parts: [] })).toMatchObject({
    delivery: { nextAt: NOW + 90 * SECOND, startedAt: null },
    error: { code: "outcome_unknown", message: "No answer" },
  });
});

test("a message that finds its channel broken stands still from then on, and says why", () => {
  expect(over({ outcome: "channel_broken", reason: "Bad token", parts: [] })).toMatchObject({
    state: "waiting",
    delivery: { nextAt: NOW + 2 * SECOND, startedAt: null, heldSince: NOW },
    error: { code: "channel_broken", message: "Bad token" },
  });
});

test("an attempt that was marked and gets no permit was none; those before it were", () => {
  expect(hold(attempt(1), NOW, "pace", NOW)).toMatchObject({ attempts: 0, startedAt: null, firstAt: null });
  expect(hold(attempt(2, NOW - HOUR), NOW, "pace", NOW)).toMatchObject({ attempts: 1, firstAt: NOW - HOUR });
  const waiting = { ...attempt(2, NOW - HOUR), startedAt: null };
  expect(hold(waiting, NOW, "pace", NOW)).toMatchObject({ attempts: 2, firstAt: NOW - HOUR });
});

test("a message that was tried stands still from now on; one that was not, since it began to wait", () => {
  expect(hold(attempt(2), NOW, "broken", NOW, NOW - HOUR).heldSince).toBe(NOW);
  expect(hold(NOT_TRIED, NOW, "broken", NOW, NOW - HOUR)).toMatchObject({ heldSince: NOW - HOUR, firstAt: NOW - HOUR });
  const held = { ...NOT_TRIED, heldSince: NOW - 2 * HOUR };
  expect(hold(held, NOW, "broken", NOW, NOW - HOUR).heldSince).toBe(NOW - 2 * HOUR);
});

test("a message is looked at when its day is over, though its network wished for longer; not while it stands still", () => {
  const waits = { ...attempt(1, NOW - HOUR), startedAt: null, nextAt: NOW + 2 * DAY };
  expect(wakeAt(waits, NOW)).toBe(NOW + DAY - HOUR);
  expect(wakeAt({ ...waits, heldMs: HOUR }, NOW)).toBe(NOW + DAY);
  expect(wakeAt({ ...waits, heldSince: NOW - SECOND }, NOW)).toBe(NOW + 2 * DAY);
  expect(wakeAt({ ...NOT_TRIED, nextAt: NOW + 2 * DAY }, NOW)).toBe(NOW + 2 * DAY);
});

test("no status moves what a contact wrote", () => {
  for (const told of ["SENT", "DELIVERED", "READ", "FAILED"] as const) expect(statusAfter("RECEIVED", told)).toBeNull();
});
