import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Organization } from "../api.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";

interface NameProps {
  name: string;
  onSave: (patch: object) => Promise<void>;
}

/** Renames the organization. */
export function NameDialog({ name, onSave }: NameProps): JSX.Element {
  return (
    <FormDialog title="Organization’s name" submit="Save" onSubmit={({ text }) => onSave({ name: text("name") })}>
      <Input label="Name" name="name" required maxLength={256} defaultValue={name} />
    </FormDialog>
  );
}

interface LimitsProps {
  organization: Organization;
  onSave: (patch: object) => Promise<void>;
}

/** Changes the limits, for the operator. An empty field is no limit. */
export function LimitsDialog({ organization: { limits, selfService }, onSave }: LimitsProps): JSX.Element {
  const isOn = useSignal(selfService !== null);
  return (
    <FormDialog
      title="Limits"
      submit="Save"
      onSubmit={({ number }) => {
        const ceilings = {
          maxKeys: number("maxKeys"),
          maxPerSecond: number("maxPerSecond"),
          monthlyQuota: number("monthlyQuota"),
        };
        return onSave({ limits: { chats: number("chats") }, selfService: isOn.value ? ceilings : null });
      }}
    >
      <p class="stack">An empty field is no limit.</p>
      <Limit label="Chats" name="chats" value={limits.chats} max={1_000_000_000} />
      <label class="beside">
        <input
          type="checkbox"
          checked={isOn.value}
          onChange={({ currentTarget }) => (isOn.value = currentTarget.checked)}
        />
        Members and keys with <code>keys:write</code> manage keys
      </label>
      {isOn.value && (
        <>
          <Limit label="Keys" name="maxKeys" value={selfService?.maxKeys ?? null} max={100_000} />
          <Limit
            label="Requests of a key in a second"
            name="maxPerSecond"
            value={selfService?.maxPerSecond ?? null}
            min={1}
            max={1_000}
          />
          <Limit label="Sum of monthly quotas" name="monthlyQuota" value={selfService?.monthlyQuota ?? null} />
        </>
      )}
    </FormDialog>
  );
}

interface LimitProps {
  label: string;
  name: string;
  value: number | null;
  min?: number;
  max?: number;
}

function Limit({ label, name, value, min = 0, max }: LimitProps): JSX.Element {
  return (
    <Input
      label={label}
      name={name}
      type="number"
      min={min}
      max={max}
      placeholder="No limit"
      defaultValue={value ?? undefined}
    />
  );
}
