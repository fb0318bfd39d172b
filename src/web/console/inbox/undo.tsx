import { signal } from "@preact/signals";
import type { Channel } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Select } from "../parts/field.tsx";

/** How many seconds ahead a send is scheduled, so that it can be undone; see `Sending`. 0: it is sent at once. */
interface UndoTimes {
  /** In web chats. A visitor waits on the page. */
  web: number;
  /** In the networks' chats. */
  networks: number;
}

/** By seconds. */
const CHOICES = { 0: "Off: messages are sent at once", 2: "2 seconds", 5: "5 seconds", 10: "10 seconds" };
const STORED = "parley.console.undo";

/** Each person's own setting, kept in the browser. */
const undoTimes = signal<UndoTimes>({ web: 0, networks: 5, ...JSON.parse(localStorage.getItem(STORED) ?? "{}") });

/** How long a send to a channel of this kind can be undone, in milliseconds. */
export function undoMs(kind: Channel["kind"]): number {
  return undoTimes.value[kind === "web" ? "web" : "networks"] * 1_000;
}

/** Asks for how long sends can be undone. */
export function UndoDialog() {
  const choose = (part: keyof UndoTimes, seconds: string) => {
    undoTimes.value = { ...undoTimes.value, [part]: Number(seconds) };
    localStorage.setItem(STORED, JSON.stringify(undoTimes.value));
  };
  const field = (part: keyof UndoTimes, label: string, hint: string) => (
    <Select
      label={label}
      hint={hint}
      options={CHOICES}
      first={String(undoTimes.value[part])}
      onChange={(event) => choose(part, event.currentTarget.value)}
    />
  );
  return (
    <Dialog title="Time to undo">
      <p class="stack">A message waits for this time before it is sent. The setting is kept in this browser.</p>
      {field("web", "In web chats", "A visitor may be waiting on the page.")}
      {field("networks", "In other chats", "Escape takes back the last message.")}
    </Dialog>
  );
}
