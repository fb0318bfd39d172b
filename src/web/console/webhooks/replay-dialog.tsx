import { useSignal } from "@preact/signals";
import type { Schemas } from "../api.ts";
import { fieldTime, HOUR_MS, number } from "../format.ts";
import { usePlace } from "../organization.ts";
import { MainButton } from "../parts/button.tsx";
import { Select } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { Meter } from "../parts/meter.tsx";
import { closeDialog } from "../parts/opened-dialog.tsx";
import { usePolling } from "../polling.ts";
import { serviceNow } from "../service-clock.ts";

const ASK_MS = 1_500;

interface ReplayProps {
  id: string;
  /** How many events were given up. */
  failed: number;
  /** The dialog is closed after a replay began. */
  onChanged: () => void;
}

/** Sends events to a webhook again, and shows how far it is. */
export function ReplayDialog({ id, failed, onChanged }: ReplayProps) {
  const { api } = usePlace();
  const which = useSignal<"failed" | "since">(failed > 0 ? "failed" : "since");
  const replay = useSignal<Schemas["Replay"] | null>(null);
  const close = () => {
    closeDialog();
    onChanged();
  };
  usePolling(replay.value?.state === "running", ASK_MS, async () => {
    const path = { id, replayId: replay.value?.id ?? "" };
    const answer = await api.GET("/webhooks/{id}/replays/{replayId}", { path }).catch(() => null);
    if (answer) replay.value = answer.replay;
  });

  if (replay.value) {
    const { state, found, sent } = replay.value;
    return (
      <Dialog title="Send again" onClose={close}>
        <div class="stack" role="status">
          <p>
            {state === "running" ? "In progress: " : "Done: "}
            {number(sent)} of {number(found)} events were accepted.
          </p>
          {state === "running" && <p class="quiet">You can close this.</p>}
        </div>
        <Meter label="Accepted events" value={sent} max={found} tone="good" />
        <div class="form-actions">
          <MainButton onClick={close}>Close</MainButton>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Send again" onClose={close}>
      <Form
        submit="Send again"
        onCancel={close}
        onSubmit={async ({ text }) => {
          const body =
            which.value === "failed" ? ({ failed: true } as const) : { since: new Date(text("since")).toISOString() };
          replay.value = (await api.POST("/webhooks/{id}/replays", { path: { id }, body })).replay;
        }}
      >
        <Select
          label="Which events"
          hint="Your program can receive an event twice."
          value={which.value}
          onChange={({ currentTarget }) => (which.value = currentTarget.value === "failed" ? "failed" : "since")}
          options={{ failed: `Those that were given up (${number(failed)})`, since: "All since a time" }}
        />
        {which.value === "since" && (
          <Input
            label="Since"
            name="since"
            type="datetime-local"
            required
            defaultValue={fieldTime(serviceNow() - HOUR_MS)}
          />
        )}
      </Form>
    </Dialog>
  );
}
