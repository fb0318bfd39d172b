/** Leads to a message or a note. The browser takes the focus from the field or the button that leads there, so it is given back. */
export function leadTo(messageId: string): void {
  const { activeElement } = document;
  location.replace(`#${messageId}`);
  if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
}

/** The address leads to no message or note any longer. */
export function leadNowhere(): void {
  history.replaceState(null, "", location.pathname + location.search);
}
