import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ParleyError, textOf } from "../api.ts";
import { Input } from "./field.tsx";
import { Icon } from "./icon.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Whether Escape and a click beside it close the dialog. */
  isClosable?: boolean;
  wide?: boolean;
}

/** A modal dialog. The browser keeps the focus inside it, and gives it back afterwards. */
export function Dialog({ title, onClose, children, isClosable = true, wide = false }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    focusFirstField(dialog.current);
    // What the dialog shows may be loaded first, or follow a choice.
    const observer = new MutationObserver(() => {
      const { activeElement } = document;
      if (activeElement === document.body || activeElement?.matches(".dialog-header button"))
        focusFirstField(dialog.current);
    });
    if (dialog.current) observer.observe(dialog.current, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (isClosable) onClose();
      }}
      onClose={() => {
        // Browsers close a dialog on a second Escape, whatever the page says to the first.
        if (isClosable) onClose();
        else dialog.current?.showModal();
      }}
      onMouseDown={(event) => {
        if (isClosable && event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-body">
        <header class="dialog-header">
          <h2 id={id}>{title}</h2>
          {isClosable && (
            <button type="button" class="plain" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Not the button that closes the dialog, which comes first. */
function focusFirstField(dialog: HTMLDialogElement | null): void {
  dialog?.querySelector<HTMLElement>("input:not([type=hidden]), select, textarea")?.focus();
}

/** What was entered. */
export interface Entered {
  /** The text of a field; empty without one. */
  text: (name: string) => string;
  /** The values of the boxes that are checked. */
  checked: (name: string) => string[];
}

interface FormProps {
  /** The label of the button. */
  submit: string;
  /** @throws ParleyError whose faults are shown at the form */
  onSubmit: (entered: Entered) => Promise<void>;
  onCancel?: () => void;
  danger?: boolean;
  isDisabled?: boolean;
  children: ComponentChildren;
}

/** A form that is sent once at a time, and shows why it was refused. What was entered stays. */
export function Form({
  submit,
  onSubmit,
  onCancel,
  danger = false,
  isDisabled = false,
  children,
}: FormProps): JSX.Element {
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const send = async (form: HTMLFormElement) => {
    setSending(true);
    setError(null);
    try {
      await onSubmit(enteredIn(new FormData(form)));
    } catch (cause) {
      setError(cause);
    } finally {
      setSending(false);
    }
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSending) void send(event.currentTarget);
      }}
    >
      {children}
      {error !== null && <Refusal error={error} />}
      <div class="form-actions">
        {onCancel && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button
          type="submit"
          class={`button ${danger ? "button-danger" : "button-main"}`}
          disabled={isDisabled}
          aria-busy={isSending}
        >
          {submit}
        </button>
      </div>
    </form>
  );
}

function enteredIn(data: FormData): Entered {
  const texts = (name: string) => data.getAll(name).filter((value) => typeof value === "string");
  return { text: (name) => texts(name)[0] ?? "", checked: texts };
}

function Refusal({ error }: { error: unknown }): JSX.Element {
  const faults = error instanceof ParleyError ? error.errors : [];
  return (
    <div class="refusal" role="alert">
      {faults.length === 0 && <p>{textOf(error)}</p>}
      {faults.map(({ path, message }) => (
        <p key={path}>
          <strong>{path}</strong> {message}
        </p>
      ))}
    </div>
  );
}

interface ConfirmProps {
  title: string;
  submit: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
  /** A text that must be typed, for what can't be undone. */
  typed?: string;
  children: ComponentChildren;
}

/** Asks before something that can't be undone. */
export function Confirm({ title, submit, onConfirm, onClose, typed, children }: ConfirmProps): JSX.Element {
  const [text, setText] = useState("");
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit={submit}
        danger
        isDisabled={typed !== undefined && text !== typed}
        onCancel={onClose}
        onSubmit={async () => {
          await onConfirm();
          onClose();
        }}
      >
        <div class="prose">{children}</div>
        {typed !== undefined && (
          <Input
            label={`Type “${typed}” to confirm`}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Form>
    </Dialog>
  );
}
