import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { Field, Input, type Labels, nameOf } from "./field.tsx";

type LateInputProps = Labels & JSX.IntrinsicElements["input"] & { value: string; onValue: (value: string) => void };

/** An `<input>` whose value counts once the person leaves it. Until then, no redraw of the page changes what was typed. */
export function LateInput({ value, onValue, ...input }: LateInputProps) {
  const typed = useSignal<string | null>(null);
  return (
    <Input
      {...input}
      value={typed.value ?? value}
      onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
      onChange={({ currentTarget }) => {
        typed.value = null;
        onValue(currentTarget.value.trim());
      }}
    />
  );
}

export function TextArea({ label, hint, path, isBare, ...textarea }: Labels & JSX.IntrinsicElements["textarea"]) {
  return (
    <Field label={label} hint={hint} path={path ?? nameOf(textarea)} isBare={isBare}>
      {(ties) => <textarea {...ties} {...textarea} id={ties.id} />}
    </Field>
  );
}

interface CheckboxProps {
  name?: string;
  value?: string;
  checked?: boolean | undefined;
  defaultChecked?: boolean | undefined;
  disabled?: boolean;
  onChange?: (event: { currentTarget: HTMLInputElement }) => void;
  children: ComponentChildren;
}

/** A box to tick, with its words beside it. */
export function Checkbox({ children, ...box }: CheckboxProps) {
  return (
    <label class="beside">
      <input {...box} type="checkbox" />
      {children}
    </label>
  );
}

interface Options {
  /** The text of each value. */
  options: Readonly<Record<string, string>>;
  /** The value that is chosen at first. */
  first?: string | undefined;
}

type SelectProps = Labels & Options & JSX.IntrinsicElements["select"];

/** A `<select>` with its label. */
export function Select({ label, hint, path, isBare, options, first, ...select }: SelectProps) {
  return (
    <Field label={label} hint={hint} path={path ?? nameOf(select)} isBare={isBare}>
      {(ties) => (
        <select {...ties} {...select} id={ties.id}>
          {Object.entries(options).map(([value, text]) => (
            <option key={value} value={value} selected={value === first}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
