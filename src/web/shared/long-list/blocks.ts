/** How many lines are drawn, or left out, together. */
const SIZE = 10;

/** A range of blocks, by their numbers, including both ends. NaN for none. */
export type Range = readonly [first: number, last: number];

/** The heights of blocks that were drawn once, in pixels. */
type Heights = ReadonlyMap<number, number>;

/** A part of a list: the lines of a block, or what is left out from this block on, with its height. */
export interface ListPart<L> {
  block: number;
  lines: readonly L[];
  gap: number | null;
}

/** The blocks of a list. Lines that come before the others have numbers below 0. @param before how many came */
export function rangeOf(count: number, before: number): Range {
  return [blockOf(0, before), blockOf(count - 1, before)];
}

/** The block of a line. */
export function blockOf(index: number, before: number): number {
  return Math.floor((index - before) / SIZE);
}

/** The pieces of a list, in its order. A block whose height is not known is always drawn. */
export function partsOf<L>(
  lines: readonly L[],
  before: number,
  heights: Heights,
  kept: readonly Range[],
): ListPart<L>[] {
  const pieces: ListPart<L>[] = [];
  const [first, last] = rangeOf(lines.length, before);
  for (let block = first; block <= last; block++) {
    const height = heights.get(block);
    const former = pieces.at(-1);
    if (height === undefined || kept.some(([from, to]) => from <= block && block <= to)) {
      const start = block * SIZE + before;
      pieces.push({ block, lines: lines.slice(Math.max(0, start), start + SIZE), gap: null });
    } else if (former && former.gap !== null) former.gap += height;
    else pieces.push({ block, lines: [], gap: height });
  }
  return pieces;
}

/**
 * The blocks that are in view, or as far from it as the view is high.
 * @param top of the first block, from the upper edge of the view
 */
export function blocksNear([first, last]: Range, heights: Heights, top: number, view: number): Range {
  let [from, to] = [Number.NaN, Number.NaN];
  for (let block = first; block <= last && top <= 2 * view; block++) {
    top += heights.get(block) ?? 0;
    if (top < -view) continue;
    if (Number.isNaN(from)) from = block;
    to = block;
  }
  return [from, to];
}
