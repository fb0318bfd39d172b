import { effect, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { keepKey, takeKeys } from "./held-keys.ts";
import { currentPath } from "./location.ts";

/** A key, or two keys one after the other, and what they do. */
export interface Shortcut {
  /** As it is shown: "g i", "Ctrl K", "?". */
  keys: string;
  label: string;
  run: () => void;
  /** Runs again and again while the key is held down. What acts on data must not. */
  repeats?: boolean;
  /** The key does this and nothing else, whatever other parts of the screen do with it. */
  isOnly?: boolean;
}

const STORED = "parley.console.shortcuts";
/** The second of two keys must follow within this time. */
const SEQUENCE_MS = 1_000;

/** Single keys can be turned off, for people who dictate or press keys by accident (WCAG 2.1.4). */
export const areKeysOn = signal(localStorage.getItem(STORED) !== "off");

/** What the parts of the screen do with keys. */
export const shortcuts = signal<Shortcut[]>([]);

let first = "";
let firstAt = 0;

addEventListener("pointerdown", takeKeys, { capture: true });
effect(() => {
  if (currentPath.value) takeKeys();
});

addEventListener("keydown", (event) => {
  const name = nameOf(event);
  if (event.defaultPrevented || event.isComposing || name === "") return;
  const needsModifier = name.startsWith("Ctrl ");
  const isElsewhere = isEditing(event.target);
  if (isElsewhere) takeKeys();
  if (!needsModifier && keepKey(name)) {
    event.preventDefault();
    return;
  }
  const isInDialog = document.querySelector("dialog[open]") !== null;
  if (!needsModifier && (!areKeysOn.value || isElsewhere || isInDialog)) return;
  const sequence = Date.now() - firstAt < SEQUENCE_MS ? `${first} ${name}` : "";
  const found = shortcutOf(sequence) ?? shortcutOf(name);
  [first, firstAt] = [name, Date.now()];
  if (!found) return;
  event.preventDefault();
  first = "";
  // What was entered in an open dialog would be lost, if another one took its place.
  if (isInDialog || (event.repeat && !found.repeats)) return;
  found.run();
});

function shortcutOf(pressed: string): Shortcut | undefined {
  return workingShortcuts().findLast(({ keys }) => keys === pressed);
}

/** Those that are not replaced by another part of the screen. */
export function workingShortcuts(): Shortcut[] {
  const only = shortcuts.value.filter(({ isOnly }) => isOnly);
  return shortcuts.value.filter((one) => one.isOnly || !only.some(({ keys }) => keys === one.keys));
}

/** Makes shortcuts work while a part of the page is shown. */
export function useShortcuts(own: Shortcut[]): void {
  const latest = useRef(own);
  latest.current = own;
  // A key works as soon as the part is seen.
  useLayoutEffect(() => {
    const mine = latest.current.map((one, n) => ({ ...one, run: () => latest.current[n]?.run() }));
    shortcuts.value = [...shortcuts.value, ...mine];
    return () => {
      shortcuts.value = shortcuts.value.filter((each) => !mine.includes(each));
    };
  }, []);
}

/** Turns single keys on or off, on this device. */
export function setKeys(on: boolean): void {
  areKeysOn.value = on;
  localStorage.setItem(STORED, on ? "on" : "off");
}

function nameOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  if (altKey || ["Control", "Meta", "Shift"].includes(key)) return "";
  if (!ctrlKey && !metaKey) return key;
  return `Ctrl ${key.length === 1 ? key.toUpperCase() : key}`;
}

/** Whether what has the focus takes characters. A checkbox takes the space bar alone. */
function isEditing(target: EventTarget | null): boolean {
  const writable = "input:not([type=checkbox]), textarea, select";
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(writable));
}
