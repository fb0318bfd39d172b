import { useRef } from "preact/hooks";
import { type Chat, textOf } from "../api.ts";
import { currentPath } from "../location.ts";
import { sayUndoable } from "../parts/toast.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { restoreWork } from "./restore-work.ts";
import { sayFailedIn } from "./say-failed.ts";

/** What moves the work on a chat on. */
export interface Work {
  answer: () => void;
  unanswer: () => void;
  close: () => void;
  reopen: () => void;
  takeOver: () => void;
  giveToBot: () => void;
  /** @param until RFC 3339. @throws ParleyError */
  snooze: (until: string) => Promise<void>;
}

/** What moves the work on the chat that the person sees. Each change can be taken back for a moment. */
export function useWork(store: ConversationStore): Work {
  /** Removes the last offer to take a change back. */
  const withdraw = useRef(() => {});

  /** @param before the chat that the person saw */
  const act = async (before: Chat, done: string, change: () => Promise<void>) => {
    const path = currentPath.value;
    await store.once("work", async () => {
      await change();
      withdraw.current();
      withdraw.current = sayUndoable(done, () => restoreWork(before, store.work), path);
    });
  };
  const attempt = (isPossible: (chat: Chat) => boolean, done: string, change: () => Promise<void>) => () => {
    const chat = store.chat.value;
    if (!chat || !isPossible(chat)) return;
    act(chat, done, change).catch((error: unknown) => sayFailedIn(store.chat.value, textOf(error)));
  };

  return {
    answer: attempt(
      (chat) => chat.unansweredSince !== null,
      "Marked as answered",
      () => store.work.markAnswered(),
    ),
    unanswer: attempt(
      (chat) => chat.unansweredSince === null,
      "Marked as unanswered",
      () => store.work.markUnanswered(),
    ),
    close: attempt(
      ({ state }) => state !== "closed",
      "Closed",
      () => store.work.setState("closed"),
    ),
    reopen: attempt(
      ({ state }) => state !== "open",
      "Reopened",
      () => store.work.setState("open"),
    ),
    takeOver: attempt(
      ({ handler }) => handler === "bot",
      "Taken over",
      () => store.work.handOver("people"),
    ),
    giveToBot: attempt(
      ({ handler }) => handler === "people",
      "Handed to the bot",
      () => store.work.handOver("bot"),
    ),
    async snooze(until) {
      const chat = store.chat.value;
      if (chat) await act(chat, "Snoozed", () => store.work.setState("snoozed", until));
    },
  };
}
