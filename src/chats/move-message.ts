import * as z from "zod/mini";
import { callChat } from "../calls/call-chat.ts";
import type { Caller } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { instant } from "../model/field.ts";
import { timeFaults } from "../model/schedule.ts";

/** The body of `PATCH /chats/{id}/messages/{messageId}`. Absent times don't change. Null is now, or never. */
export const messagePatch = z.object({ scheduledAt: z.nullish(instant), expiresAt: z.nullish(instant) });

/**
 * Changes when a scheduled message is sent.
 * @returns the message's JSON
 * @throws ApiError `validation_failed` for the times; `chat_not_found`, `message_not_found`; `not_scheduled`; for a message
 *   that is to be sent now, `chat_backlog` or `chat_full`
 */
export async function moveMessage(
  env: Env,
  caller: Caller,
  { chatId, messageId }: { chatId: string; messageId: string },
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
