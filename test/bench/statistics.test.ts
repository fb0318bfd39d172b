import { expect, test } from "vitest";
import { median, quantile, spread } from "./statistics.ts";

test("the median of numbers in any order is the middle one, or the mean of the two in the middle", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([10, 1, 4, 2])).toBe(3);
  expect(median([])).toBeNaN();
});

test("a quantile of numbers in any order is one of them, the largest for 1", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => ((index * 37) % 100) + 1);
  expect([quantile(hundred, 0.5), quantile(hundred, 0.99), quantile(hundred, 1)]).toEqual([51, 100, 100]);
  expect(quantile([], 0.5)).toBeNaN();
});

test("the spread is the share by which the outermost value misses the median", () => {
  expect(spread([100, 90, 130])).toBeCloseTo(0.3);
});
