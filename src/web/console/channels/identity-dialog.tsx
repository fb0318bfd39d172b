import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { OverlapField } from "../parts/overlap-field.tsx";
import { IdentitySecret } from "./new-channel.tsx";

/** Gives a web chat a new identity secret. */
export function RotateIdentity({ id, onClose }: { id: string; onClose: () => void }): JSX.Element {
  const { api } = usePlace();
  const secret = useSignal<string | null>(null);
  if (secret.value !== null) return <IdentitySecret secret={secret.value} onClose={onClose} />;
  return (
    <Dialog title="New identity secret" onClose={onClose}>
      <Form
        submit="Create it"
        onCancel={onClose}
        onSubmit={async ({ text }) => {
          const body = { overlapSeconds: Number(text("overlap")) };
          const answer = await api.POST("/channels/{id}/identity-secret", { path: { id }, body });
          secret.value = answer.identitySecret;
        }}
      >
        <OverlapField user="your site" />
      </Form>
    </Dialog>
  );
}
