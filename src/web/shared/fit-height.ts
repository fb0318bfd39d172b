import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Grows a box with its text in browsers without `field-sizing`. The style sheet limits the height. */
export function useFitHeight(box: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useEffect(() => {
    if (!box.current || CSS.supports("field-sizing", "content")) return;
    box.current.style.height = "auto";
    box.current.style.height = `${box.current.scrollHeight}px`;
  }, [text]);
}
