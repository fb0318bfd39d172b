import { signal } from "@preact/signals";
import { currentSession } from "../session.ts";

/** Which notifications a person wants, and whether with a sound. */
export interface Choice {
  /** `mine` has nobody's chats too. All but `none` have what a colleague sends the person: mentions and chats. */
  of: "all" | "mine" | "mentions" | "none";
  hasSound?: boolean;
}

const key = () => `parley.notifications ${currentSession().member?.id}`;

/** The person's choice, which is kept in the browser; null before the first one. */
export function readChoice(): Choice | null {
  return JSON.parse(localStorage.getItem(key()) ?? "null");
}

/** What counts before the first choice. */
export const FIRST_CHOICE: Choice = { of: "mine" };

export function saveChoice(choice: Choice): void {
  localStorage.setItem(key(), JSON.stringify(choice));
}

/** Whether the browser shows notifications: `granted`, `denied`, or something else as long as nobody has said. */
export const permission = signal("");

/** Asks the person. Only on a click: browsers hide a question that nobody wanted. */
export async function askPermission(): Promise<void> {
  permission.value = await Notification.requestPermission();
}

void navigator.permissions?.query({ name: "notifications" }).then((status) => {
  const read = () => (permission.value = status.state);
  // The person can change it in the browser at any time.
  status.onchange = read;
  read();
});
