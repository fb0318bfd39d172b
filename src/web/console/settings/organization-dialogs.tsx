import { useSignal } from "@preact/signals";
import { call, type Organization, ParleyError } from "../api.ts";
import { number as format } from "../format.ts";
import { Checkbox } from "../parts/controls.tsx";
import { Confirm, FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";

export function NameDialog({ name, onSave }: { name: string; onSave: (patch: object) => Promise<void> }) {
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

interface Limit {
  name: string;
  label: string;
  least?: number;
  most?: number;
  /** What an empty field means. */
  unset?: string;
}

type LimitValues = Readonly<Record<string, number | null>>;

/** What limits an organization. */
export const LIMITS: Limit[] = [
  { name: "chats", label: "Chats", most: 1_000_000_000 },
  { name: "members", label: "Members", unset: "1,000" },
  { name: "templates", label: "Templates", unset: "1,000" },
  { name: "channels", label: "Channels", unset: "200" },
];

/** What limits the keys that members and keys create. */
export const CEILINGS: Limit[] = [
  { name: "maxKeys", label: "Keys", most: 100_000, unset: "1,000" },
  { name: "maxPerSecond", label: "Requests per second, per key", least: 1, most: 1_000 },
  { name: "monthlyQuota", label: "Sum of monthly quotas" },
];

/** Changes the limits, for the operator. An empty field restores the default. */
export function LimitsDialog({ organization: { limits, selfService }, onSave }: LimitsProps) {
  const isOn = useSignal(selfService !== null);
  return (
    <FormDialog
      title="Limits"
      submit="Save"
      onSubmit={({ number }) => {
        const entered = (of: Limit[]) => Object.fromEntries(of.map(({ name }) => [name, number(name)]));
        return onSave({ limits: entered(LIMITS), selfService: isOn.value ? entered(CEILINGS) : null });
      }}
    >
      <div class="pair-even">
        {LIMITS.map((limit) => (
          <LimitInput key={limit.name} limit={limit} within="limits" values={limits} />
        ))}
      </div>
      <Checkbox checked={isOn.value} onChange={({ currentTarget }) => (isOn.value = currentTarget.checked)}>
        Members and keys with <code>keys:write</code> manage keys
      </Checkbox>
      {isOn.value &&
        CEILINGS.map((limit) => (
          <LimitInput key={limit.name} limit={limit} within="selfService" values={selfService ?? {}} />
        ))}
    </FormDialog>
  );
}

interface LimitProps {
  limit: Limit;
  /** The field of the request that has it. */
  within: "limits" | "selfService";
  values: LimitValues;
}

function LimitInput({ limit: { name, label, least = 0, most, unset = "No limit" }, within, values }: LimitProps) {
  return (
    <Input
      label={label}
      name={name}
      path={`${within}.${name}`}
      type="number"
      min={least}
      max={most}
      placeholder={unset}
      defaultValue={values[name] ?? undefined}
    />
  );
}

/** Limits and their values, in words. */
export function limitsInWords(of: Limit[], values: LimitValues): Record<string, string> {
  const inWords = (value: number | null | undefined) => (value == null ? "No limit" : `At most ${format(value)}`);
  return Object.fromEntries(of.map(({ name, label }) => [label, inWords(values[name])]));
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
