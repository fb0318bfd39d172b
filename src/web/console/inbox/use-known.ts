import { useEffect, useLayoutEffect } from "preact/hooks";
import type { ConversationStore } from "./conversation-store.ts";

const SEEN_AFTER_MS = 2_000;

/** Notes which messages the person has had in front of them. */
export function useKnown(store: ConversationStore): void {
  const newest = store.newestSeq();
  const isReady = store.state.value === "ready";
  useLayoutEffect(() => {
    if (isReady) store.known.saw(newest);
  }, [store, isReady]);
  useEffect(() => whenSeen(() => store.known.saw(newest)), [store, newest]);
}

/** Calls back once the page was visible for a moment, long enough to read a line. @returns a function that ends it */
function whenSeen(seen: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") timer = setTimeout(seen, SEEN_AFTER_MS);
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
