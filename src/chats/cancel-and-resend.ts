import * as z from "zod/mini";
import { callChat, type MessageIds } from "../calls/call-chat.ts";
import type { Caller } from "../model/caller.ts";
import type { ResendRequest, ShownHistory } from "../model/chat-answers.ts";
import { ApiError } from "../model/error.ts";
import { instant } from "../model/field.ts";
import { jurisdictionOf, newId } from "../model/id.ts";
import type { resendBody } from "../model/message.ts";
import { timeFaults } from "../model/schedule.ts";
import { senderFor } from "./sender.ts";
import { findSenderAndTemplate } from "./senders-and-templates.ts";

/** The body of `PATCH /chats/{id}/messages/{messageId}`. Absent times don't change. Null is now, or never. */
export const messagePatch = z.object({ scheduledAt: z.nullish(instant), expiresAt: z.nullish(instant) });

/**
 * Cancels a message.
 * @returns the message's JSON
 * @throws ApiError `chat_not_found`, `message_not_found`, `not_cancelable`
 */
export async function cancelMessage(env: Env, caller: Caller, { chatId, messageId }: MessageIds): Promise<string> {
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.cancel(as, messageId));
  if (answer.outcome === "ok") return answer.doc;
  throw new ApiError(answer.outcome === "no_message" ? "message_not_found" : answer.outcome);
}

/**
 * Sends a failed message again, as a new message.
 * @returns the new message's JSON; `replayed` if the message was sent again before
 */
export async function resendMessage(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  caller: Caller,
  { chatId, messageId }: MessageIds,
  body: z.output<typeof resendBody>,
): Promise<{ doc: string; replayed: boolean }> {
  const request: ResendRequest = {
    id: newId("msg", jurisdictionOf(caller.organizationId)),
    calledAt: Date.now(),
    messageId,
    scheduledAt: body.scheduledAt ?? null,
    expiresAt: body.expiresAt ?? null,
    ifSeq: body.ifSeq ?? null,
    ifOpen: body.ifOpen,
    botOf: caller.botOf,
    sender: await senderOf(env, ctx, caller, body),
  };
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.resend(as, request));
  if (answer.outcome === "stored") return answer;
  const { code, text, faults } = answer;
  throw new ApiError(code, { text, faults });
}

/** The new sender, or the first reason to refuse. It is the chat that refuses, because a repeat gets its message. */
async function senderOf(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  caller: Caller,
  body: z.output<typeof resendBody>,
): Promise<ResendRequest["sender"]> {
  const { senderId } = body;
  const found = await findSenderAndTemplate(env, ctx, caller.organizationId, { senderId });
  const faults = timeFaults(body, Date.now());
  if (faults.length > 0) return { outcome: "refused", code: "validation_failed", faults };
  if (senderId !== undefined && !found?.sender) return { outcome: "refused", code: "sender_not_found" };
  const isMember = caller.principal.type === "member";
  if (senderId === undefined && !isMember) return { outcome: "found", senderId: null };
  const chosen = senderFor(caller, senderId, found?.sender?.name);
  return "outcome" in chosen ? chosen : { outcome: "found", ...chosen };
}

/** Reads the attempts of a message. @throws ApiError `chat_not_found`, `message_not_found` */
export async function readAttempts(env: Env, caller: Caller, { chatId, messageId }: MessageIds): Promise<ShownHistory> {
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.attempts(as, messageId));
  if (answer.outcome === "no_message") throw new ApiError("message_not_found");
  return answer.history;
}

/**
 * Changes when a scheduled message is sent.
 * @returns the message's JSON
 * @throws ApiError `validation_failed` for the times; `chat_not_found`, `message_not_found`; `not_scheduled`; for a message
 *   that is to be sent now, `window_closed`, `opted_out`, `chat_backlog` or `chat_full`
 */
export async function moveMessage(
  env: Env,
  caller: Caller,
  { chatId, messageId }: MessageIds,
  change: z.output<typeof messagePatch>,
): Promise<string> {
  const faults = timeFaults(change, Date.now());
  if (faults.length > 0) throw new ApiError("validation_failed", { faults });
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.move(as, messageId, change));
  switch (answer.outcome) {
    case "ok":
      return answer.doc;
    case "no_message":
      throw new ApiError("message_not_found");
    case "not_scheduled":
      throw new ApiError("not_scheduled");
    case "refused":
      throw new ApiError(answer.code, { text: answer.text, faults: answer.faults });
  }
}
