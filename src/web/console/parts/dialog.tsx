import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { takeKeys } from "../held-keys.ts";
import { Button } from "./button.tsx";
import { Input } from "./field.tsx";
import { Form, type FormProps } from "./form.tsx";
import { closeDialog, leavesOpen } from "./opened-dialog.tsx";

interface DialogProps {
  title: string;
  /** Closes what `openDialog` opened, if nothing else is given. */
  onClose?: (() => void) | undefined;
  children: ComponentChildren;
  /** Whether Escape and a click beside it close the dialog. */
  isClosable?: boolean;
  wide?: boolean | undefined;
  /**
   * For a dialog in which one types to find something. Its beginning stays where it is while its height changes, and it
   * gets what was typed before from `takeKeys`, as soon as its code is there.
   */
  atTop?: boolean;
}

/** What had the focus before a dialog in whose place another one is being opened. */
let replaced: Element | null = null;

/** A modal dialog. The browser keeps the focus inside it, and gives it back afterward. */
export function Dialog({ title, onClose = closeDialog, children, isClosable = true, wide, atTop }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = replaced ?? document.activeElement;
    dialog.current?.showModal();
    focusFirstField(dialog.current);
    if (!atTop) takeKeys();
    // What the dialog shows may be loaded first, or follow a choice.
    const observer = new MutationObserver(() => {
      const { activeElement } = document;
      if (activeElement === document.body || activeElement?.matches("dialog header button"))
        focusFirstField(dialog.current);
    });
    if (dialog.current) observer.observe(dialog.current, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      replaced = opener;
      // Until it is removed, it keeps the focus. Something else may have taken it by then.
      queueMicrotask(() => {
        replaced = null;
        if (opener instanceof HTMLElement && document.activeElement === document.body) opener.focus();
      });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog${wide ? " dialog-wide" : ""}${atTop ? " dialog-top" : ""}`}
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
      <div class="stack dialog-body">
        <header class="between">
          <h2 id={id}>{title}</h2>
          {isClosable && <Button icon="close" aria-label="Close" onClick={onClose} />}
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

interface FormDialogProps extends Omit<DialogProps, "isClosable" | "onClose">, FormProps {}

/** A dialog with a form. It closes once the form was sent, unless that opened another dialog. */
export function FormDialog({ title, wide, onSubmit, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} wide={wide}>
      <Form
        {...form}
        onCancel={closeDialog}
        onSubmit={async (entered) => {
          if (await leavesOpen(() => onSubmit(entered))) closeDialog();
        }}
      />
    </Dialog>
  );
}

interface ConfirmProps extends FormDialogProps {
  /** A text that must be typed, for what can't be undone. */
  typed?: string;
}

/** Asks before something that can't be undone. */
export function Confirm({ typed, children, ...form }: ConfirmProps) {
  const text = useSignal("");
  return (
    <FormDialog {...form} danger isDisabled={typed !== undefined && text.value !== typed}>
      <div class="stack">{children}</div>
      {typed !== undefined && (
        <Input
          label={`Type “${typed}” to confirm`}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}
