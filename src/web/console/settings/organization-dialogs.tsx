import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Organization } from "../api.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";

interface NameProps {
  name: string;
  onSave: (patch: object) => Promise<void>;
  onClose: () => void;
}

/** Renames the organization. */
export function NameDialog({ name, onSave, onClose }: NameProps): JSX.Element {
  return (
    <Dialog title="Organization’s name" onClose={onClose}>
      <Form submit="Save" onCancel={onClose} onSubmit={({ text }) => onSave({ name: text("name") })}>
        <Input label="Name" name="name" required maxLength={256} defaultValue={name} />
      </Form>
    </Dialog>
  );
}

interface LimitsProps {
  organization: Organization;
  onSave: (patch: object) => Promise<void>;
  onClose: () => void;
}

/** Changes the limits, for the operator. An empty field is no limit. */
export function LimitsDialog({ organization: { limits, selfService }, onSave, onClose }: LimitsProps): JSX.Element {
  const isOn = useSignal(selfService !== null);
  return (
    <Dialog title="Limits" onClose={onClose}>
      <Form
        submit="Save"
        onCancel={onClose}
        onSubmit={({ text }) => {
          const limit = (name: string) => (text(name) === "" ? null : Number(text(name)));
          const ceilings = {
            maxKeys: limit("maxKeys"),
            maxPerSecond: limit("maxPerSecond"),
            monthlyQuota: limit("monthlyQuota"),
          };
          return onSave({ limits: { chats: limit("chats") }, selfService: isOn.value ? ceilings : null });
        }}
      >
        <p class="prose">An empty field is no limit.</p>
        <Limit label="Chats" name="chats" value={limits.chats} max={1_000_000_000} />
        <label class="check">
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
      </Form>
    </Dialog>
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
