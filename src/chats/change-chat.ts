import * as z from "zod/mini";
import { type ChatStub, callChat, type Owner } from "../calls/call-chat.ts";
import { permissionsOf } from "../db/members.ts";
import { fault } from "../http/validation.ts";
import { type Caller, describeCaller } from "../model/caller.ts";
import { type Chat, contactNameField, personIdField } from "../model/chat.ts";
import type { AsOwner, ChangeAnswer, ChatIdentity } from "../model/chat-answers.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { bodyId, instant } from "../model/field.ts";
import { ifSeqField, metadataPatch } from "../model/message.ts";
import { canTakeChats } from "../model/permission.ts";
import { snoozeFault } from "../model/schedule.ts";
import { WORK_STATES } from "../model/work-state.ts";
import { readChat } from "./get-chat.ts";

/**
 * The body of `PATCH /chats/{id}`. Absent fields don't change. Null removes the name and the person (a `contact` that
 * is null removes both), the metadata or one of its pairs, unassigns the chat (`assigneeId`), and opens it (`state`).
 */
export const chatPatch = z
  .object({
    contact: z.nullish(z.object({ name: z.nullish(contactNameField), personId: z.nullish(personIdField) })),
    metadata: metadataPatch,
    assigneeId: z.nullish(bodyId),
    ifAssigneeId: z.nullish(bodyId),
    marketing: z.optional(z.object({ optedOut: z.boolean() })),
    state: z.nullish(z.enum(WORK_STATES)),
    snoozedUntil: z.nullish(instant),
    ifSeq: ifSeqField,
  })
  .check(
    z.refine(({ state, snoozedUntil }) => state !== "snoozed" || snoozedUntil != null, {
      path: ["snoozedUntil"],
      error: "must be a time, because state is snoozed",
    }),
    z.refine(({ state, snoozedUntil }) => state === "snoozed" || snoozedUntil == null, {
      path: ["snoozedUntil"],
      error: "can only be given with the state snoozed",
    }),
    z.refine(({ state, ifSeq }) => state !== undefined || ifSeq === undefined, {
      path: ["ifSeq"],
      error: "needs state",
    }),
    z.refine(({ assigneeId, ifAssigneeId }) => ifAssigneeId === undefined || assigneeId !== undefined, {
      path: ["ifAssigneeId"],
      error: "needs assigneeId",
    }),
  );

/** The body of `POST /chats/{id}/answered`. */
export const answeredBody = z.object({ ifSeq: ifSeqField });

/**
 * Changes the contact's name and person, the metadata, the assignee and the state of a chat, and whether the contact
 * takes marketing.
 * @throws ApiError `chat_not_found`, `member_not_found`; `chat_reassigned` if the chat is not `ifAssigneeId`'s;
 *   `chat_moved_on` if its newest message is not `ifSeq`; `validation_failed` if the metadata would be too large, the
 *   member only reads chats, or a snooze would end in the past or in more than 366 days; `unavailable` while the
 *   organization's object does not answer: repeat the call
 */
export async function patchChat(
  env: Env,
  caller: Caller,
  chatId: string,
  { contact, metadata, assigneeId, ifAssigneeId, marketing, ...work }: z.output<typeof chatPatch>,
): Promise<Chat> {
  const wrong = work.snoozedUntil == null ? null : snoozeFault(work.snoozedUntil, Date.now());
  if (wrong) throw fault("snoozedUntil", wrong);
  if (assigneeId != null) await checkAssignee(env, caller, assigneeId);
  const by = describeCaller(caller);
  const ofContact = <Value>(value: Value) => (contact === null ? null : value);
  const details = { name: ofContact(contact?.name), metadata, personId: ofContact(contact?.personId) };
  const assignment = assigneeId === undefined ? null : { assigneeId, ifAssigneeId, by };
  const said = marketing ? { ...marketing, by: by.type === "key" ? ("key" as const) : ("member" as const) } : null;
  const { state, snoozedUntil = null, ifSeq } = work;
  const moved = state === undefined ? null : { state: state ?? "open", snoozedUntil, ifSeq, by };
  const change = { details, assignment, marketing: said, state: moved };
  if (details.personId !== undefined) return changed(env, caller, chatId, (chat, as) => chat.changePerson(as, change));
  if (moved) return changed(env, caller, chatId, (chat, as) => chat.changeState(as, change));
  if (said) return changed(env, caller, chatId, (chat, as) => chat.changeMarketing(as, said, details, assignment));
  if (!assignment) return changed(env, caller, chatId, (chat, as) => chat.patch(as, details));
  return changed(env, caller, chatId, (chat, as) => chat.assign(as, assignment, details));
}

/**
 * Sets the person of a chat that has none.
 * @throws ApiError `chat_not_found`; `unavailable` as `patchChat`
 */
export function setPerson(env: Env, owner: Owner, identity: ChatIdentity, personId: string): Promise<Chat> {
  return changed(env, owner, identity.chatId, (chat, as) => chat.setPerson(as, personId), identity);
}

/** @throws ApiError `member_not_found`; `validation_failed` for a member who only reads, so could answer nobody */
export async function checkAssignee(env: Env, { organizationId }: Owner, assigneeId: string): Promise<void> {
  // Not from the isolate's memory: a removed member must get no chat.
  const permissions = await permissionsOf(env, organizationId, assigneeId);
  if (!permissions) throw new ApiError("member_not_found");
  if (!canTakeChats(permissions)) {
    throw fault("assigneeId", "must be a member with the permission messages:send or chats:write");
  }
}

/**
 * Takes a chat off the list of the unanswered ones, until the contact writes again.
 * @throws ApiError `chat_not_found`; `chat_moved_on` if its newest message is not `ifSeq`; `unavailable` while the
 *   organization's object does not answer: repeat the call
 */
export function markAnswered(
  env: Env,
  owner: Owner,
  chatId: string,
  { ifSeq }: z.output<typeof answeredBody>,
): Promise<Chat> {
  return changed(env, owner, chatId, (chat, as) =>
    ifSeq === undefined ? chat.answered(as) : chat.answeredIf(as, ifSeq),
  );
}

/**
 * Takes an "answered" back: the chat is open and waits again, since the first message of the contact that no message
 * followed.
 * @throws ApiError `chat_not_found`; `nothing_unanswered` if the contact has not written since; `unavailable` while the
 *   organization's object does not answer: repeat the call
 */
export function markUnanswered(env: Env, caller: Caller, chatId: string): Promise<Chat> {
  return changed(env, caller, chatId, (chat, as) => chat.unanswered(as, describeCaller(caller)));
}

/**
 * Gives a chat a label, or takes it off. A repeated call changes nothing.
 * @throws ApiError `chat_not_found`, `label_not_found`; `label_limit` if it has 20; `unavailable` while the
 *   organization's object does not answer: repeat the call
 */
export function labelChat(env: Env, owner: Owner, chatId: string, labelId: string, isGiven: boolean): Promise<Chat> {
  return changed(env, owner, chatId, (chat, as) => chat.label(as, labelId, isGiven));
}

async function changed(
  env: Env,
  owner: Owner,
  chatId: string,
  change: (chat: ChatStub, as: AsOwner) => Promise<ChangeAnswer>,
  known: ChatIdentity | null = null,
): Promise<Chat> {
  const answer = await callChat(env, owner, chatId, change, known);
  if (answer.outcome === "reassigned") throw new ApiError("chat_reassigned");
  if (answer.outcome === "nothing_unanswered") throw new ApiError("nothing_unanswered");
  if (answer.outcome === "refused") throw new ApiError(answer.code, { text: answer.text });
  if (answer.outcome === "invalid") throw new ApiError("validation_failed", { faults: answer.faults });
  if (answer.outcome === "not_reported") throw unavailable(`The list of chats may not know the change of ${chatId}`);
  return (await readChat(env, owner, chatId)).chat;
}
