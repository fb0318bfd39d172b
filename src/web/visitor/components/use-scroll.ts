import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Line } from "../timeline.ts";

interface Scroll {
  ref: RefObject<HTMLElement | null>;
  onScroll: () => void;
  /** Something new came below what is visible. */
  unseen: boolean;
  toNewest: () => void;
}

const NEAR_PX = 80;

/**
 * Where the list stands. It follows the newest message unless the visitor looks at older ones; then it stays, also when
 * a page is put in above, and tells that something came.
 */
export function useScroll(lines: readonly Line[]): Scroll {
  const ref = useRef<HTMLElement>(null);
  const following = useRef(true);
  const before = useRef({ first: "", last: "", height: 0 });
  const [unseen, setUnseen] = useState(false);
  const first = lines[0]?.key ?? "";
  const last = lines.at(-1);

  useLayoutEffect(() => {
    const scroller = ref.current;
    if (!scroller) return;
    const { first: formerFirst, last: formerLast, height } = before.current;
    const added = last !== undefined && last.key !== formerLast;
    // A change of marks alone moves nothing: the browser tells of a scroll later than it scrolls, and it may be away.
    if (!added && first === formerFirst && scroller.scrollHeight === height) return;
    if (added && last.progress === "sending") following.current = true;
    if (following.current) scroller.scrollTop = scroller.scrollHeight;
    else if (first !== formerFirst) scroller.scrollTop += scroller.scrollHeight - height;
    else if (added) setUnseen(true);
    before.current = { first, last: last?.key ?? "", height: scroller.scrollHeight };
  });

  // The box grows, the keyboard opens: the newest message stays in sight.
  useLayoutEffect(() => {
    const scroller = ref.current;
    if (!scroller) return;
    const observer = new ResizeObserver(() => {
      if (following.current) scroller.scrollTop = scroller.scrollHeight;
    });
    observer.observe(scroller);
    return () => observer.disconnect();
  }, []);

  return {
    ref,
    unseen: unseen && !following.current,
    onScroll: () => {
      const scroller = ref.current;
      if (!scroller) return;
      following.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
      if (following.current) setUnseen(false);
    },
    toNewest: () => {
      const scroller = ref.current;
      if (!scroller) return;
      following.current = true;
      setUnseen(false);
      scroller.scrollTop = scroller.scrollHeight;
      scroller.focus({ preventScroll: true });
    },
  };
}
