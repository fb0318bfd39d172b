import { useSignal } from "@preact/signals";
import { call, type Organization, ParleyError } from "../api.ts";
import { Confirm, FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";

interface NameProps {
  name: string;
  onSave: (patch: object) => Promise<void>;
}

/** Renames the organization. */
export function NameDialog({ name, onSave }: NameProps) {
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

/** Changes the limits, for the operator. An empty field restores the default. */
export function LimitsDialog({ organization: { limits, selfService }, onSave }: LimitsProps) {
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
        const limits = {
          chats: number("chats"),
          members: number("members"),
          templates: number("templates"),
          channels: number("channels"),
        };
        return onSave({ limits, selfService: isOn.value ? ceilings : null });
      }}
    >
      <div class="pair-even">
        <Limit label="Chats" name="chats" within="limits" value={limits.chats} max={1_000_000_000} />
        <Limit label="Members" name="members" within="limits" value={limits.members} placeholder="1,000" />
        <Limit label="Templates" name="templates" within="limits" value={limits.templates} placeholder="1,000" />
        <Limit label="Channels" name="channels" within="limits" value={limits.channels} placeholder="200" />
      </div>
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
          <Limit
            label="Keys"
            name="maxKeys"
            within="selfService"
            placeholder="1,000"
            value={selfService?.maxKeys ?? null}
            max={100_000}
          />
          <Limit
            label="Requests per second, per key"
            name="maxPerSecond"
            within="selfService"
            value={selfService?.maxPerSecond ?? null}
            min={1}
            max={1_000}
          />
          <Limit
            label="Sum of monthly quotas"
            name="monthlyQuota"
            within="selfService"
            value={selfService?.monthlyQuota ?? null}
          />
        </>
      )}
    </FormDialog>
  );
}

interface LimitProps {
  label: string;
  name: string;
  /** The field of the request that has it: `limits`. */
  within: string;
  value: number | null;
  /** What an empty field means. */
  placeholder?: string;
  min?: number;
  max?: number;
}

function Limit({ within, name, value, min = 0, placeholder = "No limit", ...input }: LimitProps) {
  return (
    <Input
      {...input}
      name={name}
      path={`${within}.${name}`}
      type="number"
      min={min}
      placeholder={placeholder}
      defaultValue={value ?? undefined}
    />
  );
}

/** The service deletes in steps, and answers 503 until it is done. */
const MAX_STEPS = 200;

/** Deletes the organization, for the operator. */
export function DeleteOrganization({ organization: { id, name } }: { organization: Organization }) {
  const step = useSignal(0);
  const deleteAll = async () => {
    for (step.value = 1; ; step.value++) {
      try {
        await call("DELETE", `/organizations/${id}`);
        break;
      } catch (error) {
        const isUnfinished = error instanceof ParleyError && error.status === 503 && error.retryAfterSeconds !== null;
        if (!isUnfinished || step.value === MAX_STEPS) throw error;
        const seconds = Math.max(1, error.retryAfterSeconds ?? 1);
        await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      }
    }
    // Nothing of it stays on the page.
    location.assign("/console/");
  };
  return (
    <Confirm title={`Delete ${name}?`} submit="Delete everything" typed={name} onSubmit={deleteAll}>
      <p>All its chats, messages, channels, keys and members are deleted. This can’t be undone.</p>
      {step.value > 1 && <p role="status">Deleting. Keep this page open.</p>}
    </Confirm>
  );
}
