import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { textOf } from "../api.ts";
import { Icon } from "./icon.tsx";

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  action: { label: string; run: () => void } | null;
}

const SHOWN_MS = 5_000;
const ERROR_SHOWN_MS = 12_000;

const toasts = signal<Toast[]>([]);
let count = 0;

/** Says briefly what was done. @returns a function that removes it */
export function say(text: string, action: Toast["action"] = null, isError = false): () => void {
  const id = ++count;
  toasts.value = [...toasts.value.slice(-2), { id, text, isError, action }];
  const remove = () => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  };
  setTimeout(remove, isError ? ERROR_SHOWN_MS : SHOWN_MS);
  return remove;
}

/** Says that an action failed, and why. */
export function sayError(error: unknown): void {
  say(textOf(error), null, true);
}

/** The short messages, in a corner. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, isError, action }) => (
        <div key={id} class={`toast${isError ? " toast-error" : ""}`}>
          <Icon name={isError ? "warning" : "check"} />
          <span>{text}</span>
          {action && (
            <button type="button" class="link" onClick={action.run}>
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
