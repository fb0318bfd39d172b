import type { OwnMessage } from "./conversation.ts";

/**
 * The data that survives a reload of the tab: unacknowledged messages, the draft and what it answers. A duplicated tab resends the messages
 * with the same ids.
 */
export interface TabStorage {
  outbox(): OwnMessage[];
  saveOutbox(outbox: readonly OwnMessage[]): void;
  draft(): string;
  saveDraft(text: string): void;
  /** The id of the message that the draft answers; empty if it answers none. */
  answered(): string;
  saveAnswered(id: string): void;
}

/** Opens a storage. It and each call can throw if the browser blocks storage. */
export type Store = () => Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** What a storage keeps for the page under this name; null if nothing, or if storage is blocked. */
export function readKept(store: Store, name: string): string | null {
  try {
    return store().getItem(`parley.${name}`);
  } catch {
    return null;
  }
}

/** Keeps a text, or nothing if it is empty. */
export function keep(store: Store, name: string, text: string): void {
  try {
    if (text) store().setItem(`parley.${name}`, text);
    else store().removeItem(`parley.${name}`);
  } catch {
    // Storage is blocked or full: the next load finds nothing.
  }
}

/** The storage of one visitor of one channel. `owner` names both, so that no visitor sends another's messages. */
export function tabStorage(owner: string, store: Store): TabStorage {
  const read = (name: string) => readKept(store, `${name}.${owner}`);
  const write = (name: string, text: string) => keep(store, `${name}.${owner}`, text);
  return {
    outbox: () => readOutbox(read("outbox")),
    saveOutbox: (outbox) => write("outbox", outbox.length > 0 ? JSON.stringify(outbox) : ""),
    draft: () => read("draft") ?? "",
    saveDraft: (text) => write("draft", text),
    answered: () => read("answered") ?? "",
    saveAnswered: (id) => write("answered", id),
  };
}

/** Whether the visitor was asked for a name and an email address, in this browser. */
export interface AskedFlag {
  get: () => boolean;
  set: () => void;
}

/** A flag that this browser keeps for one visitor of one channel. It is never set if storage is blocked. */
export function browserFlag(name: string, store: Store): AskedFlag {
  return { get: () => readKept(store, name) !== null, set: () => keep(store, name, "1") };
}

function readOutbox(text: string | null): OwnMessage[] {
  try {
    const saved: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(saved)) return [];
    // A message with a `seq` is stored. `echo` refers to entries of the previous page load.
    return saved
      .filter(isOwn)
      .flatMap((own) => (own.seq === null ? [{ ...own, echo: null, ...withoutBytes(own) }] : []));
  } catch {
    return [];
  }
}

/** The bytes of a file are gone with the page that had them, and so is the address that showed them. */
function withoutBytes({ file }: OwnMessage): Pick<OwnMessage, "file"> {
  return file ? { file: { ...file, url: "" } } : {};
}

function isOwn(value: unknown): value is OwnMessage {
  const own = value as Partial<OwnMessage> | null;
  return typeof own?.id === "string" && typeof own.text === "string" && typeof own.writtenAt === "number";
}
