import { useSignal } from "@preact/signals";
import { call, type Organization, ParleyError } from "../api.ts";
import { Confirm } from "../parts/dialog.tsx";

/** The service deletes in steps, and answers 503 until it is done. */
const MAX_STEPS = 200;

/** Deletes the organization, for the operator. */
export function DeleteOrganization({ organization: { id, name } }: { organization: Organization }) {
  const step = useSignal(0);
  const deleteAll = async () => {
    for (step.value = 1; ; step.value++) {
      try {
        await call("DELETE", `/organizations/${id}`);
        break;
      } catch (error) {
        const isUnfinished = error instanceof ParleyError && error.status === 503 && error.retryAfterSeconds !== null;
        if (!isUnfinished || step.value === MAX_STEPS) throw error;
        const seconds = Math.max(1, error.retryAfterSeconds ?? 1);
        await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      }
    }
    // Nothing of it stays on the page.
    location.assign("/console/");
  };
  return (
    <Confirm title={`Delete ${name}?`} submit="Delete everything" typed={name} onSubmit={deleteAll}>
      <p>All its chats, messages, channels, keys and members are deleted. This can’t be undone.</p>
      {step.value > 1 && <p role="status">Deleting. Keep this page open.</p>}
    </Confirm>
  );
}
