import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { Chat } from "../api.ts";
import { NotesStore } from "../notes/notes-store.ts";
import { usePlace } from "../organization.ts";
import { useRepeat } from "../repeat-later.ts";
import { ConversationStore } from "./conversation-store.ts";
import { listen } from "./live.ts";
import { endTyping } from "./typing.ts";

/** The messages and the notes of a chat. They follow what happens in it. @param known the chat, if the list has it */
export function useStores(id: string, known: Chat | null, onChat: (chat: Chat) => void) {
  const { api } = usePlace();
  const store = useMemo(() => new ConversationStore(api, id, known, onChat), [api, id]);
  const notes = useMemo(() => new NotesStore(api, id, () => store.shownFrom()), [store]);
  const load = async () => {
    const loadingNotes = notes.load().then(() => notes.older());
    const failing = loadingNotes.then(
      () => null,
      (error: unknown) => ({ error }),
    );
    await store.load();
    // Else the messages that came would hide that the notes did not.
    const failure = await failing;
    if (failure) store.failed(failure.error);
  };
  useLayoutEffect(() => {
    store.isShown = true;
    return () => {
      store.isShown = false;
    };
  }, [store]);
  useEffect(() => {
    void load();
    return listen((event) => {
      if (!event) return void load();
      if (event.chatId === id && /^message\.(received|created)$/.test(event.type)) endTyping(id);
      store.take(event);
      notes.take(event);
    });
  }, [store]);
  const shownFrom = store.shownFrom();
  const isReady = store.state.value === "ready";
  useEffect(() => {
    if (isReady) notes.older().catch(store.failed);
  }, [notes, isReady, shownFrom]);
  useRepeat(store.error.value, () => void load());
  return { store, notes, load };
}
