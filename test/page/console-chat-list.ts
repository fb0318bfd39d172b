import { vi } from "vitest";
import type { ChatListStore } from "../../src/web/console/inbox/chat-list-store.ts";

/** The ids of the chats that a list shows, in its order. */
export const ids = (list: ChatListStore) => list.rows.value.map(({ id }) => id);

/** As many numbers as `count`, one after another. */
export const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => from + n);

/** Lets all happen that is under way or will be tried again. */
export const settle = () => vi.advanceTimersByTimeAsync(20_000);

/** Loads page after page, until the list has all its chats. */
export async function scrollToTheEnd(list: ChatListStore): Promise<void> {
  for (let pages = 0; list.hasMore.value && pages < 100; pages++) {
    void list.more();
    await settle();
  }
}
