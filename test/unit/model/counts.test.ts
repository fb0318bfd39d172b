import { expect, test } from "vitest";
import { addCounts, subtractCounts } from "../../../src/model/counts.ts";

test("counts of the same name are added, others are kept, and the inputs don't change", () => {
  const counts = { sent: 2, failed: 1 };
  const more = { sent: 3, retry: 4 };
  expect(addCounts<string>(counts, more)).toEqual({ sent: 5, failed: 1, retry: 4 });
  expect([counts, more]).toEqual([
    { sent: 2, failed: 1 },
    { sent: 3, retry: 4 },
  ]);
});

test("the sum of no counts is empty", () => {
  expect(addCounts({}, {})).toEqual({});
});

test("a difference is by name, below zero where less was counted, and the inputs don't change", () => {
  const counts = { sent: 5, failed: 1 };
  const less = { sent: 2, retry: 4 };
  expect(subtractCounts<string>(counts, less)).toEqual({ sent: 3, failed: 1, retry: -4 });
  expect([counts, less]).toEqual([
    { sent: 5, failed: 1 },
    { sent: 2, retry: 4 },
  ]);
});
