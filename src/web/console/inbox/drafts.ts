/** What a person was writing, for this tab alone: never on the server, and gone with the tab. */
const PREFIX = "parley.draft.";

/** The text that waits in a chat. */
export function readDraft(chatId: string): string {
  return sessionStorage.getItem(PREFIX + chatId) ?? "";
}

/** Keeps the text, also if the page is loaded again. */
export function saveDraft(chatId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(PREFIX + chatId);
    else sessionStorage.setItem(PREFIX + chatId, text);
  } catch {
    // The storage is full or off. The text stays in the box.
  }
}

const SENDER = "parley.sender.";

/** The member in whose name the operator wrote last. */
export function readSender(organizationId: string): string | null {
  return localStorage.getItem(SENDER + organizationId);
}

export function saveSender(organizationId: string, memberId: string): void {
  localStorage.setItem(SENDER + organizationId, memberId);
}
