import { expect, test } from "vitest";
import { backoffMs, doublingMs } from "../../../src/platform/backoff.ts";

const BACKOFF = { firstMs: 1_000, maxMs: 5_000 };

test("waits double up to the maximum", () => {
  expect([0, 1, 2, 3, 1_100].map((repeats) => doublingMs(BACKOFF, repeats))).toEqual([
    1_000, 2_000, 4_000, 5_000, 5_000,
  ]);
});

test("a negative number of repeats has the first wait", () => {
  expect(doublingMs(BACKOFF, -1)).toBe(1_000);
});

test("jitter changes a wait by up to a fifth, in whole milliseconds, also at the maximum", () => {
  expect([0, 0.5, 1].map((random) => backoffMs(BACKOFF, 0, random))).toEqual([800, 1_000, 1_200]);
  expect([0, 0.5, 1].map((random) => backoffMs(BACKOFF, 9, random))).toEqual([4_000, 5_000, 6_000]);
  expect(backoffMs({ firstMs: 7, maxMs: 7 }, 0, 0.1)).toBe(6);
});
