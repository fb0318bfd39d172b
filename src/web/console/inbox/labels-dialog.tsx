import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { foldedLabel } from "../../../model/label.ts";
import { textOf } from "../api.ts";
import { LabelDot } from "../labels/label-marks.tsx";
import { type Label, labelsChanged, useLabels } from "../labels/use-labels.ts";
import { usePlace } from "../organization.ts";
import { Checkbox } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";

/** Gives a chat labels and takes them off, each at once. */
export function LabelsDialog({ store }: { store: ConversationStore }) {
  const { api } = usePlace();
  const labels = useLabels();
  const words = useSignal("");
  const fault = useSignal("");
  const wanted = words.value.trim();
  const sought = foldedLabel(wanted);
  const all = labels.data ?? [];
  const given = store.chat.value?.labels ?? [];
  const found = all.filter(({ name }) => foldedLabel(name).includes(sought));
  const same = found.find(({ name }) => foldedLabel(name) === sought);
  const isNew = wanted !== "" && !same;
  /** What is under way, so that each box shows what it was set to. */
  const pending = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const last = useRef(Promise.resolve());
  /** Runs one work after the other, in the order of the clicks. */
  const inTurn = (work: () => Promise<void>) => {
    fault.value = "";
    last.current = last.current.then(work).catch((error: unknown) => void (fault.value = textOf(error)));
    return last.current;
  };
  const isOn = ({ id }: Label) => pending.value.get(id) ?? given.some((one) => one.id === id);
  const change = async (label: Label, isGiven: boolean) => {
    words.value = "";
    pending.value = new Map(pending.value).set(label.id, isGiven);
    await inTurn(() => store.label(label.id, isGiven));
    pending.value = new Map([...pending.value].filter(([id]) => id !== label.id));
  };
  const create = () =>
    inTurn(async () => {
      const { label } = await api.POST("/labels", { body: { name: wanted } });
      labelsChanged();
      await store.label(label.id, true);
      words.value = "";
    });
  const first = same ?? found[0];
  return (
    <Dialog title="Labels" atTop>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isNew && may("labels:write") && found.length === 0) void create();
          else if (first && wanted !== "") void change(first, !isOn(first));
        }}
      >
        <Field label="Find a label">
          {(ties) => (
            <input
              {...ties}
              autocomplete="off"
              value={words.value}
              onInput={({ currentTarget }) => (words.value = currentTarget.value)}
            />
          )}
        </Field>
      </form>
      {fault.value && (
        <p class="failed" role="alert">
          {fault.value}
        </p>
      )}
      <Loaded resource={labels} rows={3}>
        {() => (
          <div class="label-list">
            {found.map((label) => (
              <Checkbox
                key={label.id}
                checked={isOn(label)}
                onChange={({ currentTarget }) => void change(label, currentTarget.checked)}
              >
                <LabelDot color={label.color} /> <bdi>{label.name}</bdi>
              </Checkbox>
            ))}
            {all.length === 0 && wanted === "" && (
              <p class="quiet">There are no labels yet.{may("labels:write") && " Write the first one above."}</p>
            )}
            {isNew && may("labels:write") && (
              <button type="button" class="link" onClick={() => void create()}>
                Create “<bdi>{wanted}</bdi>”
              </button>
            )}
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}
