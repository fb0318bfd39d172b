import type { Range } from "./blocks.ts";

/** The blocks that are drawn. @param log the element that has them */
export function drawnBlocks(log: { current: Element | null }) {
  let focused = Number.NaN;

  const parts = () => [...(log.current?.children ?? [])] as HTMLElement[];
  const blockAt = (node: Node | null) =>
    Number(parts().find((part) => part.contains(node))?.dataset.block ?? Number.NaN);

  return {
    /** Measures them. @returns whether any is new */
    measure(heights: Map<number, number>): boolean {
      const { size } = heights;
      for (const part of parts()) {
        if (part.dataset.block === undefined) continue;
        heights.set(Number(part.dataset.block), part.getBoundingClientRect().height);
      }
      return heights.size > size;
    },

    /** Those that stay wherever the view is: the focus with its neighbors, a selection from end to end, what plays. */
    bound(): Range[] {
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
    },
  };
}
