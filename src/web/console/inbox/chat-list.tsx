import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Channel, Chat } from "../api.ts";
import { Avatar } from "../parts/badge.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Empty, Failure, Skeleton } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import type { ChatListStore } from "./chat-list-store.ts";
import type { Filter, View } from "./chat-rows.ts";
import { unansweredCount } from "./live.ts";

const TYPING_MS = 250;
const VIEWS: readonly { view: View; label: string }[] = [
  { view: "unanswered", label: "Unanswered" },
  { view: "all", label: "All" },
  { view: "scheduled", label: "Scheduled" },
];

interface ChatListProps {
  store: ChatListStore;
  filter: Filter;
  channels: Channel[];
  openId: string | null;
  addressOf: (chatId: string) => string;
  onFilter: (filter: Filter) => void;
  onNew: () => void;
}

/** The list of chats with its filters. */
export function ChatList({ store, filter, channels, openId, addressOf, onFilter, onNew }: ChatListProps): JSX.Element {
  return (
    <section class="chats" aria-label="Chats">
      {openId === null && <h1 class="hidden">Inbox</h1>}
      <div class="chats-head">
        <div class="between">
          <SearchField text={filter.search} onChange={(search) => onFilter({ ...filter, search })} />
          <button type="button" class="plain" aria-label="New chat" title="New chat" onClick={onNew}>
            <Icon name="plus" />
          </button>
        </div>
        <Tabs
          label="Which chats"
          choices={VIEWS.map(({ view, label }) => ({
            value: view,
            label: (
              <>
                {label}
                {view === "unanswered" && unansweredCount.value !== "" && (
                  <span class="count">{unansweredCount.value}</span>
                )}
              </>
            ),
          }))}
          chosen={filter.search === "" ? filter.view : undefined}
          onChoose={(view) => onFilter({ ...filter, view, search: "" })}
        />
        {channels.length > 1 && (
          <select
            class="note"
            aria-label="Channel"
            value={filter.channel ?? ""}
            onChange={(event) => onFilter({ ...filter, channel: event.currentTarget.value || null })}
          >
            <option value="">All channels</option>
            {channels.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      <Rows store={store} filter={filter} openId={openId} addressOf={addressOf} onFilter={onFilter} />
    </section>
  );
}

function Rows({ store, filter, openId, addressOf, onFilter }: Omit<ChatListProps, "channels" | "onNew">): JSX.Element {
  const end = useRef<HTMLDivElement>(null);
  const rows = store.rows.value;
  const error = store.error.value;
  const hasMore = store.hasMore.value;
  useEffect(() => {
    if (!end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void store.more(), {
      rootMargin: "400px",
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [store, hasMore, rows.length]);
  if (store.state.value === "loading") return <Skeleton rows={8} />;
  if (rows.length === 0 && error) return <Failure error={error} onRetry={() => void store.load()} />;
  if (rows.length === 0) return <NoChats filter={filter} onFilter={onFilter} />;
  return (
    <div class="chats-rows">
      {error && <Failure error={error} onRetry={() => void store.load()} />}
      <ul>
        {rows.map((chat) => (
          <li key={chat.id}>
            <Row chat={chat} view={filter.view} isOpen={chat.id === openId} href={addressOf(chat.id)} />
          </li>
        ))}
      </ul>
      {hasMore && (
        <div ref={end} class="day">
          <button type="button" class="link" onClick={() => void store.more()}>
            Show more
          </button>
        </div>
      )}
    </div>
  );
}

interface RowProps {
  chat: Chat;
  view: View;
  isOpen: boolean;
  href: string;
}

function Row({ chat, view, isOpen, href }: RowProps): JSX.Element {
  const { contact, channel, lastMessage, unansweredSince, nextScheduledAt } = chat;
  const name = contact.name ?? contact.address;
  const at = view === "unanswered" ? (unansweredSince ?? chat.lastMessageAt) : chat.lastMessageAt;
  return (
    <a
      class={`chat-row${unansweredSince ? " chat-row-waits" : ""}`}
      href={href}
      aria-current={isOpen ? "true" : undefined}
    >
      <Avatar name={name} />
      <span class="grow">
        <span class="between">
          <strong class="grow clip chat-row-name">
            <bdi>{name}</bdi>
          </strong>
          <span class="quiet small">
            {view === "scheduled" && nextScheduledAt ? <Time at={nextScheduledAt} future /> : at && <Time at={at} />}
          </span>
        </span>
        <span class="between">
          <span class="grow clip note chat-row-text">
            {lastMessage?.direction === "OUTBOUND" && <StatusMark status={lastMessage.status} />}
            <bdi>{lastMessage ? lastMessage.text || "Removed" : "No messages yet"}</bdi>
          </span>
          {unansweredSince && (
            <span class="dot">
              <span class="hidden">Unanswered</span>
            </span>
          )}
        </span>
        <span class="clip quiet small">
          <bdi>{channel.name}</bdi>
        </span>
      </span>
    </a>
  );
}

function StatusMark({ status }: { status: NonNullable<Chat["lastMessage"]>["status"] }): JSX.Element {
  if (status === "FAILED") {
    return (
      <span class="failed">
        <Icon name="warning" /> Failed:
      </span>
    );
  }
  return <span class="quiet">You:</span>;
}

const NO_CHATS: Readonly<Record<View | "search", { icon: IconName; title: string; text: string }>> = {
  search: {
    icon: "search",
    title: "No chat found",
    text: "Search for words of a name, or for the beginning of an address.",
  },
  unanswered: {
    icon: "check",
    title: "Nobody waits for an answer",
    text: "Chats that wait appear here, the longest wait first.",
  },
  scheduled: { icon: "clock", title: "Nothing is scheduled", text: "Chats with scheduled messages appear here." },
  all: {
    icon: "inbox",
    title: "No chats yet",
    text: "A chat begins with a contact’s first message, or with “New chat”.",
  },
};

function NoChats({ filter, onFilter }: Pick<ChatListProps, "filter" | "onFilter">): JSX.Element {
  const shown = filter.search === "" ? filter.view : "search";
  const { icon, title, text } = NO_CHATS[shown];
  return (
    <Empty
      icon={icon}
      title={title}
      action={
        shown === "all" ? null : (
          <button type="button" class="button" onClick={() => onFilter({ view: "all", channel: null, search: "" })}>
            Show all chats
          </button>
        )
      }
    >
      {text}
    </Empty>
  );
}

function SearchField({ text, onChange }: { text: string; onChange: (text: string) => void }): JSX.Element {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setTyped(text), [text]);
  const change = (next: string) => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(next.trim()), TYPING_MS);
  };
  return (
    <label class="search">
      <span class="hidden">Find a contact</span>
      <Icon name="search" />
      <input
        id="chat-search"
        type="search"
        placeholder="Name or address"
        autocomplete="off"
        maxLength={100}
        value={typed}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          change("");
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}
