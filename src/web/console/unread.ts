import { effect, signal } from "@preact/signals";
import { currentPath } from "./location.ts";
import { currentSession } from "./session.ts";

/** Why a chat is unread: the contact wrote, or a colleague named the person or gave the chat to them. */
const WHYS = ["message", "person"] as const;
export type Why = (typeof WHYS)[number];

const MOST_ON_ICON = 9;

/** The ids of the chats with something new for the person, as all tabs of the browser know them. */
export const unread = signal<ReadonlySet<string>>(new Set());

/** The document's title without the number of unread chats. */
export const pageTitle = signal("");

/** Each chat has an entry of its own for each reason, so that tabs which change several at once lose none. */
let prefix = " ";

/** Counts the unread chats of an organization for the person who is signed in. */
export function countUnread(organizationId: string): void {
  prefix = `parley.unread ${organizationId} ${currentSession().member?.id} `;
  read();
}

export function markUnread(chatId: string, why: Why): void {
  localStorage.setItem(`${prefix}${chatId} ${why}`, "");
  read();
}

/** @param why the reason that no longer holds; all by default. Every sent message asks, so it looks only where it must. */
export function markRead(chatId: string, why?: Why): void {
  const entries = (why ? [why] : WHYS).map((each) => `${prefix}${chatId} ${each}`);
  const stored = entries.filter((entry) => localStorage.getItem(entry) !== null);
  for (const entry of stored) localStorage.removeItem(entry);
  if (stored.length > 0) read();
}

/** Draws nothing again if nothing changed: each row of the list of chats looks at this. */
function read(): void {
  const entries = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  const now = new Set(entries.map((entry) => entry.split(" ")[3] ?? ""));
  if ([...now].sort().join() !== [...unread.value].sort().join()) unread.value = now;
}

/** A chat is read once the person looks at it. */
function look(): void {
  const [id = ""] = currentPath.value.split("/").slice(-1);
  if (unread.value.has(id) && document.hasFocus()) markRead(id);
}

addEventListener("storage", read);
addEventListener("focus", look);
effect(look);
effect(() => {
  const count = unread.value.size;
  const screen = pageTitle.value;
  document.title = `${count > 0 ? `(${count}) ` : ""}${screen && `${screen} · `}Parley`;
  const text = count > MOST_ON_ICON ? `${MOST_ON_ICON}+` : count || "P";
  const icon = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'><circle cx='9' cy='9' r='9' fill='%23${count > 0 ? "c62828" : "0d6b5e"}'/><text x='9' y='13' font-size='12' text-anchor='middle' fill='%23fff'>${text}</text></svg>`;
  document.querySelector("[rel=icon]")?.setAttribute("href", `data:image/svg+xml,${icon}`);
});
