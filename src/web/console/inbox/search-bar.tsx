import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { asParleyError, type Message } from "../api.ts";
import { takeKeys } from "../held-keys.ts";
import { Button } from "../parts/button.tsx";
import { sayError, useBusy } from "../parts/toast.tsx";
import { isPassing, repeatLater } from "../repeat-later.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { leadTo } from "./lead-to.ts";

/** The minimum length of a search, as the service requires it. */
const MIN_LENGTH = 2;
const WAIT_MS = 250;

interface Found {
  messages: readonly Message[];
  /** Where the next page begins; null on the last one. */
  next: string | null;
}

const NOTHING: Found = { messages: [], next: null };

/** Finds words in all messages of a chat, newest first, and leads from one message that has them to the next. */
export function SearchBar({ store, onClose }: { store: ConversationStore; onClose: () => void }) {
  const words = useSignal("");
  const found = useSignal<Found | null>(NOTHING);
  const at = useSignal(0);
  const { isBusy, run } = useBusy();
  const wanted = words.value.trim();
  const field = useRef<HTMLInputElement>(null);
  // Once: what is found later must not take the keys from a text that the person writes meanwhile.
  useLayoutEffect(() => {
    words.value = takeKeys() ?? "";
    field.current?.focus();
  }, []);

  const show = async (index: number, { messages }: Found) => {
    const hit = messages[index];
    at.value = index;
    if (hit && (await store.reach(() => store.byId.value.has(hit.id)))) leadTo(hit.id);
  };
  useEffect(() => {
    at.value = 0;
    found.value = wanted.length < MIN_LENGTH ? NOTHING : null;
    if (wanted.length < MIN_LENGTH) return;
    const ended = new AbortController();
    let forget = () => {};
    const find = () => {
      store.search(wanted, null, ended.signal).then(
        (first) => {
          found.value = first;
          void run(() => show(0, first));
        },
        (error: unknown) => {
          if (ended.signal.aborted) return;
          sayError(error);
          if (isPassing(asParleyError(error))) forget = repeatLater(find);
        },
      );
    };
    const timer = setTimeout(find, WAIT_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
      forget();
    };
  }, [wanted]);

  const step = (by: number) =>
    void run(async () => {
      let now = found.value ?? NOTHING;
      if (at.value + by >= now.messages.length && now.next !== null) {
        const more = await store.search(wanted, now.next);
        now = { messages: [...now.messages, ...more.messages], next: more.next };
        found.value = now;
      }
      const count = now.messages.length;
      if (count > 0) await show((at.value + by + count) % count, now);
    });
  const count = found.value?.messages.length ?? 0;
  return (
    <search class="line search-bar">
      <input
        type="search"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        id="conversation-search"
        ref={field}
        value={words.value}
        maxLength={100}
        onInput={({ currentTarget }) => (words.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
        }}
      />
      <span class="quiet small" role="status">
        {wanted.length >= MIN_LENGTH && statusOf(found.value, at.value, isBusy.value)}
      </span>
      <Button aria-label="Next, an older one" title="Enter" disabled={count < 2} onClick={() => step(1)}>
        Next
      </Button>
      <Button icon="close" aria-label="Close the search" onClick={onClose} />
    </search>
  );
}

function statusOf(found: Found | null, at: number, isBusy: boolean): string {
  if (found === null || isBusy) return "Searching…";
  const { messages, next } = found;
  return messages.length === 0 ? "None" : `${at + 1} of ${messages.length}${next === null ? "" : "+"}`;
}
