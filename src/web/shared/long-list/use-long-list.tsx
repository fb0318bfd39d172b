import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { listPlace } from "./list-place.ts";

/**
 * A list of messages of any length, of which only what is near the view is drawn. The caller draws the box that scrolls,
 * and in it the log with `drawn`.
 * @param newest the number of the newest message
 * @param isComplete whether no part of the history is on its way
 */
export function useLongList<L extends { key: string }>(
  lines: readonly L[],
  newest: number,
  isComplete: boolean,
  draw: (line: L) => ComponentChildren,
) {
  const [, redraw] = useState(0);
  const place = useMemo(() => listPlace<L>(() => redraw((count) => count + 1)), []);
  const drawn = place.plan(lines, newest, isComplete).map(({ block, lines: some, gap }) =>
    gap === null ? (
      <div key={block} class="block" data-block={block}>
        {some.map(draw)}
      </div>
    ) : (
      <div key={`gap ${block}`} style={{ height: `${gap}px` }} />
    ),
  );
  useLayoutEffect(() => place.follow(), []);
  useLayoutEffect(() => place.settle());
  return { ...place, drawn };
}
