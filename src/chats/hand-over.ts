import * as z from "zod/mini";
import { callChat } from "../calls/call-chat.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { fault } from "../http/validation.ts";
import { refusedNeed } from "../keys/guard.ts";
import { type Caller, describeCaller } from "../model/caller.ts";
import type { Chat } from "../model/chat.ts";
import type { Draft, HandoverRequest, NoteDraft } from "../model/chat-answers.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { bodyId } from "../model/field.ts";
import { HANDLERS } from "../model/handover.ts";
import { jurisdictionOf, newId } from "../model/id.ts";
import { sendBody } from "../model/message.ts";
import { checkAssignee } from "./change-chat.ts";
import { readChat } from "./get-chat.ts";
import { fingerprintOf, handoverFingerprintOf, handoverNoteHashOf, idempotencyHashOf } from "./idempotency.ts";
import { noteBody, noteDraftOf } from "./notes.ts";
import { draftOf } from "./send-message.ts";

const handoverNote = z.omit(noteBody, { draft: true });
const NO_NOTE = "must be the text of a note, or what POST /chats/{id}/notes takes";

/** The body of `POST /chats/{id}/handover`. A note is a text, or what `POST /chats/{id}/notes` takes. */
export const handoverBody = z.object({
  to: z.enum(HANDLERS),
  message: z.nullish(sendBody),
  note: z.nullish(z.union([noteBody.shape.content, handoverNote], { error: NO_NOTE })),
  assigneeId: z.nullish(bodyId),
});
type HandoverBody = z.output<typeof handoverBody>;

/**
 * Hands a chat to people or to the channel's bot, with a last message, a note and an assignee, in one commit. If the
 * chat has this handler already, it keeps it.
 * @param request `url` is its own, for the address of a file that the message sends
 * @returns the chat, and the JSON of the message; null if it has none. `replayed` if the idempotency key was used before
 * @throws ApiError `permission_denied`, `drafts_only` if a part lacks its permission; `no_bot`; `handed_over` if the bot
 *   asks and people have the chat; as `sendMessage`, `addNote` and `patchChat`; `unavailable` while the organization's
 *   object does not answer: the chat has changed, repeat the call
 */
export async function handOver(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  caller: Caller,
  chatId: string,
  { body, idempotencyKey, url }: { body: HandoverBody; idempotencyKey: string | null; url: string },
): Promise<{ chat: Chat; doc: string | null; replayed: boolean }> {
  const { to, message, assigneeId } = body;
  const note = noteIn(body);
  const refused = (message && refusedNeed(caller, "contact:reach")) ?? (note && refusedNeed(caller, "notes:write"));
  if (refused) throw refused;
  if (message?.scheduledAt != null)
    throw fault("message.scheduledAt", "can't be given: the message is sent with the act");
  if (assigneeId != null) await checkAssignee(env, caller, assigneeId);
  const { organizationId, region } = caller;
  const by = describeCaller(caller);
  const draft = message ? await draftOf(env, ctx, caller, chatId, { body: message, idempotencyKey, url }) : null;
  const noted = note ? await noteDraftOf(env, caller, chatId, note, idempotencyKey) : null;
  const request: HandoverRequest = {
    id: newId("msg", jurisdictionOf(organizationId)),
    ...{ to, by, botOf: caller.botOf, idempotencyHash: null, fingerprint: null },
    bot: to === "bot" ? await callOrganization(env, organizationId, (object) => object.botOf(chatId), region) : null,
    ...{ message: draft, note: noted },
    assignment: assigneeId === undefined ? null : { assigneeId, by },
    ...(idempotencyKey !== null && (await identified(chatId, idempotencyKey, body, draft, noted))),
  };
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.handOver(as, request));
  if (answer.outcome === "refused") throw refusalOf(answer);
  if (!answer.reported) throw unavailable(`The list of chats may not know who has ${chatId}`);
  const { doc, replayed } = answer;
  return { chat: (await readChat(env, caller, chatId)).chat, doc, replayed };
}

function noteIn({ note }: HandoverBody): z.output<typeof noteBody> | null {
  if (note == null) return null;
  return { mentions: undefined, ...(typeof note === "string" ? { content: note } : note), draft: undefined };
}

/**
 * The act under its idempotency key, which stands for the whole of it. What the message and the note say is in their own
 * fingerprints: those are gone with the text.
 */
async function identified(
  chatId: string,
  key: string,
  { to, message, assigneeId }: HandoverBody,
  draft: Draft | null,
  note: NoteDraft | null,
): Promise<Pick<HandoverRequest, "idempotencyHash" | "fingerprint" | "message" | "note">> {
  const asked = [to, assigneeId === undefined ? [] : [assigneeId], draft !== null, note !== null];
  const sent = message && [...asked, await fingerprintOf(message)];
  return {
    idempotencyHash: await idempotencyHashOf(chatId, key),
    fingerprint: await handoverFingerprintOf(asked),
    message: draft && { ...draft, fingerprint: sent ? await handoverFingerprintOf(sent) : null },
    note: note && { ...note, idempotencyHash: await handoverNoteHashOf(chatId, key) },
  };
}

/** The faults are those of a part of the body. */
function refusalOf({ code, text, faults }: { code: ApiError["code"]; text?: string; faults?: ApiError["faults"] }) {
  const inPart = (path: string) => (path.startsWith("mentions") ? `note.${path}` : `message.${path}`);
  return new ApiError(code, { text, faults: faults?.map((each) => ({ ...each, path: inPart(each.path) })) });
}
