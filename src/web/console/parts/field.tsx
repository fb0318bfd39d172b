import type { Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { exactTime, fromNow } from "../format.ts";

interface Labels {
  label: string;
  hint?: ComponentChildren;
}

interface FieldProps extends Labels {
  /** Gets the id that ties the control to its label. */
  children: (id: string) => ComponentChildren;
}

/** A control with its label above it. */
export function Field({ label, hint, children }: FieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

/** An `<input>` with its label. Browsers suggest nothing for it, unless it says what it is. */
export function Input({ label, hint, ...input }: Labels & JSX.IntrinsicElements["input"]): JSX.Element {
  return (
    <Field label={label} hint={hint}>
      {(id) => <input autocomplete="off" {...input} id={id} />}
    </Field>
  );
}

/** A `<select>` with its label. */
export function Select({ label, hint, ...select }: Labels & JSX.IntrinsicElements["select"]): JSX.Element {
  return (
    <Field label={label} hint={hint}>
      {(id) => <select {...select} id={id} />}
    </Field>
  );
}

interface TimeProps extends Labels {
  value: Signal<string>;
  required?: boolean;
}

/** Asks for a date and time in the browser's time zone. Without a hint, it says how far away the time is. */
export function TimeInput({ value, hint, ...input }: TimeProps): JSX.Element {
  const time = new Date(value.value).getTime();
  const away = Number.isNaN(time) ? "" : `${exactTime(time)}, ${fromNow(time, Date.now())}`;
  return (
    <Input
      {...input}
      hint={hint ?? away}
      type="datetime-local"
      value={value.value}
      onInput={(event) => (value.value = event.currentTarget.value)}
    />
  );
}
