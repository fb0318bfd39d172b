import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Chat } from "../api.ts";
import { LazyDialog } from "../lazy.tsx";
import { currentQuery, follow, route } from "../location.ts";
import { useChannels, usePlace } from "../organization.ts";
import { openDialog } from "../parts/opened-dialog.tsx";
import { currentSession, hasMentions, may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { pageTitle } from "../unread.ts";
import { ChatList } from "./chat-list.tsx";
import { type Filter, filterOf, inOrder, OPEN_CHATS, queryOf } from "./chat-rows.ts";
import { Conversation, NoConversation } from "./conversation.tsx";
import { useChats } from "./use-chats.ts";

/** How many rows before the end of the list the next page is loaded. */
const AHEAD = 10;

/** All chats, and the open one beside them. */
export function Inbox({ id: openId = null }: { id: string | null | undefined }) {
  const { to } = usePlace();
  const channels = useChannels();
  const { member } = currentSession();
  const mayBegin = may("chats:write");
  const given = filterOf(currentQuery.value);
  const filter = given.view === "mentions" && !hasMentions() ? OPEN_CHATS : given;
  const { view } = filter;
  const store = useChats(filter);
  store.openId = openId;
  /** The chats that are selected, as they were then. */
  const selected = useSignal<readonly Chat[]>([]);
  const select = (chat: Chat) => {
    const others = selected.value.filter(({ id }) => id !== chat.id);
    selected.value = others.length < selected.value.length ? others : [...others, chat];
  };
  // A conversation that stays open under another filter tells the list that is shown.
  const shown = useRef(store);
  shown.current = store;

  useEffect(() => void (pageTitle.value = "Inbox"), []);

  useEffect(() => void (selected.value = []), [store]);

  useEffect(() => store.left(), [store, openId]);

  useEffect(() => {
    document.querySelector(".chat-row[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [openId]);

  // A search replaces its address with each letter. The browser goes back over all of it.
  const changeFilter = (next: Filter) => route(location.pathname + queryOf(next), next.search !== filter.search);
  const addressOf = ({ id, mention }: Pick<Chat, "id" | "mention">) =>
    to(`inbox/${id}`) + (mention ? `#${mention.noteId}` : "");
  const step = (by: number) => {
    const rows = store.rows.value;
    const at = rows.findIndex(({ id }) => id === openId);
    const next = rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)];
    if (next) route(addressOf(next));
    if (at + by > rows.length - AHEAD) void store.more();
  };
  const openNew = () => {
    const show = (chat: Chat) => {
      store.rows.value = inOrder([chat, ...store.rows.value.filter(({ id }) => id !== chat.id)], view);
      follow(addressOf(chat));
    };
    openDialog(<LazyDialog>{({ NewChat }) => <NewChat onChat={show} />}</LazyDialog>);
  };
  /** Selects none, or closes the search. */
  const leave = () => {
    if (selected.value.length > 0) selected.value = [];
    else if (filter.search !== "") changeFilter({ ...filter, search: "" });
  };
  const row = store.rows.value.find(({ id }) => id === openId) ?? null;
  useShortcuts([
    { keys: "/", label: "Search the chats", run: () => document.getElementById("chat-search")?.focus() },
    { keys: "j", label: "Next chat", repeats: true, run: () => step(1) },
    { keys: "k", label: "Previous chat", repeats: true, run: () => step(-1) },
    { keys: "u", label: "Show the unanswered chats", run: () => changeFilter({ ...OPEN_CHATS, view: "unanswered" }) },
    ...(member
      ? [{ keys: "m", label: "Show my open chats", run: () => changeFilter({ ...OPEN_CHATS, assignee: member.id }) }]
      : []),
    ...(hasMentions()
      ? [
          {
            keys: "y",
            label: "Show the chats that mention me",
            run: () => changeFilter({ ...OPEN_CHATS, view: "mentions" }),
          },
        ]
      : []),
    ...(mayBegin
      ? [
          { keys: "n", label: "New chat", run: openNew },
          { keys: "x", label: "Select the open chat, to act on several", run: () => row && select(row) },
        ]
      : []),
  ]);
  const known = row && !store.isBehind(row) ? row : null;
  return (
    <div class={openId ? "inbox inbox-open" : "inbox"}>
      <ChatList
        store={store}
        filter={filter}
        channels={channels}
        openId={openId}
        addressOf={addressOf}
        onFilter={changeFilter}
        onNew={mayBegin ? openNew : null}
        selected={selected}
        onSelect={mayBegin ? select : null}
      />
      {openId ? (
        <Conversation key={openId} id={openId} known={known} onChat={(chat) => shown.current.put(chat)} />
      ) : (
        <ChooseChat onLeave={leave} />
      )}
    </div>
  );
}

function ChooseChat({ onLeave }: { onLeave: () => void }) {
  useShortcuts([{ keys: "Escape", label: "Select none, or close the search", run: onLeave }]);
  return (
    <NoConversation title="Choose a chat">
      <kbd>j</kbd> and <kbd>k</kbd> move through the list, <kbd>/</kbd> searches, <kbd>?</kbd> shows all keys.
    </NoConversation>
  );
}
