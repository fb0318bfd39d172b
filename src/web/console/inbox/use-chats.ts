import { useEffect, useMemo } from "preact/hooks";
import type { FollowedEvent } from "../../../client/event.ts";
import { usePlace } from "../organization.ts";
import { useRepeat } from "../repeat-later.ts";
import { currentSession } from "../session.ts";
import { ChatListStore } from "./chat-list-store.ts";
import { changes, type Filter } from "./chat-rows.ts";
import { countSoon, listen } from "./live.ts";
import { Together } from "./together.ts";

/** Under load, what happens is taken together. Else at once: a list that moves later moves under the reader's hand. */
const PACE = { everyMs: 200, atOnce: 4 };

/** The chats by a filter, as long as they are shown. */
export function useChats(filter: Filter): ChatListStore {
  const { api } = usePlace();
  const { view, channel, assignee, label, search } = filter;
  const own = currentSession().member?.id;
  const store = useMemo(() => new ChatListStore(api, filter, own), [api, view, channel, assignee, label, search]);
  useEffect(() => {
    void store.load();
    // A colleague's "answered" makes no event, so the number is read with the list.
    countSoon();
    const events = new Together<FollowedEvent>(PACE, (together) => store.take(together));
    store.isBehind = (row) => events.isWaiting((event) => changes(row, event));
    const stopListening = listen((event) => (event ? events.add(event) : void store.load()));
    return () => {
      stopListening();
      events.stop();
      store.stop();
    };
  }, [store]);
  useRepeat(store.error.value, () => void store.load());
  return store;
}
