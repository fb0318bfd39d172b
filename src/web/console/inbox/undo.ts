import { signal } from "@preact/signals";
import type { Channel } from "../api.ts";

/** How many seconds ahead a send is scheduled, so that it can be undone; see `Sending`. 0: it is sent at once. */
export interface UndoTimes {
  /** In web chats. A visitor waits on the page. */
  web: number;
  /** In the networks' chats. */
  networks: number;
}

const STORED = "parley.console.undo";

/** Each person's own setting, kept in the browser. */
export const undoTimes = signal<UndoTimes>({
  web: 0,
  networks: 5,
  ...JSON.parse(localStorage.getItem(STORED) ?? "{}"),
});

/** How long a send to a channel of this kind can be undone, in milliseconds. */
export function undoMs(kind: Channel["kind"]): number {
  return undoTimes.value[kind === "web" ? "web" : "networks"] * 1_000;
}

export function setUndoTime(part: keyof UndoTimes, seconds: number): void {
  undoTimes.value = { ...undoTimes.value, [part]: seconds };
  localStorage.setItem(STORED, JSON.stringify(undoTimes.value));
}
