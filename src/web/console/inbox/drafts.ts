import { signal } from "@preact/signals";
import { FileStage } from "../../shared/files/stage.ts";
import type { Message, Schemas } from "../api.ts";
import { drafts, inTab } from "../in-tab.ts";

/** What a person sends. */
export type Draft = Pick<
  Schemas["NewMessage"],
  | "content"
  | "type"
  | "senderId"
  | "templateId"
  | "variables"
  | "scheduledAt"
  | "expiresAt"
  | "ifSeq"
  | "replyTo"
  | "draftId"
  | "mediaId"
  | "template"
  | "interactive"
>;

/** The newest `seq` that was known in a chat when what waits there was begun. */
export const begunAt = inTab<{ seq: number }>("parley.begun.");

/** As the service. */
const MAX_FILE_BYTES = 16 * 1_048_576;

/** What one chat has until the page is closed, whichever is open. */
function perChat<T>(make: (chatId: string) => T): (chatId: string) => T {
  const known = new Map<string, T>();
  return (chatId) => {
    const kept = known.get(chatId) ?? make(chatId);
    known.set(chatId, kept);
    return kept;
  };
}

/** The files that wait in a chat. */
export const stageOf = perChat(() => new FileStage(MAX_FILE_BYTES));

/** The text that waits in a chat. */
export const textIn = perChat((chatId) => signal(drafts.read(chatId) ?? ""));

/** The message that the next one of a chat answers. */
export const answeredIn = perChat(() => signal<Message | null>(null));

/** The id of the note with the draft that the text of a chat was made from. */
export const draftIn = perChat(() => signal<string | null>(null));

/** A send whose answer is not known: the service may have it. */
export interface Undecided {
  key: string;
  /** What the person wanted to send. */
  draft: Draft;
  /** What was sent: a repeat must be the same to the last field. */
  body: Draft;
}

/** The sends of chats whose answers were lost. */
export const undecidedSends = inTab<Undecided>("parley.undecided.");
