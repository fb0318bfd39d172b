import type { JSX } from "preact";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { OverlapField } from "../parts/overlap-field.tsx";
import type { Made } from "./key-form.tsx";

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
        <OverlapField user="the program" />
      </Form>
    </Dialog>
  );
}
