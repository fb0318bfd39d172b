import { useEffect, useRef } from "preact/hooks";

/** Does work again and again while `isOn`, if the tab is visible. */
export function usePolling(isOn: boolean, everyMs: number, work: () => unknown): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => document.visibilityState === "visible" && latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [isOn]);
}
