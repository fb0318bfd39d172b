/** What was typed for a text that is being opened; null if none is. */
let held: { typed: string; cancel: () => void } | null = null;

/**
 * A text or a dialog is being opened, which will take the keys. Until it does, keys run no shortcut, and what is typed is
 * kept for it. Escape, Tab, a click elsewhere and another screen end this.
 * @param cancel ends what is being opened, on Escape
 */
export function holdKeys(cancel: () => void = () => {}): void {
  held = { typed: held?.typed ?? "", cancel };
}

/** Ends `holdKeys`. @returns what was typed meanwhile; null if no keys were held */
export function takeKeys(): string | null {
  const typed = held?.typed ?? null;
  held = null;
  return typed;
}

/** Keeps a key for what is being opened. @returns false if nothing is, or the key means something else */
export function keepKey(key: string): boolean {
  if (!held) return false;
  if (key === "Escape") {
    const { cancel } = held;
    takeKeys();
    cancel();
  } else if (key === "Backspace") held.typed = held.typed.slice(0, -1);
  else if (key.length === 1) held.typed += key;
  else {
    if (key === "Tab") takeKeys();
    return false;
  }
  return true;
}
