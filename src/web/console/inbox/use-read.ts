import { useEffect } from "preact/hooks";
import { ParleyError } from "../api.ts";
import { may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";

const NONE: { id: string | null; seq: number } = { id: null, seq: 0 };

/** A message that was in view this long was read. */
const READ_AFTER_MS = 1_000;

/** Tells the contact that the newest message was read, once it was in view for a second. Only who may send tells. */
export function useRead(store: ConversationStore): void {
  const { id, seq } = store.messages.value
    .filter(({ direction }) => direction === "INBOUND")
    .reduce((newest, one) => ((one.seq ?? 0) > newest.seq ? { id: one.id, seq: one.seq ?? 0 } : newest), NONE);
  const isRead = (store.chat.value?.readUpTo ?? 0) >= seq;

  useEffect(() => {
    if (id === null || isRead || store.hasNoReadMarks || !may("messages:send")) return;
    let wasInView = false;
    const timer = setInterval(() => {
      const isNow = isInView(id);
      if (isNow && wasInView) {
        clearInterval(timer);
        store.markRead(id).catch((error: unknown) => {
          if (!(error instanceof ParleyError)) throw error;
          // Not every channel has read marks.
          store.hasNoReadMarks ||= error.status === 409;
        });
      }
      wasInView = isNow;
    }, READ_AFTER_MS);
    return () => clearInterval(timer);
  }, [store, id, isRead]);
}

function isInView(messageId: string): boolean {
  const message = document.getElementById(messageId)?.getBoundingClientRect();
  const list = document.getElementById(messageId)?.closest(".messages")?.getBoundingClientRect();
  if (!message || !list || document.visibilityState !== "visible" || !document.hasFocus()) return false;
  return message.bottom > list.top && message.top < list.bottom;
}
