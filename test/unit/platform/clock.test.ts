import { expect, test } from "vitest";
import { isRecent } from "../../../src/platform/clock.ts";

test("a time is recent if it is less than the given milliseconds ago, and not in the future", () => {
  expect([100, 91, 90, 101].map((at) => isRecent(at, 10, 100))).toEqual([true, true, false, false]);
});
