import type { Draft } from "./conversation-store.ts";

/** What a person was writing, for this tab alone: never on the server, and gone with the tab. */
const PREFIX = "parley.draft.";

/** The text that waits in a chat, or in the editor of a template. */
export function readDraft(of: string): string {
  return sessionStorage.getItem(PREFIX + of) ?? "";
}

/** Keeps the text, also if the page is loaded again. */
export function saveDraft(of: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(PREFIX + of);
    else sessionStorage.setItem(PREFIX + of, text);
  } catch {
    // The storage is full or off. The text stays in the box.
  }
}

/** A send whose answer is not known: the service may have it. */
export interface Undecided {
  key: string;
  /** What the person wanted to send. */
  draft: Draft;
  /** What was sent: a repeat must be the same to the last field. */
  body: Draft;
}

const UNDECIDED = "parley.undecided.";

/** The send of a chat whose answer was lost, also if the page was loaded again since. */
export function readUndecided(chatId: string): Undecided | null {
  const text = sessionStorage.getItem(UNDECIDED + chatId);
  return text === null ? null : (JSON.parse(text) as Undecided);
}

/** Keeps a send until its answer is known. @param undecided null once it is */
export function saveUndecided(chatId: string, undecided: Undecided | null): void {
  try {
    if (undecided) sessionStorage.setItem(UNDECIDED + chatId, JSON.stringify(undecided));
    else sessionStorage.removeItem(UNDECIDED + chatId);
  } catch {
    // The storage is full or off. Only a page that is loaded again forgets it.
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
