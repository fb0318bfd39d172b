import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { canTakeChats } from "../../../model/permission.ts";
import type { Channel, Chat } from "../api.ts";
import { useLabels } from "../labels/use-labels.ts";
import { Lazy, LazyExtra } from "../lazy.tsx";
import { byName, useMembers } from "../organization.ts";
import { Button, TextButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { Failure, Skeleton } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Toasts } from "../parts/toast.tsx";
import { currentSession, hasMentions, may } from "../session.ts";
import { memberName } from "./assignee.tsx";
import { ChatItems, type ChatRowsProps } from "./chat-items.tsx";
import type { ChatListStore } from "./chat-list-store.ts";
import { type Filter, NOBODY, type View } from "./chat-rows.ts";
import { FilterSelect } from "./filter-select.tsx";
import { unansweredCount } from "./live.ts";

/** A search begins when nothing was typed for this long, because each has an entry in the audit log. */
const TYPING_MS = 300;
const VIEWS: readonly { view: View; label: string }[] = [
  { view: "unanswered", label: "Unanswered" },
  { view: "open", label: "Inbox" },
];
/** Views that are wanted less often. */
const MORE_VIEWS: typeof VIEWS = [
  { view: "bot", label: "With the bot" },
  { view: "snoozed", label: "Snoozed" },
  { view: "closed", label: "Closed" },
  { view: "all", label: "All" },
  { view: "scheduled", label: "Scheduled" },
];
const MENTIONS = { view: "mentions", label: "Mentions" } as const;

interface ChatListProps {
  store: ChatListStore;
  filter: Filter;
  channels: Channel[];
  openId: string | null;
  addressOf: (chat: Pick<Chat, "id" | "mention">) => string;
  onFilter: (filter: Filter) => void;
  /** Null if the person may not begin a chat. */
  onNew: (() => void) | null;
  selected: Signal<readonly Chat[]>;
  /** Selects a chat, or no longer. Null if the person may change none. */
  onSelect: ((chat: Chat) => void) | null;
}

/** The list of chats with its filters. */
export function ChatList(props: ChatListProps) {
  const { store, filter, channels, openId, onFilter, onNew, selected } = props;
  const { member } = currentSession();
  const others = byName(useMembers()).filter(({ id }) => id !== member?.id);
  // The count is of all chats.
  const isUnfiltered = filter.assignee === null && filter.channel === null && filter.label === null;
  const labels = useLabels().data ?? [];
  /** The chat that is dragged, to give it to somebody. */
  const dragged = useSignal<Chat | null>(null);
  const mine = member ? [{ ...member, name: "Mine" }] : [];
  const nobodys = { id: NOBODY, name: "Nobody’s" };
  const whose = [...mine, nobodys, ...others];
  const shownView = filter.search === "" ? filter.view : undefined;
  const hasBot = shownView === "bot" || channels.some(({ settings }) => settings.bot);
  const moreViews = [...MORE_VIEWS, ...(hasMentions() ? [MENTIONS] : [])].filter(
    ({ view }) => view !== "bot" || hasBot,
  );
  const moreView = moreViews.find(({ view }) => view === shownView);
  // The scheduled chats are everybody's, and so are those with mentions.
  const chooseView = (view: View) => {
    const isOfAll = view === "scheduled" || view === "mentions";
    onFilter({ ...filter, view, search: "", ...(isOfAll && { assignee: null, label: null }) });
  };
  const narrow = (part: Partial<Filter>) =>
    onFilter({ ...filter, view: filter.view === "scheduled" ? "open" : filter.view, search: "", ...part });
  const takers = [...mine, ...others].filter(({ permissions }) => canTakeChats(permissions));
  const rows: ChatRowsProps = {
    ...props,
    labels,
    onDrag: may("chats:write") ? (chat) => (dragged.value = chat) : undefined,
    nameOf: (id) => (id === member?.id ? "You" : memberName(id, others)),
  };
  return (
    <section class="chats" aria-label="Chats">
      {openId === null && <h1 class="hidden">Inbox</h1>}
      <div class="chats-head">
        <div class="between">
          <SearchField text={filter.search} onChange={(search) => onFilter({ ...filter, search })} />
          {onNew && <Button icon="plus" aria-label="New chat" title="New chat" onClick={onNew} />}
        </div>
        <div class="between">
          <Tabs
            label="Which chats"
            choices={VIEWS.map(({ view, label }) => ({
              value: view,
              label: (
                <>
                  {label}
                  {view === "unanswered" && isUnfiltered && unansweredCount.value !== "" && (
                    <span class="count">{unansweredCount.value}</span>
                  )}
                </>
              ),
            }))}
            chosen={shownView}
            onChoose={chooseView}
          />
          <Menu
            label="Other chats"
            hasText
            button={
              <>
                {moreView?.label ?? "More"} <Icon name="down" />
              </>
            }
            buttonClass={moreView ? "tab tab-chosen" : "tab"}
          >
            {moreViews.map(({ view, label }) => (
              <MenuItem key={view} onChoose={() => chooseView(view)}>
                {label}
              </MenuItem>
            ))}
          </Menu>
        </div>
        <div class="line">
          {filter.search === "" && (
            <FilterSelect
              label="Whose chats"
              value={filter.assignee}
              all="Everybody’s"
              options={whose}
              onChange={(assignee) => narrow({ assignee })}
            />
          )}
          {channels.length > 1 && (
            <FilterSelect
              label="Channel"
              value={filter.channel}
              // Three fields have less room.
              all={labels.length > 0 ? "Channels" : "All channels"}
              options={channels}
              onChange={(channel) => onFilter({ ...filter, channel })}
            />
          )}
          {filter.search === "" && labels.length > 0 && (
            <FilterSelect
              label="Label"
              value={filter.label}
              all="Labels"
              options={labels}
              onChange={(label) => narrow({ label })}
            />
          )}
        </div>
      </div>
      {openId === null && <Toasts />}
      {filter.search === "" ? <Rows {...rows} /> : <Lazy>{({ SearchResults }) => <SearchResults {...rows} />}</Lazy>}
      <LazyExtra>
        {({ DropTargets }) => (
          <>
            {dragged.value && (
              <DropTargets chat={dragged.value} whose={[nobodys, ...takers]} onChat={(chat) => store.put(chat)} />
            )}
          </>
        )}
      </LazyExtra>
      {selected.value.length > 0 && (
        <LazyExtra>
          {({ BulkBar }) => (
            <BulkBar
              chats={selected.value}
              whose={[nobodys, ...takers]}
              labels={labels}
              onChat={(chat) => store.put(chat)}
              // As they are now: the person has read why they were left.
              onDone={(left) => {
                const shown = store.rows.value;
                selected.value = left.map((chat) => shown.find(({ id }) => id === chat.id) ?? chat);
              }}
            />
          )}
        </LazyExtra>
      )}
    </section>
  );
}

function Rows(props: ChatRowsProps) {
  const { store, filter, onFilter } = props;
  const end = useRef<HTMLDivElement>(null);
  const rows = store.rows.value;
  const error = store.error.value;
  const hasMore = store.hasMore.value;
  useEffect(() => {
    if (!end.current) return;
    // Before the reader is there. The margin counts only around what scrolls.
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void store.more(), {
      root: end.current.parentElement,
      rootMargin: "400px",
    });
    observer.observe(end.current);
    return () => observer.disconnect();
    // A page may bring no row that is new. Then the next one is needed.
  }, [store, hasMore, rows]);
  if (store.state.value === "loading") return <Skeleton rows={8} />;
  if (rows.length === 0 && error) return <Failure error={error} onRetry={() => void store.load()} />;
  if (rows.length === 0) return <Lazy>{({ NoChats }) => <NoChats filter={filter} onFilter={onFilter} />}</Lazy>;
  return (
    <div class="chats-rows">
      {error && <Failure error={error} onRetry={() => void store.load()} />}
      <ChatItems {...props} rows={rows} />
      {hasMore && (
        <div ref={end} class="day">
          <TextButton onClick={() => void store.more()}>Show more</TextButton>
        </div>
      )}
    </div>
  );
}

function SearchField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const findsMessages = may("messages:read");
  const typed = useSignal(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // Another filter may be chosen before the timer rings.
  const latest = useRef(onChange);
  latest.current = onChange;
  // Not what the person has just typed: a space at its end, or letters that came since.
  useEffect(() => {
    if (timer.current === undefined && typed.value.trim() !== text) typed.value = text;
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: string) => {
    typed.value = next;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = undefined;
      latest.current(next.trim());
    }, TYPING_MS);
  };
  return (
    <label class="search">
      <span class="hidden">Find a contact{findsMessages && " or a message"}</span>
      <Icon name="search" />
      <input
        id="chat-search"
        type="search"
        placeholder={findsMessages ? "Contact or message" : "Contact"}
        autocomplete="off"
        maxLength={100}
        value={typed.value}
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
