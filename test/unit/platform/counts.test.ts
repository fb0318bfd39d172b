import { expect, test } from "vitest";
import { addCounts } from "../../../src/platform/counts.ts";

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
