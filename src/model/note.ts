import type { CallerName } from "./chat-answers.ts";
import { pick } from "./pick.ts";

/** What the company's people write to each other about a chat. It is not a message: no network or contact gets it. */
export interface Note {
  id: string;
  chatId: string;
  author: CallerName;
  /** Empty once the note is deleted. */
  content: string;
  /** The ids of the members whom it is for. */
  mentions: string[];
  /** The seq of the chat's newest message when it was written; 0 if there was none. */
  afterSeq: number;
  createdAt: string;
  /** It is a draft of a message, which a person sends, changes or deletes. */
  draft?: true | undefined;
  deletedAt?: string | undefined;
}

/** The newest note of a chat that mentions a member. */
export interface Mention {
  noteId: string;
  /** See `Note`. */
  afterSeq: number;
  /** When it was written, Unix milliseconds. */
  at: number;
}

/** The members that a chat's notes mention, by their ids. */
export type Mentions = Record<string, Mention>;

/** A note as events show it. */
export function withoutContent(note: Note): Omit<Note, "content"> {
  return {
    ...pick(note, "id", "chatId", "author", "mentions", "afterSeq", "createdAt"),
    ...(note.draft && { draft: true }),
    ...(note.deletedAt !== undefined && { deletedAt: note.deletedAt }),
  };
}

/** Drafts don't count. */
export const MAX_NOTES = 1_000;
/** Each author has at most one in a chat. */
export const MAX_DRAFTS = 100;
