import { useSignal } from "@preact/signals";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Button, TextButton } from "../parts/button.tsx";
import { Checkbox } from "../parts/controls.tsx";
import { Confirm, FormDialog } from "../parts/dialog.tsx";
import { Field, Input } from "../parts/field.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { may } from "../session.ts";
import { LabelDot } from "./label-marks.tsx";
import { type Label, labelsChanged, useLabels } from "./use-labels.ts";

const FIRST_COLOR = "#0d6b5e";

/** The organization's labels, and what changes them. */
export function LabelSettings() {
  const { api } = usePlace();
  const labels = useLabels();
  const mayWrite = may("labels:write");
  const edit = (label: Label) => (
    <LabelDialog
      label={label}
      onSave={async (body) => {
        await api.PATCH("/labels/{labelId}", { path: { labelId: label.id }, body });
        labelsChanged();
      }}
    />
  );
  const create = (
    <LabelDialog
      label={null}
      onSave={async (body) => {
        await api.POST("/labels", { body });
        labelsChanged();
      }}
    />
  );
  const remove = ({ id, name, chats }: Label) => (
    <Confirm
      title={`Delete the label “${name}”?`}
      submit="Delete"
      done="Deleted"
      onSubmit={async () => {
        await api.DELETE("/labels/{labelId}", { path: { labelId: id } });
        labelsChanged();
      }}
    >
      <p>{chats === 0 ? "No chat has it." : `${plural(chats, "chat")} will lose it.`} This can’t be undone.</p>
    </Confirm>
  );
  return (
    <section class="section">
      <div class="between">
        <h2>Labels</h2>
        {mayWrite && (
          <Button icon="plus" class="button" opens={create}>
            New label
          </Button>
        )}
      </div>
      <Loaded resource={labels} rows={2}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">A label is a name for chats, to find them again. There are none yet.</p>
          ) : (
            <ul class="rows">
              {all.map((label) => (
                <li key={label.id} class="row between">
                  <span class="label">
                    <LabelDot color={label.color} />
                    <bdi>{label.name}</bdi>
                  </span>
                  <span class="quiet end">{plural(label.chats, "chat")}</span>
                  {mayWrite && (
                    <>
                      <TextButton opens={edit(label)}>Change</TextButton>
                      <TextButton opens={remove(label)}>Delete</TextButton>
                    </>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

interface LabelDialogProps {
  /** Null: a new one. */
  label: Label | null;
  /** @throws ParleyError */
  onSave: (body: { name: string; color: string | null }) => Promise<void>;
}

/** Asks for a label’s name and color. */
export function LabelDialog({ label, onSave }: LabelDialogProps) {
  const color = useSignal(label?.color ?? null);
  return (
    <FormDialog
      title={label ? "Change the label" : "New label"}
      submit={label ? "Save" : "Create"}
      onSubmit={({ text }) => onSave({ name: text("name"), color: color.value })}
    >
      <Input label="Name" name="name" required defaultValue={label?.name ?? ""} />
      <Checkbox
        checked={color.value !== null}
        onChange={({ currentTarget }) => (color.value = currentTarget.checked ? FIRST_COLOR : null)}
      >
        It has a color
      </Checkbox>
      {color.value !== null && (
        <Field label="Color" path="color">
          {(ties) => (
            <input
              {...ties}
              type="color"
              value={color.value ?? FIRST_COLOR}
              onInput={({ currentTarget }) => (color.value = currentTarget.value)}
            />
          )}
        </Field>
      )}
    </FormDialog>
  );
}
