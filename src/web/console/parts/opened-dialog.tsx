import { signal } from "@preact/signals";
import { Fragment, type JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { holdKeys } from "../held-keys.ts";
import { currentPath } from "../location.ts";

/** The dialog that a screen opened. The key makes each a new one. */
const opened = signal<{ key: number; dialog: JSX.Element } | null>(null);
let count = 0;

/** Shows a dialog, in place of the one before. What it shows does not follow the screen that opened it. */
export function openDialog(dialog: JSX.Element): void {
  opened.value = { key: ++count, dialog };
  // Its code may have to be fetched first.
  holdKeys(closeDialog);
}

export function closeDialog(): void {
  opened.value = null;
}

/** Runs work of the dialog that is open. @returns whether the work left it open, and opened no other one */
export async function leavesOpen(work: () => Promise<unknown>): Promise<boolean> {
  const own = opened.peek();
  await work();
  return opened.peek() === own;
}

/** The dialog that is open. It belongs to its screen, and closes with it. */
export function OpenedDialog() {
  // Before the next key, which may open another one.
  useLayoutEffect(() => closeDialog, [currentPath.value]);
  return opened.value && <Fragment key={opened.value.key}>{opened.value.dialog}</Fragment>;
}
