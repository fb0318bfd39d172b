import { useSignal } from "@preact/signals";
import { fieldTime, HOUR_MS } from "../format.ts";
import { Chips } from "../parts/button.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { TimeInput } from "../parts/field.tsx";
import { now } from "../parts/time.tsx";
import type { Draft } from "./drafts.ts";
import { laterTimes } from "./later-times.ts";
import { requireFuture } from "./require-future.ts";

interface LaterProps {
  text: string;
  onSend: (times: Pick<Draft, "scheduledAt" | "expiresAt">) => Promise<void>;
}

/** Asks when a message is sent, and until when it makes sense. */
export function LaterDialog({ text, onSend }: LaterProps) {
  const at = useSignal(fieldTime(Date.now() + HOUR_MS));
  const until = useSignal("");
  const time = new Date(at.value).getTime();
  const isPast = time <= now.value;
  return (
    <FormDialog
      title="Send later"
      submit={isPast ? "Send now" : "Schedule"}
      isDisabled={text === "" || Number.isNaN(time)}
      onSubmit={() => {
        requireFuture(time, isPast);
        const expiresAt = until.value === "" ? {} : { expiresAt: new Date(until.value).toISOString() };
        return onSend({ ...(!isPast && { scheduledAt: new Date(time).toISOString() }), ...expiresAt });
      }}
    >
      {text === "" && <p class="stack">Write the message first.</p>}
      <Chips
        choices={laterTimes(Date.now()).map(({ label, at: preset }) => ({
          label,
          choose: () => (at.value = fieldTime(preset)),
        }))}
      />
      <TimeInput label="Send at" path="scheduledAt" required value={at} />
      <TimeInput
        label="Not after"
        path="expiresAt"
        hint="Optional. It is not delivered after this time."
        value={until}
      />
    </FormDialog>
  );
}
