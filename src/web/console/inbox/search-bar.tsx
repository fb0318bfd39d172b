import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import type { ConversationStore } from "./conversation-store.ts";

/** So many pages of older messages are loaded at a time, until one has the words. */
const PAGES = 20;

/** Finds words in the messages of a chat. The service has no such search, so older messages are loaded to be searched. */
export function SearchBar({ store, onClose }: { store: ConversationStore; onClose: () => void }) {
  const words = useSignal("");
  const at = useSignal(0);
  const isLoading = useSignal(false);
  const wanted = words.value.trim().toLowerCase();
  const messages = store.messages.value.filter(({ seq }) => seq !== null);
  const isHit = ({ text }: { text: string }) => wanted !== "" && text.toLowerCase().includes(wanted);
  const hits = messages.filter(isHit).toSorted((one, other) => (other.seq ?? 0) - (one.seq ?? 0));
  const hit = hits[at.value]?.id;

  useEffect(() => {
    if (hit !== undefined) location.replace(`#${hit}`);
  }, [hit]);

  const older = async () => {
    const before = hits.length;
    isLoading.value = true;
    for (let page = 0; page < PAGES && store.hasOlder.value; page++) {
      const known = store.messages.value.length;
      await store.older();
      // The load failed, and the conversation says why.
      if (store.messages.value.length === known) break;
      if (store.messages.value.filter(isHit).length > before) {
        at.value = before;
        break;
      }
    }
    isLoading.value = false;
  };
  const step = (by: number) => {
    if (hits.length > 0) at.value = (at.value + by + hits.length) % hits.length;
  };
  return (
    <search class="line search-bar">
      <input
        type="search"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        ref={(field) => field?.focus()}
        value={words.value}
        onInput={({ currentTarget }) => {
          words.value = currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
        }}
      />
      <span class="quiet small" role="status">
        {wanted !== "" && (hits.length > 0 ? `${at.value + 1} of ${hits.length}` : "None")}
        {wanted !== "" && store.hasOlder.value && ` in ${plural(messages.length, "message")}`}
      </span>
      {wanted !== "" && store.hasOlder.value && (
        <Button class="link" aria-busy={isLoading.value} onClick={() => isLoading.value || void older()}>
          {isLoading.value ? "Searching…" : "Search older ones"}
        </Button>
      )}
      <Button class="plain" aria-label="Close the search" onClick={onClose}>
        <Icon name="close" />
      </Button>
    </search>
  );
}
