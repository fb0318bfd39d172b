import { networkLabels } from "../../../model/channel-kind.ts";
import { MOST, useGet, useMembers, usePlace } from "../organization.ts";
import { Button, MainButton } from "../parts/button.tsx";
import type { IconName } from "../parts/icon.tsx";
import { Empty } from "../parts/states.tsx";
import { may } from "../session.ts";
import { type Filter, NOBODY, OPEN_CHATS, type View } from "./chat-rows.ts";

const NO_CHATS: Readonly<
  Record<View | "search" | "assigned" | "nobodys" | "labeled", { icon: IconName; title: string; text: string }>
> = {
  search: {
    icon: "search",
    title: "No matching chats",
    text: "Search for a word of the name, or for the beginning of the address.",
  },
  unanswered: {
    icon: "check",
    title: "No one is waiting for a reply",
    text: "Unanswered chats appear here, the longest wait first.",
  },
  assigned: {
    icon: "person",
    title: "No chats here",
    text: "To assign a chat, use the menu at the top of a conversation or press a.",
  },
  labeled: { icon: "inbox", title: "No chats here", text: "To label a chat, press l in a conversation." },
  nobodys: { icon: "check", title: "No unassigned chats", text: "Unassigned chats appear here." },
  open: {
    icon: "inbox",
    title: "No open chats",
    text: "A chat opens when the contact writes, and when its snooze ends.",
  },
  bot: { icon: "inbox", title: "The bot has no open chats", text: "Chats that the bot answers appear here." },
  snoozed: {
    icon: "clock",
    title: "No snoozed chats",
    text: "To put a chat off until later, press s in a conversation.",
  },
  closed: { icon: "done", title: "No closed chats", text: "To close a chat, press c in a conversation." },
  scheduled: { icon: "clock", title: "Nothing is scheduled", text: "Chats with scheduled messages appear here." },
  mentions: {
    icon: "note",
    title: "No mentions",
    text: "Chats appear here once a colleague mentions you in a note.",
  },
  all: {
    icon: "inbox",
    title: "No chats yet",
    text: "A chat begins with a contact’s first message.",
  },
};

/** A list without chats: why, and what a person can do. */
export function NoChats({ filter, onFilter }: { filter: Filter; onFilter: (filter: Filter) => void }) {
  const channels = useGet("/channels", { query: { limit: MOST } }).data?.channels;
  if (channels?.length === 0 && filter.search === "") return <NoChannel />;
  const shown = shownOf(filter);
  const { icon, title, text } = NO_CHATS[shown];
  return (
    <Empty
      icon={icon}
      title={title}
      action={
        shown === "all" ? null : (
          <Button onClick={() => onFilter({ ...OPEN_CHATS, view: "all" })}>Show all chats</Button>
        )
      }
    >
      {text}
    </Empty>
  );
}

function shownOf({ search, view, assignee, label }: Filter): keyof typeof NO_CHATS {
  if (search !== "") return "search";
  if (label !== null) return "labeled";
  const isOfAll = view === "open" || view === "all";
  if (!isOfAll || assignee === null) return view;
  return assignee === NOBODY ? "nobodys" : "assigned";
}

/** A new organization: without a channel, nobody can write. */
function NoChannel() {
  const { to } = usePlace();
  const who = useMembers().filter(({ permissions }) => permissions.includes("channels:write"));
  const names = new Intl.ListFormat("en", { type: "disjunction" }).format(who.map(({ name }) => name));
  return (
    <Empty
      icon="channel"
      title="No channel yet"
      action={may("channels:write") ? <MainButton href={to("channels/new")}>Set up a channel</MainButton> : null}
    >
      Contacts write to you through a channel: {networkLabels()} or a chat on your site.
      {!may("channels:write") && ` ${names || "The operator"} can set one up.`}
    </Empty>
  );
}
