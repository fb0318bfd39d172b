import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bySoonest,
  changedTimes,
  dueStep,
  isDue,
  placeAt,
  purgeAt,
} from "../../../../../src/chats/object/scheduled/decisions.ts";
import { parseScheduleCursor, scheduleCursor } from "../../../../../src/model/schedule.ts";

const NOW = Date.UTC(2026, 10, 21, 9);
const MINUTE = 60_000;
const DAY = 86_400_000;

test("a message is due from its time on, and not before", () => {
  expect([isDue(NOW + 1, NOW), isDue(NOW, NOW), isDue(NOW - DAY, NOW)]).toEqual([false, true, true]);
});

test("messages take their places by time, and then by turn", () => {
  const due = [
    { dueAt: NOW + 1, turn: 1 },
    { dueAt: NOW, turn: 3 },
    { dueAt: NOW, turn: 2 },
  ];
  expect(due.toSorted(bySoonest)).toEqual([due[2], due[1], due[0]]);
});

test.each([
  ["no limit", { dueAt: NOW, expiresAt: null }, null, { step: "place" }],
  ["an expiry in the future", { dueAt: NOW, expiresAt: NOW + 1 }, null, { step: "place" }],
  ["an expiry that is reached", { dueAt: NOW - 1, expiresAt: NOW }, null, { step: "fail", error: { code: "expired" } }],
  ["a full chat", { dueAt: NOW, expiresAt: null }, "chat_full", { step: "fail", error: { code: "chat_full" } }],
  [
    "an expired message and a full chat",
    { dueAt: NOW - 1, expiresAt: NOW },
    "chat_full",
    { step: "fail", error: { code: "expired" } },
  ],
  ["a full queue", { dueAt: NOW, expiresAt: null }, "chat_backlog", { step: "wait", until: NOW + MINUTE }],
  [
    "a full queue and an expiry within the minute",
    { dueAt: NOW, expiresAt: NOW + 5_000 },
    "chat_backlog",
    { step: "wait", until: NOW + 5_000 },
  ],
  [
    "a full queue for less than a day",
    { dueAt: NOW - DAY + 1, expiresAt: null },
    "chat_backlog",
    { step: "wait", until: NOW + MINUTE },
  ],
  [
    "a full queue for a day",
    { dueAt: NOW - DAY, expiresAt: null },
    "chat_backlog",
    { step: "fail", error: { code: "chat_backlog" } },
  ],
] as const)("what becomes of a due message with %s", (_name, message, limit, step) => {
  expect(dueStep(message, null, limit, NOW)).toMatchObject(step);
});

test("a due message whose condition does not hold fails, before it waits for room, and after it expired", () => {
  const unmet = (expiresAt: number | null) => dueStep({ dueAt: NOW, expiresAt }, "window_closed", "chat_backlog", NOW);
  expect(unmet(null)).toMatchObject({ step: "fail", error: { code: "window_closed" } });
  expect(unmet(NOW)).toMatchObject({ step: "fail", error: { code: "expired" } });
});

test("due messages wait while they rest, and no longer if the clock is set back", () => {
  const rest = { since: NOW, until: NOW + MINUTE, isForRoom: false };
  expect(placeAt(NOW - 1, null, NOW)).toBe(NOW - 1);
  expect(placeAt(NOW - 1, rest, NOW)).toBe(NOW + MINUTE);
  expect(placeAt(NOW + DAY, rest, NOW)).toBe(NOW + DAY);
  expect(placeAt(NOW - 1, rest, NOW - 1)).toBe(NOW - 1);
});

test("a message that ended is kept for 30 days", () => {
  expect(purgeAt(NOW)).toBe(NOW + 30 * DAY);
});

test.each<[string, object, object, object]>([
  ["nothing", {}, { scheduledAt: NOW + DAY, expiresAt: null }, { scheduledAt: NOW + DAY, expiresAt: null }],
  [
    "a time",
    { scheduledAt: NOW + MINUTE },
    { scheduledAt: NOW + DAY, expiresAt: NOW + 2 * DAY },
    { scheduledAt: NOW + MINUTE, expiresAt: NOW + 2 * DAY },
  ],
  ["now", { scheduledAt: null }, { scheduledAt: NOW + DAY, expiresAt: null }, { scheduledAt: null, expiresAt: null }],
  [
    "no expiry",
    { expiresAt: null },
    { scheduledAt: NOW + DAY, expiresAt: NOW + 2 * DAY },
    { scheduledAt: NOW + DAY, expiresAt: null },
  ],
])("a change to %s", (_name, change, before, after) => {
  expect(changedTimes(before as never, change, NOW)).toEqual(after);
});

test.each<[string, object, object, string[]]>([
  [
    "a time after the expiry that it has",
    { scheduledAt: NOW + 3 * DAY },
    { expiresAt: NOW + 2 * DAY },
    ["scheduledAt"],
  ],
  ["an expiry before the time that it has", { expiresAt: NOW + 1 }, { scheduledAt: NOW + DAY }, ["expiresAt"]],
  ["a time too far ahead", { scheduledAt: NOW + 366 * DAY + 1 }, {}, ["scheduledAt"]],
  [
    "a time too far ahead, after the expiry that it has",
    { scheduledAt: NOW + 400 * DAY },
    { expiresAt: NOW + 2 * DAY },
    ["scheduledAt", "expiresAt"],
  ],
  ["now, after the expiry that it has", { scheduledAt: null }, { expiresAt: NOW }, ["scheduledAt"]],
])("a change to %s is refused", (_name, change, before, paths) => {
  const times = changedTimes({ scheduledAt: NOW + DAY, expiresAt: null, ...before }, change, NOW);
  expect("faults" in times && times.faults.map(({ path }) => path)).toEqual(paths);
});

test("a cursor returns the position that it was made from", () => {
  const count = fc.integer({ min: 1, max: 1e9 });
  const position = fc.record({ dueAt: fc.integer({ min: 1, max: 2 ** 46 }), turn: count, start: count });
  fc.assert(
    fc.property(position, (due) => {
      expect(parseScheduleCursor("cht_gAbc", scheduleCursor("cht_gAbc", due))).toEqual(due);
      expect(parseScheduleCursor("cht_gAbd", scheduleCursor("cht_gAbc", due))).toBeNull();
    }),
  );
});

test.each(["", "1", "1_1", "_1_gA", "0_1_gA", "1_0_gA", "1_1_", "1_1_gA_1", "1-1_gA", " 1_1_gA", "aaaaaaaaaaaa_1_gA"])(
  "%j is not a cursor",
  (text) => {
    expect(parseScheduleCursor("cht_gA", text)).toBeNull();
  },
);
