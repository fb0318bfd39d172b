import type { JSX } from "preact";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { Select } from "../parts/field.tsx";
import type { Made } from "./key-form.tsx";

const OVERLAPS = [
  { seconds: 0, label: "At once: the secret leaked" },
  { seconds: 3_600, label: "In an hour" },
  { seconds: 86_400, label: "In a day" },
  { seconds: 604_800, label: "In a week" },
];

interface RotateProps {
  id: string;
  onClose: () => void;
  onMade: (made: Made) => void;
}

/** Gives a key a new secret. */
export function RotateDialog({ id, onClose, onMade }: RotateProps): JSX.Element {
  const { api } = usePlace();
  return (
    <Dialog title="New secret" onClose={onClose}>
      <Form
        submit="Rotate"
        onCancel={onClose}
        onSubmit={async ({ text }) => {
          const body = { overlapSeconds: Number(text("overlap")) };
          onMade(await api.POST("/keys/{id}/rotate", { path: { id }, body }));
        }}
      >
        <p class="prose">The key keeps its id, permissions, limits and counts.</p>
        <Select
          label="The old secret ends"
          hint="Until then both work, so that the program can change over without a gap."
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
