import { useSignal } from "@preact/signals";
import { fieldTime } from "../format.ts";
import { Chips } from "../parts/button.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { TimeInput } from "../parts/field.tsx";
import { laterTimes } from "./later-times.ts";

/** Asks until when a chat is snoozed. @param onSnooze is given the time, RFC 3339. Throws ParleyError */
export function SnoozeDialog({ onSnooze }: { onSnooze: (until: string) => Promise<void> }) {
  const presets = laterTimes(Date.now());
  const until = useSignal(fieldTime(presets[1]?.at ?? 0));
  const time = new Date(until.value).getTime();
  return (
    <FormDialog
      title="Snooze the chat"
      submit="Snooze"
      isDisabled={Number.isNaN(time)}
      onSubmit={() => onSnooze(new Date(time).toISOString())}
    >
      <p class="stack">It comes back at this time, or as soon as the contact writes.</p>
      <Chips choices={presets.map(({ label, at }) => ({ label, choose: () => (until.value = fieldTime(at)) }))} />
      <TimeInput label="Until" path="snoozedUntil" required value={until} />
    </FormDialog>
  );
}
