import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useMemo, useRef } from "preact/hooks";
import { ParleyError, textOf } from "../api.ts";
import { Button } from "./button.tsx";
import { FormFaultsContext, otherFaults } from "./faults.ts";
import { say } from "./toast.tsx";

/** What was entered. */
export interface Entered {
  /** The text of a field; empty without one. */
  text: (name: string) => string;
  /** The text of a field without spaces around it; null if it is empty. */
  optional: (name: string) => string | null;
  /** The number in a field; null if it is empty. */
  number: (name: string) => number | null;
  /** The lines, or words, of a field. */
  words: (name: string) => string[];
  /** The values of the boxes that are checked. */
  checked: (name: string) => string[];
}

export interface FormProps {
  /** The label of the button. */
  submit: string;
  /** @throws ParleyError whose faults are shown at their fields */
  onSubmit: (entered: Entered) => Promise<unknown>;
  /** What is said once it was sent. */
  done?: string | undefined;
  onCancel?: (() => void) | undefined;
  /** The label of the button that cancels. */
  cancel?: string;
  danger?: boolean;
  isDisabled?: boolean;
  children: ComponentChildren;
}

/** A form that is sent once at a time, and shows why it was refused. What was entered stays. */
export function Form(props: FormProps) {
  const { submit, onSubmit, done, onCancel, cancel = "Cancel", danger = false, isDisabled = false, children } = props;
  const refusal = useSignal<unknown>(null);
  const isSending = useSignal(false);
  const error = refusal.value;
  const element = useRef<HTMLFormElement>(null);
  const shown = useMemo(() => new Set<string>(), []);
  const faults = useMemo(() => ({ faults: error instanceof ParleyError ? error.errors : [], shown }), [error]);
  useEffect(() => {
    element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const send = async (form: HTMLFormElement) => {
    isSending.value = true;
    refusal.value = null;
    try {
      await onSubmit(enteredIn(new FormData(form)));
      if (done) say(done);
    } catch (cause) {
      refusal.value = cause;
    } finally {
      isSending.value = false;
    }
  };
  return (
    <form
      class="form"
      ref={element}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSending.value) void send(event.currentTarget);
      }}
    >
      <FormFaultsContext.Provider value={faults}>
        {children}
        {error !== null && <Refusal error={error} />}
      </FormFaultsContext.Provider>
      <div class="form-actions">
        {onCancel && <Button onClick={onCancel}>{cancel}</Button>}
        <button
          type="submit"
          class={`button ${danger ? "button-danger" : "button-main"}`}
          disabled={isDisabled}
          aria-busy={isSending.value}
        >
          {submit}
        </button>
      </div>
    </form>
  );
}

function enteredIn(data: FormData): Entered {
  const texts = (name: string) => data.getAll(name).filter((value) => typeof value === "string");
  const text = (name: string) => texts(name)[0] ?? "";
  const optional = (name: string) => text(name).trim() || null;
  const number = (name: string) => (optional(name) === null ? null : Number(text(name)));
  const words = (name: string) =>
    text(name)
      .split(/[\s,]+/u)
      .filter(Boolean);
  return { text, optional, number, words, checked: texts };
}

/** Why the form was refused, as far as no field says it. */
function Refusal({ error }: { error: unknown }) {
  const known = useContext(FormFaultsContext);
  const others = otherFaults(known);
  const isAtFields = known.faults.length > others.length;
  return (
    <div class="refusal tone-bad" role="alert">
      {isAtFields && <p>Correct the marked fields.</p>}
      {known.faults.length === 0 && <p>{textOf(error)}</p>}
      {others.map(({ path, message }) => (
        <p key={path}>
          <strong>{path}</strong> {message}
        </p>
      ))}
    </div>
  );
}
