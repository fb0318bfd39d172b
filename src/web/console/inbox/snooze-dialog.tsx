import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Chat } from "../api.ts";
import { fieldTime } from "../format.ts";
import { Chips } from "../parts/button.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { TimeInput } from "../parts/field.tsx";
import { laterTimes } from "./later-times.ts";

interface SnoozeDialogProps {
  /** Is given the time, RFC 3339. Throws ParleyError. */
  onSnooze: (until: string) => Promise<void>;
  /** The chat, if it is one: a colleague may close it meanwhile. */
  chat?: Signal<Chat | null>;
}

/** Asks until when chats are snoozed. */
export function SnoozeDialog({ onSnooze, chat }: SnoozeDialogProps) {
  const { state, snoozedUntil } = chat?.value ?? {};
  const untilBefore = useRef(snoozedUntil);
  const stateBefore = useRef(state);
  const presets = laterTimes(Date.now());
  const until = useSignal(fieldTime(presets[1]?.at ?? 0));
  const time = new Date(until.value).getTime();
  return (
    <FormDialog
      title={chat ? "Snooze the chat" : "Snooze the chats"}
      submit="Snooze"
      isDisabled={Number.isNaN(time)}
      onSubmit={() => onSnooze(new Date(time).toISOString())}
    >
      {(state !== stateBefore.current || snoozedUntil !== untilBefore.current) && (
        <p class="notice tone-warn" role="alert">
          Somebody {state === "open" ? "reopened" : state} it meanwhile.
        </p>
      )}
      <p class="stack">It comes back at this time, or as soon as the contact writes.</p>
      <Chips choices={presets.map(({ label, at }) => ({ label, choose: () => (until.value = fieldTime(at)) }))} />
      <TimeInput label="Until" path="snoozedUntil" required value={until} />
    </FormDialog>
  );
}
