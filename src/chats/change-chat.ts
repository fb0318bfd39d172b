import * as z from "zod/mini";
import { ApiError, unavailable } from "../http/errors.ts";
import { type ChatStub, callChat, type Owner } from "./call-chat.ts";
import { type Chat, contactNameField } from "./chat.ts";
import { readChat } from "./get-chat.ts";
import { metadataPatch } from "./message.ts";
import type { AsOwner, ChangeAnswer } from "./rpc.ts";

/**
 * The body of `PATCH /chats/{id}`. Absent fields don't change. Null removes the name (so does a `contact` that is null),
 * the metadata or one of its pairs.
 */
export const chatPatch = z.object({
  contact: z.nullish(z.object({ name: z.nullish(contactNameField) })),
  metadata: metadataPatch,
});

/**
 * Changes the contact's name and the metadata of a chat.
 * @throws ApiError `chat_not_found`; `validation_failed` if the metadata would be too large; `unavailable` while the
 *   organization's object does not answer: repeat the call
 */
export function patchChat(env: Env, owner: Owner, chatId: string, patch: z.output<typeof chatPatch>): Promise<Chat> {
  const change = { name: patch.contact === null ? null : patch.contact?.name, metadata: patch.metadata };
  return changed(env, owner, chatId, (chat, as) => chat.patch(as, change));
}

/**
 * Takes a chat off the list of the unanswered ones, until the contact writes again.
 * @throws ApiError `chat_not_found`; `unavailable` while the organization's object does not answer: repeat the call
 */
export function markAnswered(env: Env, owner: Owner, chatId: string): Promise<Chat> {
  return changed(env, owner, chatId, (chat, as) => chat.answered(as));
}

async function changed(
  env: Env,
  owner: Owner,
  chatId: string,
  change: (chat: ChatStub, as: AsOwner) => Promise<ChangeAnswer>,
): Promise<Chat> {
  const answer = await callChat(env, owner, chatId, change);
  if (answer.outcome === "invalid") throw new ApiError("validation_failed", { faults: answer.faults });
  if (answer.outcome === "not_reported") throw unavailable(`The list of chats may not know the change of ${chatId}`);
  return (await readChat(env, owner, chatId)).chat;
}
