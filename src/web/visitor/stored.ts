import type { OwnMessage } from "./conversation.ts";

/**
 * What a tab must not lose when it is reloaded, or when the site around the widget goes to its next page: messages not
 * yet acknowledged, and the text in the box. In the tab's own storage; a duplicated tab resends with the same ids.
 */
export interface Kept {
  outbox(): OwnMessage[];
  keepOutbox(outbox: readonly OwnMessage[]): void;
  draft(): string;
  keepDraft(text: string): void;
}

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** What is kept for one visitor of one channel: `owner` names both, so that nobody sends another's words. */
export function keptFor(owner: string, store: () => Store): Kept {
  const read = (name: string) => {
    try {
      return store().getItem(`parley.${name}.${owner}`);
    } catch {
      return null;
    }
  };
  const write = (name: string, text: string) => {
    try {
      if (text) store().setItem(`parley.${name}.${owner}`, text);
      else store().removeItem(`parley.${name}.${owner}`);
    } catch {
      // Blocked or full: then a reload loses what was not sent, and nothing else.
    }
  };
  return {
    outbox: () => readOutbox(read("outbox")),
    keepOutbox: (outbox) => write("outbox", outbox.length > 0 ? JSON.stringify(outbox) : ""),
    draft: () => read("draft") ?? "",
    keepDraft: (text) => write("draft", text),
  };
}

function readOutbox(text: string | null): OwnMessage[] {
  try {
    const kept: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(kept)) return [];
    // One with a number was acknowledged: the server has it. An echo was a guess about entries that are gone.
    return kept.filter(isOwn).flatMap((own) => (own.seq === null ? [{ ...own, echo: null }] : []));
  } catch {
    return [];
  }
}

function isOwn(value: unknown): value is OwnMessage {
  const own = value as Partial<OwnMessage> | null;
  return typeof own?.id === "string" && typeof own.text === "string" && typeof own.writtenAt === "number";
}
