import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { say } from "../parts/toast.tsx";
import type { ConversationStore } from "./conversation-store.ts";

/** Loads older pages until the message is there that the address names. The log then leads to it. */
export function ReachLinked({ store }: { store: ConversationStore }) {
  const linked = useSignal(location.hash);
  const isIdle = store.state.value === "ready" && !store.isLoadingOlder.value;
  const error = store.error.value;
  useEffect(() => {
    const follow = () => (linked.value = location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    const { hash } = location;
    // A note can be linked too. What could not be loaded is repeated, and the conversation says why.
    if (!isIdle || error || !hash.startsWith("#msg_") || store.byId.value.has(hash.slice(1))) return;
    if (store.hasOlder.value) return void store.older();
    history.replaceState(null, "", location.pathname + location.search);
    say("This message is no longer in the chat.");
  }, [store, isIdle, error, linked.value]);
  return null;
}
