import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Whether an element was on the screen, so that a long list loads the details of those rows alone. */
export function useSeen<T extends Element>(): [RefObject<T | null>, boolean] {
  const element = useRef<T>(null);
  const isSeen = useSignal(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      isSeen.value = true;
      observer.disconnect();
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, isSeen.value];
}
