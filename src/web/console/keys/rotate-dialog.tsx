import { usePlace } from "../organization.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { OverlapField } from "../parts/overlap-field.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { Time } from "../parts/time.tsx";
import type { Key } from "./key-state.ts";

/** Gives a key a new secret. */
export function RotateDialog({ id, onKey }: { id: string; onKey: (changed: { key: Key }) => void }) {
  const { api } = usePlace();
  return (
    <FormDialog
      title="New secret"
      submit="Rotate"
      onSubmit={async ({ number }) => {
        const body = { overlapSeconds: number("overlap") ?? 0 };
        const { key, secret } = await api.POST("/keys/{id}/rotate", { path: { id }, body });
        onKey({ key });
        openDialog(
          <SecretDialog title="Save the new secret now" secret={secret}>
            Give it to the program
            {key.previousSecretExpiresAt ? (
              <>
                {" "}
                before the old one ends, <Time at={key.previousSecretExpiresAt} future />.
              </>
            ) : (
              ". The old one no longer works."
            )}
          </SecretDialog>,
        );
      }}
    >
      <p class="stack">The key keeps its id, permissions and limits.</p>
      <OverlapField user="the program" />
    </FormDialog>
  );
}
