import * as z from "zod/mini";
import { callChat } from "../calls/call-chat.ts";
import { membersWith } from "../db/members.ts";
import { beforeQuery } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import { type Caller, describeCaller } from "../model/caller.ts";
import type { NoteDraft } from "../model/chat-answers.ts";
import { ApiError, type Fault } from "../model/error.ts";
import { bodyId, optional, queryText, requiredText } from "../model/field.ts";
import { jurisdictionOf, newId } from "../model/id.ts";
import { MAX_CONTENT } from "../model/message.ts";
import { noteFingerprintOf, noteHashOf } from "./idempotency.ts";

export const MAX_MENTIONS = 10;

/** The body of `POST /chats/{id}/notes`. */
export const noteBody = z.object({
  content: requiredText(MAX_CONTENT),
  mentions: optional(z.array(bodyId).check(z.maxLength(MAX_MENTIONS))),
  draft: optional(z.boolean()),
});

/** The query of `GET /chats/{id}/notes`. */
export const notesQuery = z.object({ ...beforeQuery.shape, before: z.optional(queryText(64)) });

/**
 * Stores a note in a chat.
 * @returns its JSON; `replayed` if the idempotency key was used before
 * @throws ApiError `chat_not_found`; `validation_failed` if it mentions somebody who may not read notes; `note_limit`,
 *   `chat_full`, `idempotency_mismatch`
 */
export async function addNote(
  env: Env,
  caller: Caller,
  chatId: string,
  body: z.output<typeof noteBody>,
  idempotencyKey: string | null,
): Promise<{ doc: string; replayed: boolean }> {
  const draft = await noteDraftOf(env, caller, chatId, body, idempotencyKey);
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.addNote(as, draft));
  if (answer.outcome === "refused") throw new ApiError(answer.code, { text: answer.text, faults: answer.faults });
  return answer;
}

/** What the chat's object stores, or refuses. */
export async function noteDraftOf(
  env: Env,
  caller: Caller,
  chatId: string,
  { content, mentions: given = [], draft: isDraft = false }: z.output<typeof noteBody>,
  idempotencyKey: string | null,
): Promise<NoteDraft> {
  const mentions = [...new Set(given)];
  return {
    id: newId("note", jurisdictionOf(caller.organizationId)),
    ...{ content, mentions, author: describeCaller(caller), faults: await faultsIn(env, caller, given) },
    isDraft,
    idempotencyHash: idempotencyKey === null ? null : await noteHashOf(chatId, idempotencyKey),
    fingerprint: idempotencyKey === null ? null : await noteFingerprintOf(content, mentions, isDraft),
  };
}

/** Which of these ids are not members who may read notes. */
async function faultsIn(env: Env, caller: Caller, mentions: string[]): Promise<Fault[]> {
  if (mentions.length === 0) return [];
  const readers = await membersWith(env, caller.organizationId, [...new Set(mentions)], "notes:read");
  return mentions.flatMap((id, index) =>
    readers.has(id) ? [] : [{ path: `mentions.${index}`, message: "must be the id of a member who may read notes" }],
  );
}

/**
 * A chat's notes, newest first, as the JSON of the response.
 * @throws ApiError `chat_not_found`; `validation_failed` if `before` is not a cursor of this list
 */
export async function listNotes(
  env: Env,
  caller: Caller,
  chatId: string,
  { before = null, limit }: { before?: string | null | undefined; limit: number },
): Promise<string> {
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.notes(as, before, limit));
  if (answer.outcome === "unknown_cursor") throw fault("before", "is not a cursor of this list");
  return answer.body;
}

/**
 * Deletes a note. Its author may do so, and anyone who may erase chats. A draft is everybody's.
 * @returns the JSON of the blank note
 * @throws ApiError `chat_not_found`, `note_not_found`, `permission_denied`
 */
export async function deleteNote(
  env: Env,
  caller: Caller,
  { chatId, noteId }: { chatId: string; noteId: string },
): Promise<string> {
  const mayAll = caller.permissions.includes("chats:erase");
  const answer = await callChat(env, caller, chatId, (chat, as) =>
    chat.deleteNote(as, noteId, describeCaller(caller), mayAll),
  );
  if (answer.outcome === "ok") return answer.doc;
  if (answer.outcome === "no_note") throw new ApiError("note_not_found");
  throw new ApiError("permission_denied", {
    text: "Only the note's author, or someone with the permission chats:erase, can delete it",
  });
}
