const PLACEHOLDER = /\{\{.*?\}\}/s;

/** The first placeholder in a text, which nobody has filled; empty without one. */
export function unfilledIn(text: string): string {
  return PLACEHOLDER.exec(text)?.[0] ?? "";
}

/** Selects the first placeholder in a part of a text box, so that the person fills it. */
export function selectUnfilled(box: HTMLTextAreaElement, from = 0, to = box.value.length): void {
  const part = box.value.slice(from, to);
  const unfilled = unfilledIn(part);
  if (unfilled === "") return;
  const at = from + part.indexOf(unfilled);
  box.setSelectionRange(at, at + unfilled.length);
}
