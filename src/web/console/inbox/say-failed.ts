import type { Chat } from "../api.ts";
import { currentPath } from "../location.ts";
import { contactName } from "../names.ts";
import { sayFailure } from "../parts/toast.tsx";

/**
 * Says that something failed in a chat.
 * @param begin what names the chat, if the person is in another one by now
 */
export function sayFailedIn(chat: Chat | null, reason: string, begin = (name: string) => `${name}:`): void {
  const isOpen = chat === null || currentPath.value.includes(chat.id);
  sayFailure(isOpen ? reason : `${begin(contactName(chat))} ${reason}`);
}
