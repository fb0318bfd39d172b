import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { Select } from "../parts/field.tsx";
import { IdentitySecret } from "./new-channel.tsx";

const OVERLAPS = [
  { seconds: 0, label: "At once: the secret leaked" },
  { seconds: 3_600, label: "In an hour" },
  { seconds: 86_400, label: "In a day" },
  { seconds: 604_800, label: "In a week" },
];

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
        <Select
          label="The old secret ends"
          hint="Until then both work, so that your site can change over without a gap."
          name="overlap"
        >
          {OVERLAPS.map(({ seconds, label }) => (
            <option key={seconds} value={seconds} selected={seconds === 86_400}>
              {label}
            </option>
          ))}
        </Select>
      </Form>
    </Dialog>
  );
}
