import { Select } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { setUndoTime, type UndoTimes, undoTimes } from "./undo.ts";

/** By seconds. */
const CHOICES = { 0: "Off: messages are sent at once", 2: "2 seconds", 5: "5 seconds", 10: "10 seconds" };

/** Asks for how long sends can be undone. */
export function UndoDialog() {
  const field = (part: keyof UndoTimes, label: string, hint: string) => (
    <Select
      label={label}
      hint={hint}
      options={CHOICES}
      first={String(undoTimes.value[part])}
      onChange={(event) => setUndoTime(part, Number(event.currentTarget.value))}
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
