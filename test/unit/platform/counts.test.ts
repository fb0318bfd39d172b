import { expect, test } from "vitest";
import { addCounts } from "../../../src/platform/counts.ts";

test("counts of the same things are added, others stand beside them, and none of the two changes", () => {
  const counts = { sent: 2, failed: 1 };
  const more = { sent: 3, retry: 4 };
  expect(addCounts<string>(counts, more)).toEqual({ sent: 5, failed: 1, retry: 4 });
  expect([counts, more]).toEqual([
    { sent: 2, failed: 1 },
    { sent: 3, retry: 4 },
  ]);
});

test("nothing added to nothing is nothing", () => {
  expect(addCounts({}, {})).toEqual({});
});
