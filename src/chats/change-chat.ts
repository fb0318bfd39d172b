import * as z from "zod/mini";
import { type ChatStub, callChat, type Owner } from "../calls/call-chat.ts";
import { permissionsOf } from "../db/members.ts";
import { fault } from "../http/validation.ts";
import type { Caller } from "../model/caller.ts";
import { type Chat, contactNameField } from "../model/chat.ts";
import type { AsOwner, ChangeAnswer } from "../model/chat-answers.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { bodyId } from "../model/field.ts";
import { metadataPatch } from "../model/message.ts";
import { canTakeChats } from "../model/permission.ts";
import { readChat } from "./get-chat.ts";

/**
 * The body of `PATCH /chats/{id}`. Absent fields don't change. Null removes the name (so does a `contact` that is
 * null), the metadata or one of its pairs, and unassigns the chat (`assigneeId`).
 */
export const chatPatch = z
  .object({
    contact: z.nullish(z.object({ name: z.nullish(contactNameField) })),
    metadata: metadataPatch,
    assigneeId: z.nullish(bodyId),
    ifAssigneeId: z.nullish(bodyId),
    marketing: z.optional(z.object({ optedOut: z.boolean() })),
  })
  .check(
    z.refine(({ assigneeId, ifAssigneeId }) => ifAssigneeId === undefined || assigneeId !== undefined, {
      path: ["ifAssigneeId"],
      error: "needs assigneeId",
    }),
  );

/**
 * Changes the contact's name, the metadata and the assignee of a chat, and whether the contact takes marketing.
 * @throws ApiError `chat_not_found`, `member_not_found`; `chat_reassigned` if the chat is not `ifAssigneeId`'s;
 *   `validation_failed` if the metadata would be too large, or the member only reads chats; `unavailable` while the
 *   organization's object does not answer: repeat the call
 */
export async function patchChat(
  env: Env,
  caller: Caller,
  chatId: string,
  { contact, metadata, assigneeId, ifAssigneeId, marketing }: z.output<typeof chatPatch>,
): Promise<Chat> {
  if (assigneeId != null) await checkAssignee(env, caller, assigneeId);
  const { type, id, name } = caller.principal;
  const patch = { name: contact === null ? null : contact?.name, metadata };
  const assignment = assigneeId === undefined ? null : { assigneeId, ifAssigneeId, by: { type, id, name } };
  if (marketing) {
    const said = { ...marketing, by: type === "key" ? ("key" as const) : ("member" as const) };
    return changed(env, caller, chatId, (chat, as) => chat.changeMarketing(as, said, patch, assignment));
  }
  if (!assignment) return changed(env, caller, chatId, (chat, as) => chat.patch(as, patch));
  return changed(env, caller, chatId, (chat, as) => chat.assign(as, assignment, patch));
}

/** @throws ApiError `member_not_found`; `validation_failed` for a member who only reads, so could answer nobody */
async function checkAssignee(env: Env, { organizationId }: Owner, assigneeId: string): Promise<void> {
  // Not from the isolate's memory: a removed member must get no chat.
  const permissions = await permissionsOf(env, organizationId, assigneeId);
  if (!permissions) throw new ApiError("member_not_found");
  if (!canTakeChats(permissions)) {
    throw fault("assigneeId", "must be a member with the permission messages:send or chats:write");
  }
}

/**
 * Takes a chat off the list of the unanswered ones, until the contact writes again.
 * @throws ApiError `chat_not_found`; `unavailable` while the organization's object does not answer: repeat the call
 */
export function markAnswered(env: Env, owner: Owner, chatId: string): Promise<Chat> {
  return changed(env, owner, chatId, (chat, as) => chat.answered(as));
}

/**
 * Takes an "answered" back: the chat waits again, since the first message of the contact that no message followed.
 * @throws ApiError `chat_not_found`; `nothing_unanswered` if the contact has not written since; `unavailable` while the
 *   organization's object does not answer: repeat the call
 */
export function markUnanswered(env: Env, owner: Owner, chatId: string): Promise<Chat> {
  return changed(env, owner, chatId, (chat, as) => chat.unanswered(as));
}

async function changed(
  env: Env,
  owner: Owner,
  chatId: string,
  change: (chat: ChatStub, as: AsOwner) => Promise<ChangeAnswer>,
): Promise<Chat> {
  const answer = await callChat(env, owner, chatId, change);
  if (answer.outcome === "reassigned") throw new ApiError("chat_reassigned");
  if (answer.outcome === "nothing_unanswered") throw new ApiError("nothing_unanswered");
  if (answer.outcome === "invalid") throw new ApiError("validation_failed", { faults: answer.faults });
  if (answer.outcome === "not_reported") throw unavailable(`The list of chats may not know the change of ${chatId}`);
  return (await readChat(env, owner, chatId)).chat;
}
