import { expect, test } from "vitest";
import { blockOf, blocksNear, partsOf, rangeOf } from "../../src/web/shared/long-list/blocks.ts";

const lines = (count: number) => Array.from({ length: count }, (_, n) => n);
const heightsOf = (first: number, heights: number[]) => new Map(heights.map((height, n) => [first + n, height]));

/** What is drawn, as `block:lines`, and what is left out, as `(height)`. */
const shown = (...given: Parameters<typeof partsOf<number>>) =>
  partsOf(...given).map(({ block, lines: some, gap }) => (gap === null ? `${block}:${some.join(" ")}` : `(${gap})`));

test("lines that are put before the others leave each of those in its block", () => {
  expect(rangeOf(25, 0)).toEqual([0, 2]);
  expect(rangeOf(125, 100)).toEqual([-10, 2]);
  for (const index of [0, 9, 10, 24]) expect(blockOf(index + 100, 100)).toBe(blockOf(index, 0));
});

test("a page of older lines that is no multiple of a block's size fills the first block with the next page", () => {
  const five = shown(lines(15), 5, new Map(), []);
  expect(five).toEqual(["-1:0 1 2 3 4", "0:5 6 7 8 9 10 11 12 13 14"]);
  expect(shown(lines(17), 7, new Map(), [])[0]).toBe("-1:0 1 2 3 4 5 6");
});

test("a list without lines has no pieces", () => {
  expect(shown([], 0, new Map(), [[0, 0]])).toEqual([]);
});

test("what was never measured is drawn, and what is left out keeps its height", () => {
  const heights = heightsOf(0, [100, 200.5, 300]);
  expect(shown(lines(35), 0, heights, [])).toEqual(["(600.5)", "3:30 31 32 33 34"]);
  expect(shown(lines(25), 0, heights, [[1, 1]])).toEqual(["(100)", "1:10 11 12 13 14 15 16 17 18 19", "(300)"]);
});

test("ranges that are kept may overlap, and NaN keeps nothing", () => {
  const heights = heightsOf(0, [1, 2, 4, 8]);
  const kept = [
    [Number.NaN, Number.NaN],
    [1, 2],
    [2, 2],
  ] as const;
  expect(partsOf(lines(40), 0, heights, kept).map(({ gap }) => gap)).toEqual([1, null, null, 8]);
  expect(partsOf(lines(40), 0, heights, [[Number.NaN, Number.NaN]]).map(({ gap }) => gap)).toEqual([15]);
});

test("near is what is at most the height of the view away from it", () => {
  const heights = heightsOf(-2, [500, 500, 500, 500, 500, 500]);
  const near = (top: number) => blocksNear([-2, 3], heights, top, 500);
  expect(near(0)).toEqual([-2, 0]);
  expect(near(-499)).toEqual([-2, 0]);
  expect(near(-1_001)).toEqual([-1, 2]);
  expect(near(-2_500)).toEqual([1, 3]);
});

test("nothing is near a view that is far above or below the list", () => {
  const heights = heightsOf(0, [500, 500]);
  expect(blocksNear([0, 1], heights, 5_000, 500)).toEqual([Number.NaN, Number.NaN]);
  expect(blocksNear([0, 1], heights, -5_000, 500)).toEqual([Number.NaN, Number.NaN]);
});
