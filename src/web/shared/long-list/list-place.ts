import { blockOf, blocksNear, type ListPart, partsOf, type Range, rangeOf } from "./blocks.ts";
import { drawnBlocks } from "./drawn-blocks.ts";
import { readerOf } from "./reader.ts";

/** How long after other lines were added screen readers announce new ones again. */
const SETTLE_MS = 300;

/**
 * The place of a reader in a long list of messages, of which only what is near the view is drawn. The reader follows the
 * newest message, or what they read stays where it is, whatever is added, left out or changed around it.
 * @param draw draws the list again
 */
export function listPlace<L extends { key: string }>(draw: () => void) {
  /** The box that scrolls, and the element in it that has the lines. */
  const box: { current: HTMLDivElement | null } = { current: null };
  const log: { current: HTMLDivElement | null } = { current: null };
  const reader = readerOf(box);
  const blocks = drawnBlocks(log);
  const heights = new Map<number, number>();
  let lines: readonly L[] = [];
  /** How many lines were put before the first one that there was. */
  let before = 0;
  let kept: Range[] = [];
  let drawn: number[] = [];
  /** The block that is about to be shown, and what scrolls there. */
  let wanted = Number.NaN;
  let scrollThere = () => {};
  let frame = 0;
  let isLive = false;
  let settling: ReturnType<typeof setTimeout> | undefined;

  /** Draws with the next frame, and never twice in one: not even if heights change each time. */
  function redraw(): void {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  }

  const topOf = (element: Element | null) => element?.getBoundingClientRect().top ?? 0;

  /** Measures what is drawn, and draws again if other blocks are near now. */
  function look(isNew = false): void {
    const view = box.current?.clientHeight;
    // In a closed frame nothing has a height.
    if (!view) return;
    const isAnyNew = blocks.measure(heights) || isNew;
    const all = rangeOf(lines.length, before);
    const near = blocksNear(all, heights, topOf(log.current) - topOf(box.current), view);
    // The newest messages are there for screen readers.
    const next: Range[] = [near, [all[1], all[1]], [wanted, wanted], ...blocks.bound()];
    if (!isAnyNew && String(next) === String(kept)) return;
    kept = next;
    redraw();
  }

  /** Finds the blocks of other lines. @returns whether any came before the first one, or all are others */
  function place(next: readonly L[]): boolean {
    const former = lines[0]?.key;
    const added = former === undefined ? 0 : next.findIndex(({ key }) => key === former);
    if (added < 0) heights.clear();
    if (added > 0) {
      // The block that was first may have more lines now.
      heights.delete(blockOf(0, before));
      reader.stay();
    }
    before = added < 0 ? 0 : before + added;
    lines = next;
    return added !== 0;
  }

  return {
    box,
    log,
    /** Whether screen readers announce what is added. What only comes back is not new. */
    isLive: () => isLive,
    below: reader.below,

    /**
     * Returns what to draw of some lines, right before it is drawn. `settle` follows.
     * @param newest the number of the newest message
     * @param isComplete whether no part of the history is on its way
     */
    plan(nextLines: readonly L[], newest: number, isComplete: boolean): ListPart<L>[] {
      reader.plan(newest);
      const isOther = place(nextLines);
      const pieces = partsOf(lines, before, heights, kept);
      const next = pieces.flatMap(({ block, gap }) => (gap === null ? block : []));
      const returns = next.some((block) => heights.has(block) && !drawn.includes(block));
      drawn = next;
      if (isOther || returns || !isComplete) {
        isLive = false;
        clearTimeout(settling);
        settling = undefined;
      }
      if (isComplete && !isLive) {
        settling ??= setTimeout(() => {
          isLive = true;
          redraw();
        }, SETTLE_MS);
      }
      return pieces;
    },

    /** The plan was drawn. */
    settle(): void {
      reader.settle();
      if (drawn.includes(wanted)) {
        wanted = Number.NaN;
        scrollThere();
        reader.hold();
      }
      look();
    },

    /** Follows the browser. @returns what ends that */
    follow(): () => void {
      const observer = new ResizeObserver(() => {
        reader.settle();
        look();
      });
      for (const { current } of [box, log]) if (current) observer.observe(current);
      const onSelection = () => look();
      document.addEventListener("selectionchange", onSelection);
      return () => {
        clearTimeout(settling);
        cancelAnimationFrame(frame);
        observer.disconnect();
        document.removeEventListener("selectionchange", onSelection);
      };
    },

    onScroll: () => look(reader.onScroll()),

    toEnd(): void {
      reader.toEnd();
      look(true);
    },

    /** Draws a line wherever it is, then calls `then`, which scrolls there. */
    show(index: number, then: () => void): void {
      reader.stay();
      wanted = blockOf(index, before);
      scrollThere = then;
      look(true);
    },
  };
}
