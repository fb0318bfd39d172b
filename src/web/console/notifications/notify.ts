import { effect } from "@preact/signals";
import type { FollowedEvent } from "../../../client/event.ts";
import { asParleyError, type Chat } from "../api.ts";
import { leading } from "../inbox/live.ts";
import { currentPath, follow } from "../location.ts";
import { contactName } from "../names.ts";
import type { Place } from "../organization.ts";
import { say } from "../parts/toast.tsx";
import { currentSession } from "../session.ts";
import { markRead, markUnread, unread, type Why } from "../unread.ts";
import { chime } from "./chime.ts";
import { FIRST_CHOICE, permission, readChoice } from "./choice.ts";

/** The minimum time between two notifications. */
const EVERY_MS = 4_000;
/** A tab in which the person looks at a chat marks it as read within this time. */
const LOOK_MS = 300;
const SECOND_MS = 1_000;
/** More chats than this share one notification. */
const MOST_AT_ONCE = 3;

type Person = { id: string | null; name: string | null } | null;

/** The data of the events that cause notifications. */
interface Reported {
  chat?: Chat;
  state?: string;
  assigneeId?: string | null;
  by?: Person;
  note?: { author: Person; mentions: string[] };
  /** Who got a chat, and why. */
  to?: string;
  reason?: string;
}

/** The chats that wait for a notification, by id and reason. `isOwn`: this tab led when it heard of it. */
const waiting = new Map<
  string,
  [heardAt: number, place: Place, chatId: string, why: Why, text: string, isOwn: boolean]
>();
const shown = new Map<string, Notification>();
let notifiedAt = 0;

/**
 * Tells the person of an event of a chat, as they chose. Only the tab that leads does. The others remember the event as
 * long as it may wait, because the leading tab may close before it notifies.
 * @param event null if events may have been missed
 */
export function notify(place: Place, event: FollowedEvent | null, isLeading: boolean): void {
  if (!event && isLeading) for (const id of unread.value) void wantedChat(place, id, "message");
  const { type, chatId, data, timestamp = "" } = event ?? {};
  if (!chatId) return;
  const { chat, state, assigneeId, by, note, to, reason } = data as Reported;
  const own = currentSession().member?.id;
  const wait = (why: Why, text: string) => {
    const after = isLeading ? notifiedAt + EVERY_MS - Date.now() : EVERY_MS;
    if (waiting.size === 0) setTimeout(() => void tellWaiting(place), after);
    // Behind all that it heard of before: what is forgotten is in the order of its time.
    waiting.delete(chatId + why);
    waiting.set(chatId + why, [Date.now(), place, chatId, why, text, isLeading]);
  };
  if (type === "message.received") wait("message", "New message");
  if (isLeading) {
    if (type === "message.created") markRead(chatId, "message");
    if (type === "chat.deleted") markRead(chatId);
    if ((type === "chat.assigned" && assigneeId !== own) || to === "bot") void wantedChat(place, chatId, "message");
  }
  // Whoever wrote to take it over needs no help.
  if (to === "people" && reason !== "took_over" && (!own || by?.id !== own)) wait("message", "Handed to people");
  if (type === "chat.state" && state === "open" && !by && chat) {
    // A message opens a chat in the same moment. Else its snooze ended.
    const quietMs = Date.parse(timestamp) - Date.parse(chat.lastMessageAt ?? chat.createdAt);
    if (quietMs > SECOND_MS && (chat.unansweredSince || chat.assigneeId === own))
      wait(chat.unansweredSince ? "message" : "person", "Back from its snooze");
  }
  /** The open page says so too. */
  const concerns = (text: string) => {
    wait("person", text);
    const action = { label: "Open", run: () => follow(place.to(`inbox/${chatId}`)) };
    if (!currentPath.value.includes(chatId)) say(chat ? `${contactName(chat)}: ${text}` : text, action);
  };
  // Nobody is notified of what they did themselves.
  if (type === "chat.assigned" && own && assigneeId === own && by?.id !== own)
    concerns(`${nameOf(by)} gave you this chat`);
  if (own && note?.mentions.includes(own) && note.author?.id !== own && type === "note.created")
    concerns(`${nameOf(note.author)} mentioned you`);
}

async function tellWaiting(here: Place): Promise<void> {
  if (!leading) {
    for (const [key, [heardAt]] of waiting) {
      const left = heardAt + EVERY_MS - Date.now();
      // The rest is newer, and the leading tab may not have told of it.
      if (left > 0) return void setTimeout(() => void tellWaiting(here), left);
      waiting.delete(key);
    }
    return;
  }
  const texts = new Map<string, [title: string, text: string]>();
  const now = [...waiting.values()];
  waiting.clear();
  notifiedAt = Date.now();
  for (const [, place, id, why, text, isOwn] of now) {
    // The tab that led before has shown it.
    if (!isOwn && unread.value.has(id)) continue;
    const chat = await wantedChat(place, id, why);
    if (!chat) continue;
    markUnread(id, why);
    texts.set(id, [contactName(chat), `${text} · ${chat.channel.name}`]);
  }
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  const left = [...texts].filter(([id]) => unread.value.has(id));
  if (left.length > MOST_AT_ONCE)
    show("many", `${left.length} chats are new to you`, here.organization.name, here.to("inbox"));
  else for (const [id, [title, text]] of left) show(id, title, text, here.to(`inbox/${id}`));
}

/** The chat, if the person wants notifications of it. Else it is not unread for this reason. */
async function wantedChat({ api }: Place, id: string, why: Why): Promise<Chat | null> {
  const { of } = readChoice() ?? FIRST_CHOICE;
  try {
    const { chat } = await api.GET("/chats/{id}", { path: { id } });
    const { assigneeId, unansweredSince, handler } = chat;
    const isMine = assigneeId === null || assigneeId === currentSession().member?.id;
    const isWanted = why === "person" ? of !== "none" : unansweredSince && (of === "all" || (of === "mine" && isMine));
    if (isWanted && handler === "people") return chat;
    markRead(id, why);
  } catch (error) {
    if (asParleyError(error).status === 404) markRead(id);
  }
  return null;
}

/**
 * Shows a notification, if the person wants any. Its text says who and where, never what was written.
 * @param id a newer notification with the same one takes its place
 */
export function show(id: string, title: string, body: string, path: string): void {
  const { of, hasSound } = readChoice() ?? FIRST_CHOICE;
  if (of === "none") return;
  if (hasSound) chime();
  if (permission.value !== "granted") return;
  try {
    // `silent`: the system has a sound of its own. `renotify`: a second message of a chat notifies too.
    const options = { body, tag: id, silent: true, renotify: true };
    const notification = new Notification(title, options);
    notification.onclick = () => {
      focus();
      follow(path);
      notification.close();
    };
    shown.set(id, notification);
  } catch {
    // Phones show none for a page without a service worker.
  }
}

effect(() => {
  const { value } = unread;
  for (const [id, notification] of shown) {
    if (!id.startsWith("cht") || value.has(id)) continue;
    notification.close();
    shown.delete(id);
  }
});
// A click on one would lead nowhere.
addEventListener("pagehide", () => {
  for (const notification of shown.values()) notification.close();
});

/** A name that does not change the direction of the text after it. */
function nameOf(person: Person | undefined): string {
  return `\u2068${person?.name ?? "The operator"}\u2069`;
}
