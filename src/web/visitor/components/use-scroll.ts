import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Line } from "../timeline.ts";

interface Scroll {
  ref: RefObject<HTMLElement | null>;
  onScroll: () => void;
  /** A new message is below the visible part. */
  unseen: boolean;
  toNewest: () => void;
}

const NEAR_PX = 80;

/**
 * The list's scroll position. It follows the newest message. While the visitor reads older messages, it stays, even if
 * a page is added above, and `unseen` reports new messages.
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
    // A status change doesn't scroll. The browser reports the visitor's scrolling late, so `following` may be outdated.
    if (!added && first === formerFirst && scroller.scrollHeight === height) return;
    if (added && last.progress === "sending") following.current = true;
    if (following.current) scroller.scrollTop = scroller.scrollHeight;
    else if (first !== formerFirst) scroller.scrollTop += scroller.scrollHeight - height;
    else if (added) setUnseen(true);
    before.current = { first, last: last?.key ?? "", height: scroller.scrollHeight };
  });

  // The newest message stays visible when the composer grows or the keyboard opens.
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
