import type { JSX } from "preact";
import type { Channel } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { say } from "../parts/toast.tsx";
import { CredentialFields, credentialsIn } from "./channel-fields.tsx";

interface CredentialsProps {
  channel: Channel;
  onClose: () => void;
  onChannel: (changed: Channel) => void;
}

/** Replaces credentials. What is left empty stays. */
export function CredentialsDialog({ channel, onClose, onChannel }: CredentialsProps): JSX.Element {
  const { api } = usePlace();
  const { id, kind, credentials = {} } = channel;
  return (
    <Dialog title="Replace the credentials" onClose={onClose}>
      <Form
        submit="Replace"
        onCancel={onClose}
        onSubmit={async (entered) => {
          const body = { credentials: credentialsIn(kind, entered) };
          onChannel((await api.PATCH("/channels/{id}", { path: { id }, body })).channel);
          say("The credentials were replaced");
          onClose();
        }}
      >
        <p class="prose">They are used at once. Messages that wait are then tried again.</p>
        <CredentialFields kind={kind} ends={credentials} />
      </Form>
    </Dialog>
  );
}
