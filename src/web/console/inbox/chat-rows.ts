import type { FollowedEvent } from "../../../client/event.ts";
import { replyUntil, wroteAt } from "../../../model/reply-window.ts";
import { WORK_STATES } from "../../../model/work-state.ts";
import type { Chat, Message } from "../api.ts";

/** Which chats the list shows, and in which order. */
export type View = (typeof VIEWS)[number];
/** Networks tell the time in seconds. */
const SECOND_MS = 1_000;
const VIEWS = ["unanswered", ...WORK_STATES, "bot", "all", "scheduled", "mentions"] as const;

export interface Filter {
  view: View;
  /** A channel's id; null for all. */
  channel: string | null;
  /** A member's id, or `NOBODY`; null for everybody's chats. */
  assignee: string | null;
  /** A label's id; null for chats with and without labels. */
  label: string | null;
  /** Words of a name, or the beginning of an address. Empty for all. */
  search: string;
}

/** The list of unassigned chats, as the API names it. */
export const NOBODY = "none";

/** The inbox as it is first: the chats with work left. */
export const OPEN_CHATS: Filter = { view: "open", channel: null, assignee: null, label: null, search: "" };

/** The filter that an address names. What it does not name is as in `OPEN_CHATS`. */
export function filterOf(query: string): Filter {
  const given = new URLSearchParams(query);
  const view = VIEWS.find((one) => one === given.get("view")) ?? OPEN_CHATS.view;
  const { channel = null, assignee = null, label = null, search = "" } = Object.fromEntries(given);
  return { view, channel, assignee, label, search };
}

/** The query of an address that names a filter, with its `?`; empty for `OPEN_CHATS`. */
export function queryOf(filter: Filter): string {
  const named = Object.entries(filter).filter(([name, value]) => value && value !== OPEN_CHATS[name as keyof Filter]);
  const query = String(new URLSearchParams(Object.fromEntries(named)));
  return query && `?${query}`;
}

/** What decides whether a chat is in the list. */
type Shown = Omit<Filter, "search">;

/** Whether a chat belongs in a list. */
export function belongs(chat: Chat, { view, channel, assignee, label }: Shown): boolean {
  if (channel !== null && chat.channel.id !== channel) return false;
  if (label !== null && !chat.labels.some(({ id }) => id === label)) return false;
  if (assignee !== null && (chat.assigneeId ?? NOBODY) !== assignee) return false;
  if (view === "unanswered" && chat.unansweredSince === null) return false;
  if (view === "scheduled") return chat.nextScheduledAt !== null;
  if (view === "mentions") return chat.mention !== undefined;
  if (view === "all" || view === "snoozed" || view === "closed") return view === "all" || chat.state === view;
  return chat.state === "open" && chat.handler === (view === "bot" ? "bot" : "people");
}

/** The query of `GET /chats` that lists a view. @param own the id of the person, for the view of mentions */
export function viewQuery(view: View, own = "") {
  if (view === "mentions") return { mentioned: own };
  if (view === "all") return {};
  if (view === "scheduled") return { scheduled: "true" as const };
  if (view === "bot") return { state: "open" as const, handler: "bot" as const };
  const byPeople = { state: "open" as const, handler: "people" as const };
  if (view === "unanswered") return { unanswered: "true" as const, ...byPeople };
  return view === "open" ? byPeople : { state: view };
}

/** Whether a view has the newest first. */
export function isNewestFirst(view: View): boolean {
  return view !== "unanswered" && view !== "scheduled";
}

/** A chat in the list. `waited`: since when the contact waited who was answered while the chat is open. */
export type Row = Chat & { waited?: string | null | undefined };

/** The rows in the order of their view: the longest wait, the soonest message, the newest mention or the latest activity first. */
export function inOrder(rows: readonly Row[], view: View): Row[] {
  const time = (chat: Row) => {
    if (view === "unanswered") return Date.parse(chat.unansweredSince ?? chat.waited ?? "") || Number.POSITIVE_INFINITY;
    if (view === "scheduled") return Date.parse(chat.nextScheduledAt ?? "") || Number.POSITIVE_INFINITY;
    if (view === "mentions") return -Date.parse(chat.mention?.createdAt ?? "");
    return -Date.parse(chat.lastMessageAt ?? chat.createdAt);
  };
  const times = new Map(rows.map((row) => [row.id, time(row)]));
  const timeOf = ({ id }: Chat) => times.get(id) ?? 0;
  return rows.toSorted((one, other) => compare(timeOf(one), timeOf(other)) || compare(one.id, other.id));
}

/**
 * The rows with a chat as it is now. A chat that left the view goes, unless it is the open one: a list that moves under
 * the reader's hand makes people answer the wrong chat.
 */
export function withChat(rows: readonly Row[], now: Chat, shown: Shown, openId: string | null): Row[] {
  const known = rows.find(({ id }) => id === now.id);
  const others = rows.filter((row) => row !== known);
  // The list alone says who is mentioned.
  const chat = known?.mention ? { mention: known.mention, ...now } : now;
  if (belongs(chat, shown)) return inOrder([...others, chat], shown.view);
  if (!known || chat.id !== openId) return others;
  const stays = { ...chat, waited: known.unansweredSince ?? known.waited };
  return rows.map((row) => (row === known ? stays : row));
}

/** A chat after an event of its own. An event that says nothing about the list leaves it as it is. */
export function afterEvent(chat: Chat, event: FollowedEvent): Chat {
  const { chat: shown, message, scheduledAt } = event.data;
  // What is known of the chat is at least as new.
  if (event.type === "chat.created") return chat;
  if (shown) return { ...shown, ...newestActivity(shown, chat) };
  // Another message may be due before this one, which only the chat itself knows.
  if (typeof scheduledAt === "string") return { ...chat, nextScheduledAt: chat.nextScheduledAt ?? scheduledAt };
  return message ? afterMessage(chat, message) : chat;
}

/**
 * What a chat's messages say of it. An event shows the chat as it was then, and the chat may be known since a later
 * message, whose own event then changes nothing.
 */
export function newestActivity(
  shown: Chat,
  known: Chat,
): Pick<Chat, "lastMessage" | "lastMessageAt" | "unansweredSince" | "replyUntil"> {
  const isOlder = (shown.lastMessageAt ?? "") < (known.lastMessageAt ?? "");
  const { lastMessage, lastMessageAt, unansweredSince } = isOlder ? known : shown;
  // The contact's time to be answered only grows.
  const replyUntil = (shown.replyUntil ?? "") < (known.replyUntil ?? "") ? known.replyUntil : shown.replyUntil;
  return { lastMessage: lastMessage ?? known.lastMessage, lastMessageAt, unansweredSince, replyUntil };
}

/** Whether a chat is another one after an event. Of a deleted one there are no messages either, so that is found out. */
export function changes(chat: Chat, event: FollowedEvent): boolean {
  return event.chatId === chat.id && afterEvent(chat, event) !== chat;
}

/** Whether an event changes what is scheduled in its chat. */
export function isScheduling({ type, data }: FollowedEvent): boolean {
  const isPlaced = type === "message.created" && data.message?.scheduledAt !== undefined;
  return type === "message.scheduled" || data.seq === null || isPlaced;
}

/** A chat after a message of its own is new or changed. */
export function afterMessage(chat: Chat, message: Message): Chat {
  const { id, seq, direction, type, text, status, createdAt, standby } = message;
  if (seq === null || seq < (chat.lastMessage?.seq ?? 0)) return chat;
  const lastMessage = { id, seq, direction, type, text: text.slice(0, 160), status, createdAt };
  const isNew = seq > (chat.lastMessage?.seq ?? 0);
  if (!isNew) return { ...chat, lastMessage, lastMessageAt: createdAt };
  const isInbound = direction === "INBOUND";
  const unansweredSince = isInbound && !standby ? (chat.unansweredSince ?? createdAt) : leftBy(chat, message);
  const opened = isInbound && { replyUntil: openUntil(chat, message) };
  return { ...chat, lastMessage, lastMessageAt: createdAt, unansweredSince, ...opened };
}

/** Whether only the chat itself knows what a message leaves unanswered: the organization wrote it elsewhere, earlier. */
export function isUnclear(chat: Chat, { data }: FollowedEvent): boolean {
  const origin = data.message?.origin;
  return origin !== undefined && origin !== "away" && chat.unansweredSince !== null;
}

/** Since when the contact waits for an answer after a message that asks for none. */
function leftBy({ unansweredSince }: Chat, { direction, origin, networkTime, createdAt }: Message): string | null {
  if (direction === "INBOUND" || origin === "away") return unansweredSince;
  const answersUpTo = Date.parse(networkTime ?? createdAt) + SECOND_MS;
  const isLeft = origin !== undefined && unansweredSince !== null && Date.parse(unansweredSince) >= answersUpTo;
  return isLeft ? unansweredSince : null;
}

/** Until when the network takes free text, once the contact has written a message. */
function openUntil({ channel, createdAt, replyUntil: before }: Chat, message: Message): string | null {
  const until = replyUntil(channel.kind, Date.parse(createdAt), wroteAt(message));
  if (until === null || before === null) return before;
  return new Date(Math.max(until, Date.parse(before))).toISOString();
}

function compare<T extends number | string>(one: T, other: T): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
