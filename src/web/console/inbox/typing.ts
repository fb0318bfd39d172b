import { signal } from "@preact/signals";
import type { TypingEvent } from "../../../client/event.ts";
import { ParleyError } from "../api.ts";
import type { Api } from "../api-client.ts";
import { currentSession } from "../session.ts";

interface Typist {
  chatId: string;
  /** Null for a contact without a name. */
  name: string | null;
}

/** Who writes, by the chat and the writer. */
export const typists = signal<ReadonlyMap<string, Typist>>(new Map());

const SHOWN_MS = 6_000;
/** About how long the networks show a typing indicator. */
const TELL_AGAIN_MS = 5_000;
const timers = new Map<string, ReturnType<typeof setTimeout>>();

/** Shows for six seconds that somebody writes, unless it is this person. */
export function showTyping({ chatId, data: { by } }: TypingEvent): void {
  const { type, member } = currentSession();
  if (by.type === "operator" ? type === "operator" : by.type === "member" && by.id === member?.id) return;
  const key = `${chatId} ${by.id}`;
  clearTimeout(timers.get(key));
  timers.set(
    key,
    setTimeout(() => endTyping(key), SHOWN_MS),
  );
  typists.value = new Map(typists.value).set(key, { chatId, name: by.name });
}

/** Nobody of a chat is shown any longer, or one of them. @param key the chat's id, or what `typists` has it by */
export function endTyping(key: string): void {
  typists.value = new Map([...typists.value].filter(([one]) => !one.startsWith(key)));
}

/** Tells the contact of one chat that the person writes, now and then, as long as the channel can show it. */
export function typingTeller(api: Api, chatId: string): () => void {
  let againAt = 0;
  return () => {
    if (Date.now() < againAt) return;
    againAt = Date.now() + TELL_AGAIN_MS;
    api.POST("/chats/{id}/typing", { path: { id: chatId } }).catch((error: unknown) => {
      // It is a courtesy: the person who writes gets no notice if it can't be shown.
      if (error instanceof ParleyError && error.status === 409) againAt = Number.POSITIVE_INFINITY;
    });
  };
}
