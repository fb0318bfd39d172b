import * as z from "zod/mini";
import { callChat, type MessageIds } from "../calls/call-chat.ts";
import { type Caller, describeCaller } from "../model/caller.ts";
import type { ActRefusal } from "../model/chat-answers.ts";
import { oneEmoji } from "../model/content-schema.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { bodyId } from "../model/field.ts";

/** The acts besides sending: reactions, read marks, typing indicators. */

/** The body of `PUT /chats/{id}/messages/{messageId}/reaction`. */
export const reactionBody = z.object({ emoji: oneEmoji });

/** The body of `POST /chats/{id}/read`. */
export const readBody = z.object({ messageId: bodyId });

/** The body of `POST /chats/{id}/typing`. It has no fields. */
export const typingBody = z.object({});

/**
 * Reacts to a message, or takes the reaction back (`emoji` is null).
 * @returns the message's JSON
 * @throws ApiError `chat_not_found`, `message_not_found`; `not_sent`, `redacted`; `not_supported_by_channel`,
 *   `refused_by_network`; `unavailable` if the channel or the network can't do it now
 */
export async function react(
  env: Env,
  caller: Caller,
  { chatId, messageId }: MessageIds,
  emoji: string | null,
): Promise<string> {
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.react(as, messageId, emoji));
  if (answer.outcome !== "ok") throw errorOf(chatId, answer);
  return answer.doc;
}

/** Marks the contact's messages up to this one as read. @returns whether the contact sees it @throws as `react` */
export async function markRead(env: Env, caller: Caller, chatId: string, messageId: string): Promise<boolean> {
  const answer = await callChat(env, caller, chatId, (chat, as) => chat.markRead(as, messageId));
  if (answer.outcome !== "ok") throw errorOf(chatId, answer);
  return answer.shown;
}

/** Shows the contact that somebody writes. @returns whether the contact sees it @throws as `react` */
export async function showTyping(env: Env, caller: Caller, chatId: string): Promise<boolean> {
  const { publicName } = caller;
  const answer = await callChat(env, caller, chatId, (chat, as) =>
    chat.showTyping(as, describeCaller(caller), publicName),
  );
  if (answer.outcome !== "ok") throw errorOf(chatId, answer);
  return answer.shown;
}

function errorOf(chatId: string, answer: ActRefusal): ApiError {
  switch (answer.outcome) {
    case "no_message":
      return new ApiError("message_not_found");
    case "away":
      return unavailable(`${chatId}: the act can't be made now`, answer.retryAfter);
    case "refused":
      return new ApiError(answer.code, { text: answer.text, faults: answer.faults });
  }
}
