import { expect, test } from "vitest";
import type { EventRange } from "../../../../src/model/webhook.ts";
import { joinedRanges, rangesAfter, rangesUpTo } from "../../../../src/webhooks/subscription/event-ranges.ts";

test("ranges that touch or overlap are joined, and the given ones stay as they are", () => {
  const given: EventRange[] = [
    [8, 9],
    [1, 2],
    [3, 3],
    [5, 6],
    [5, 5],
    [12, 11],
  ];
  const before = structuredClone(given);
  expect(joinedRanges(given)).toEqual([
    [1, 3],
    [5, 6],
    [8, 9],
  ]);
  expect(given).toEqual(before);
  expect(joinedRanges([])).toEqual([]);
});

const RANGES: EventRange[] = [
  [2, 4],
  [6, 6],
  [9, 12],
];

test.each([
  [1, RANGES],
  [3, [[4, 4], ...RANGES.slice(1)]],
  [4, RANGES.slice(1)],
  [6, RANGES.slice(2)],
  [12, []],
])("what ranges have after %i", (number, left) => {
  expect(rangesAfter(RANGES, number)).toEqual(left);
});

test.each([
  [1, []],
  [2, [[2, 2]]],
  [6, RANGES.slice(0, 2)],
  [10, [...RANGES.slice(0, 2), [9, 10]]],
  [12, RANGES],
])("what ranges have up to %i", (number, left) => {
  expect(rangesUpTo(RANGES, number)).toEqual(left);
});
