import type { Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { exactTime } from "../format.ts";
import { sentence, useFaults } from "./faults.ts";
import { now, untilThen } from "./time.tsx";

export interface Labels {
  label: string;
  hint?: ComponentChildren;
  /** Where the service finds it in the request, if that is not its name: `contact.address`. */
  path?: string | undefined;
  /** Shows the label to screen readers alone. */
  isBare?: boolean | undefined;
}

/** What ties a control to its label, hint and faults. */
interface Ties {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldProps extends Labels {
  children: (ties: Ties) => ComponentChildren;
}

/** A control with its label above it, and what the service refused of it below. */
export function Field({ label, hint, path, isBare, children }: FieldProps) {
  const id = useId();
  const faults = useFaults(path);
  const isRefused = faults.length > 0;
  const described = [hint && `${id}-hint`, isRefused && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id} class={isBare ? "hidden" : ""}>
        {label}
      </label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": isRefused || undefined })}
      {faults.map(({ path: found, message }) => (
        <p key={found} id={`${id}-fault`} class="failed">
          {sentence(message)}
        </p>
      ))}
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** An `<input>` with its label. Browsers suggest nothing for it, unless it says what it is. */
export function Input({ label, hint, path, isBare, ...input }: Labels & JSX.IntrinsicElements["input"]) {
  return (
    <Field label={label} hint={hint} path={path ?? nameOf(input)} isBare={isBare}>
      {(ties) => <input autocomplete="off" {...ties} {...input} id={ties.id} />}
    </Field>
  );
}

/** The name of a control, as attributes give it. */
export function nameOf({ name }: { name?: unknown }): string | undefined {
  return typeof name === "string" ? name : undefined;
}

interface TimeProps extends Labels {
  value: Signal<string>;
  required?: boolean;
}

/** Asks for a date and time in the browser's time zone. Without a hint, it says how far away the time is. */
export function TimeInput({ value, hint, ...input }: TimeProps) {
  const time = new Date(value.value).getTime();
  const inWords = untilThen(time);
  const isPast = time <= Math.max(now.value, Date.now());
  const away = Number.isNaN(time) ? "" : `${exactTime(time)}${isPast ? ". This time has passed." : `, ${inWords}`}`;
  return (
    <Input
      {...input}
      hint={isPast ? <span class="warn">{away}</span> : (hint ?? away)}
      type="datetime-local"
      value={value.value}
      onInput={(event) => (value.value = event.currentTarget.value)}
    />
  );
}
