import { signal, useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { textOf } from "../api.ts";
import { currentPath } from "../location.ts";
import { useShortcuts } from "../shortcuts.ts";
import { TextButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  /** The screen that it is about. Elsewhere it would be about something else. */
  path: string;
  /**
   * `isByEscape`: Escape does it too, wherever the focus is. `isByKey`: the key `z` does it. `to`: whom it concerns, said
   * on another screen.
   */
  action: { label: string; run: () => void; isByEscape?: boolean; isByKey?: boolean; to?: string } | null;
}

const SHOWN_MS = 5_000;
const UNDO_SHOWN_MS = 10_000;
const ERROR_SHOWN_MS = 12_000;

const toasts = signal<Toast[]>([]);
let count = 0;

/** Says briefly what was done. @returns a function that removes it */
export function say(text: string, action: Toast["action"] = null, shownMs = SHOWN_MS): () => void {
  return show({ text, action, isError: false, path: currentPath.value }, shownMs);
}

/**
 * Says briefly what an act did, and offers to take it back.
 * @param path the screen of the act: the person may be on another one by now
 * @returns a function that removes it
 */
export function sayUndoable(text: string, undo: () => Promise<unknown>, path = currentPath.value): () => void {
  const run = () => {
    remove();
    undo().catch(sayError);
  };
  const action = { label: "Undo (z)", run, isByKey: true };
  const remove = show({ text, action, isError: false, path }, UNDO_SHOWN_MS);
  return remove;
}

export function sayFailure(text: string): void {
  show({ text, action: null, isError: true, path: currentPath.value }, ERROR_SHOWN_MS);
}

/** Says that an action failed, and why. */
export function sayError(error: unknown): void {
  sayFailure(textOf(error));
}

/** Runs one work at a time, and says why it failed. */
export function useBusy() {
  const isBusy = useSignal(false);
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy.value) return;
    isBusy.value = true;
    await work().catch(sayError);
    isBusy.value = false;
  };
  return { isBusy, run };
}

function show(said: Omit<Toast, "id">, shownMs: number): () => void {
  const id = ++count;
  const before = toasts.value.filter(({ action }) => !action?.isByEscape).slice(0, -2);
  // A failure that is repeated is said once.
  const isRepeated = (one: Toast) => one.isError && one.text === said.text;
  toasts.value = [...toasts.value.filter((one) => !before.includes(one) && !isRepeated(one)), { id, ...said }];
  const remove = () => (toasts.value = toasts.value.filter((one) => one.id !== id));
  setTimeout(remove, shownMs);
  return remove;
}

/** Those that are about this screen, and the sends that Escape takes back from every screen. */
function shownToasts(): Toast[] {
  return toasts.value.filter(({ path, action }) => action?.isByEscape || path === currentPath.value);
}

/** The keys do what the newest short message offers: Escape wherever the focus is. */
export function ToastKeys() {
  const undo = () =>
    shownToasts()
      .findLast(({ action }) => action?.isByKey)
      ?.action?.run();
  useShortcuts([{ keys: "z", label: "Undo what a key just did", run: () => undo() }]);
  const byEscape = toasts.value.findLast(({ action }) => action?.isByEscape)?.action;
  // Before the browser can take the next key.
  useLayoutEffect(() => {
    if (!byEscape) return;
    const press = (event: KeyboardEvent) => {
      const isElsewhere = event.isComposing || document.querySelector("dialog[open], .menu-list, .act-menu");
      if (event.key !== "Escape" || isElsewhere) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      byEscape.run();
    };
    addEventListener("keydown", press, { capture: true });
    return () => removeEventListener("keydown", press, { capture: true });
  }, [byEscape]);
  return null;
}

/** The short messages. They lie over what scrolls, and cover neither the head of a screen nor a banner. */
export function Toasts() {
  return (
    <div class="toasts" role="status">
      {shownToasts().map(({ id, text, path, isError, action }) => (
        <div key={id} class={`toast${isError ? " toast-error" : ""}`}>
          <Icon name={isError ? "warning" : "check"} />
          <span>
            {text}
            {action?.to && path !== currentPath.value && (
              <>
                {" "}
                to <bdi>{action.to}</bdi>
              </>
            )}
          </span>
          {action && <TextButton onClick={action.run}>{action.label}</TextButton>}
        </div>
      ))}
    </div>
  );
}
