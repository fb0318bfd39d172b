import { blockOf, blocksNear, type ListPart, partsOf, type Range, rangeOf } from "./blocks.ts";

/** How near to the end counts as being at the end, in pixels. */
const AT_END = 80;
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
  const heights = new Map<number, number>();
  let lines: readonly L[] = [];
  let newest = 0;
  /** The newest message when the reader was last at the end. */
  let seen = 0;
  /** How many lines were put before the first one that there was. */
  let before = 0;
  let isFollowing = true;
  let kept: Range[] = [];
  let drawn: number[] = [];
  /** The first message in view, and how far its end is from the upper edge. Its first line may go: the name of who wrote. */
  let anchor: Element | undefined;
  let anchorEnd = 0;
  /** How far the box could be scrolled. */
  let formerRoom = 0;
  let focused = Number.NaN;
  /** The block that is about to be shown, and what scrolls there. */
  let wanted = Number.NaN;
  let scrollThere = () => {};
  let isLive = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  let frame = 0;

  /** Draws with the next frame, and never twice in one: not even if heights change each time. */
  function redraw(): void {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  }

  const parts = () => [...(log.current?.children ?? [])] as HTMLElement[];
  const blockAt = (node: Node | null) =>
    Number(parts().find((part) => part.contains(node))?.dataset.block ?? Number.NaN);
  const topOf = (element: Element | null) => element?.getBoundingClientRect().top ?? 0;
  const endOf = (element: Element) => element.getBoundingClientRect().bottom;

  function hold(): void {
    if (isFollowing) seen = newest;
    const edge = topOf(box.current);
    anchor = [...(log.current?.querySelectorAll(".message") ?? [])].find((message) => endOf(message) > edge);
    anchorEnd = anchor ? endOf(anchor) - edge : 0;
  }

  /** Puts the reader back to where they were. */
  function restore(): void {
    const { current: scroller } = box;
    if (!scroller) return;
    // The browser reports the reader's scrolling late, so what changes no height takes nobody back to the end.
    const room = scroller.scrollHeight - scroller.clientHeight;
    if (isFollowing) {
      if (room !== formerRoom) scroller.scrollTop = room;
    } else if (anchor?.isConnected) {
      const moved = endOf(anchor) - topOf(scroller) - anchorEnd;
      // Less than a pixel is only a rounded height.
      if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
    }
    formerRoom = room;
    hold();
  }

  /** What stays wherever the view is: the focus with its neighbors, a selection from end to end, what plays. */
  function bound(): Range[] {
    const { activeElement } = document;
    // A dialog gives the focus back.
    if (!activeElement?.closest("dialog")) focused = blockAt(activeElement);
    const { isCollapsed = true, anchorNode = null, focusNode = null } = getSelection() ?? {};
    const ends = isCollapsed ? [Number.NaN] : [blockAt(anchorNode), blockAt(focusNode)];
    const players = [...(log.current?.querySelectorAll<HTMLMediaElement>("audio,video") ?? [])];
    return [
      [focused - 1, focused + 1],
      [Math.min(...ends), Math.max(...ends)],
      ...players.filter(({ paused }) => !paused).map((player): Range => [blockAt(player), blockAt(player)]),
    ];
  }

  /** Measures what is drawn, and draws again if other blocks are near now. */
  function look(isNew = false): void {
    const view = box.current?.clientHeight;
    // In a closed frame nothing has a height.
    if (!view) return;
    for (const part of parts()) {
      if (part.dataset.block === undefined) continue;
      const block = Number(part.dataset.block);
      isNew ||= !heights.has(block);
      heights.set(block, part.getBoundingClientRect().height);
    }
    const all = rangeOf(lines.length, before);
    const near = blocksNear(all, heights, topOf(log.current) - topOf(box.current), view);
    // The newest messages are there for screen readers.
    const next: Range[] = [near, [all[1], all[1]], [wanted, wanted], ...bound()];
    if (!isNew && String(next) === String(kept)) return;
    kept = next;
    redraw();
  }

  return {
    box,
    log,
    /** Whether screen readers announce what is added. What only comes back is not new. */
    isLive: () => isLive,
    /** How many messages are new below what the reader sees. */
    below: () => (isFollowing ? 0 : newest - seen),

    /**
     * Returns what to draw of some lines, right before it is drawn. `settle` follows.
     * @param newestNumber the number of the newest message
     * @param isComplete whether no part of the history is on its way
     */
    plan(nextLines: readonly L[], newestNumber: number, isComplete: boolean): ListPart<L>[] {
      hold();
      const former = lines[0]?.key;
      const added = former === undefined ? 0 : nextLines.findIndex(({ key }) => key === former);
      if (added < 0) heights.clear();
      if (added > 0) {
        // The block that was first may have more lines now.
        heights.delete(blockOf(0, before));
        isFollowing = false;
      }
      before = added < 0 ? 0 : before + added;
      lines = nextLines;
      newest = newestNumber;
      const pieces = partsOf(lines, before, heights, kept);
      const next = pieces.flatMap(({ block, gap }) => (gap === null ? block : []));
      const returns = next.some((block) => heights.has(block) && !drawn.includes(block));
      drawn = next;
      if (added !== 0 || returns || !isComplete) {
        isLive = false;
        clearTimeout(timer);
        timer = undefined;
      }
      if (isComplete && !isLive) {
        timer ??= setTimeout(() => {
          isLive = true;
          redraw();
        }, SETTLE_MS);
      }
      return pieces;
    },

    /** The plan was drawn. */
    settle(): void {
      restore();
      if (drawn.includes(wanted)) {
        wanted = Number.NaN;
        scrollThere();
        hold();
      }
      look();
    },

    /** Follows the browser. @returns what ends that */
    follow(): () => void {
      const observer = new ResizeObserver(() => {
        restore();
        look();
      });
      for (const { current } of [box, log]) if (current) observer.observe(current);
      const onSelection = () => look();
      document.addEventListener("selectionchange", onSelection);
      return () => {
        clearTimeout(timer);
        cancelAnimationFrame(frame);
        observer.disconnect();
        document.removeEventListener("selectionchange", onSelection);
      };
    },

    onScroll(): void {
      const { current: scroller } = box;
      if (!scroller) return;
      const wasFollowing = isFollowing;
      isFollowing = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_END;
      hold();
      look(wasFollowing !== isFollowing);
    },

    toEnd(): void {
      isFollowing = true;
      formerRoom = Number.NaN;
      restore();
      look(true);
    },

    /** Draws a line wherever it is, then calls `then`, which scrolls there. */
    show(index: number, then: () => void): void {
      isFollowing = false;
      wanted = blockOf(index, before);
      scrollThere = then;
      look(true);
    },
  };
}
