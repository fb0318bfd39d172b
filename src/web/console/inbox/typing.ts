import { signal } from "@preact/signals";
import type { TypingEvent } from "../../../client/event.ts";
import { ParleyError } from "../api.ts";
import type { Api } from "../api-client.ts";
import { currentSession } from "../session.ts";

/** Who writes in each chat: a name, or null for somebody who has none. */
export const typing = signal<ReadonlyMap<string, string | null>>(new Map());

const SHOWN_MS = 6_000;
/** The networks show it for about so long. */
const TELL_AGAIN_MS = 5_000;
const timers = new Map<string, ReturnType<typeof setTimeout>>();

/** Shows for six seconds that somebody writes, unless that is the person here. */
export function showTyping({ chatId, data: { by } }: TypingEvent): void {
  const { type, member } = currentSession();
  if (by.type === "operator" ? type === "operator" : by.type === "member" && by.id === member?.id) return;
  clearTimeout(timers.get(chatId));
  timers.set(
    chatId,
    setTimeout(() => endTyping(chatId), SHOWN_MS),
  );
  typing.value = new Map(typing.value).set(chatId, by.name);
}

/** A message came, so nobody is shown any longer. */
export function endTyping(chatId: string): void {
  if (!typing.value.has(chatId)) return;
  clearTimeout(timers.get(chatId));
  const left = new Map(typing.value);
  left.delete(chatId);
  typing.value = left;
}

/** Tells the contact of one chat that the person writes, now and then, as long as the channel can show it. */
export function typingTeller(api: Api, chatId: string): () => void {
  let againAt = 0;
  return () => {
    if (Date.now() < againAt) return;
    againAt = Date.now() + TELL_AGAIN_MS;
    api.POST("/chats/{id}/typing", { path: { id: chatId } }).catch((error: unknown) => {
      // It is a courtesy: what can't be shown now is not told to the person who writes.
      if (error instanceof ParleyError && error.status === 409) againAt = Number.POSITIVE_INFINITY;
    });
  };
}
