import { usePlace } from "../organization.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { say } from "../parts/toast.tsx";
import { CredentialFields, credentialsIn } from "./channel-fields.tsx";
import type { ChannelProps } from "./channel-kinds.ts";

/** Replaces credentials. What is left empty stays. */
export function CredentialsDialog({ channel, onChannel }: ChannelProps) {
  const { api } = usePlace();
  const { id, kind, credentials = {} } = channel;
  return (
    <FormDialog
      title="Replace the credentials"
      submit="Replace"
      onSubmit={async (entered) => {
        const body = { credentials: credentialsIn(kind, entered) };
        onChannel(await api.PATCH("/channels/{id}", { path: { id }, body }));
        say("Saved");
      }}
    >
      <p class="stack">Waiting messages are then tried again.</p>
      <CredentialFields kind={kind} ends={credentials} />
    </FormDialog>
  );
}
