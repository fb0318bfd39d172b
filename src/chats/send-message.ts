import { BatchedCalls } from "../calls/batched-calls.ts";
import { callChat } from "../calls/call-chat.ts";
import { refusedNeed } from "../keys/guard.ts";
import { type Caller, describeCaller } from "../model/caller.ts";
import type { Draft, Prepared, RefusedDraft, SendAnswer } from "../model/chat-answers.ts";
import { ApiError } from "../model/error.ts";
import { jurisdictionOf, newId } from "../model/id.ts";
import { extraOf, type SendBody, typeOf } from "../model/message.ts";
import { timeFaults } from "../model/schedule.ts";
import { fromText } from "../platform/answer-text.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { fingerprintOf, idempotencyHashOf } from "./idempotency.ts";
import { preparedTemplate } from "./prepare-template.ts";
import { senderFor } from "./sender.ts";
import { findSenderAndTemplate, type SendData } from "./senders-and-templates.ts";

const sends = perIsolate(() => new BatchedCalls<Draft, SendAnswer>());

/** A request to send. `url` is its own, for the address of a file that it sends. */
export interface SendRequest {
  body: SendBody;
  idempotencyKey: string | null;
  url: string;
}

/**
 * Stores a message for delivery. Concurrent sends in a chat are stored in one commit.
 * @returns the message's JSON; `replayed` if the idempotency key was used before
 */
export async function sendMessage(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  caller: Caller,
  chatId: string,
  request: SendRequest,
): Promise<{ doc: string; replayed: boolean }> {
  const draft = await draftOf(env, ctx, caller, chatId, request);
  const { organizationId } = caller;
  const answer = await sends(env).ask(ctx, JSON.stringify([organizationId, chatId]), draft, async (drafts, isRepeat) =>
    fromText(
      await callChat(env, caller, chatId, (chat, as) =>
        chat.send({ ...as, isRepeat: as.isRepeat || isRepeat }, drafts),
      ),
    ),
  );
  if (answer.outcome === "stored") return answer;
  const { code, text, faults } = answer;
  throw new ApiError(code, { text, faults });
}

/** What the chat's object stores, or refuses. @throws ApiError `permission_denied` */
export async function draftOf(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  caller: Caller,
  chatId: string,
  { body, idempotencyKey, url }: SendRequest,
): Promise<Draft> {
  // Sending a draft deletes its note.
  const refused = body.draftId === undefined ? null : refusedNeed(caller, "notes:write");
  if (refused) throw refused;
  const mediaId = body.mediaId ?? body.template?.header?.mediaId;
  return {
    id: newId("msg", jurisdictionOf(caller.organizationId)),
    calledAt: Date.now(),
    content: body.content,
    type: typeOf(body),
    mediaUrl: body.mediaUrl ?? null,
    templateId: body.templateId ?? null,
    variables: body.variables ?? null,
    metadata: body.metadata,
    scheduledAt: body.scheduledAt ?? null,
    expiresAt: body.expiresAt ?? null,
    ifSeq: body.ifSeq ?? null,
    ifOpen: body.ifOpen,
    botOf: caller.botOf,
    extra: extraOf(body),
    ...(body.draftId !== undefined && { draft: { noteId: body.draftId, by: describeCaller(caller) } }),
    ...(mediaId !== undefined && { mediaId, origin: new URL(url).origin }),
    idempotencyHash: idempotencyKey === null ? null : await idempotencyHashOf(chatId, idempotencyKey),
    fingerprint: idempotencyKey === null ? null : await fingerprintOf(body),
    prepared: prepare(caller, body, await findSenderAndTemplate(env, ctx, caller.organizationId, body)),
  };
}

/** The sender and the text to deliver, or the first reason to refuse. */
function prepare(caller: Caller, body: SendBody, found: SendData | null): Prepared | RefusedDraft {
  const faults = timeFaults(body, Date.now());
  if (faults.length > 0) return { outcome: "refused", code: "validation_failed", faults };
  if (body.senderId !== undefined && !found?.sender) return { outcome: "refused", code: "sender_not_found" };
  const chosen = senderFor(caller, body.senderId, found?.sender?.name);
  if ("outcome" in chosen) return chosen;
  const sender = { outcome: "prepared" as const, ...chosen };
  if (body.templateId === undefined) return { ...sender, text: body.content, template: null };
  if (!found?.template) return { outcome: "refused", code: "template_not_found" };
  const prepared = preparedTemplate(found.template, body);
  return prepared.outcome === "refused" ? prepared : { ...prepared, ...sender };
}
