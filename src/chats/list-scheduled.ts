import type * as z from "zod/mini";
import { callChat } from "../calls/call-chat.ts";
import type { afterQuery } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import type { Caller } from "../model/caller.ts";
import { parseScheduleCursor } from "../model/schedule.ts";

/**
 * A chat's scheduled messages, soonest first, as the JSON of the response.
 * @throws ApiError `validation_failed` for a text that is not a cursor of this list; `chat_not_found`
 */
export async function listScheduled(
  env: Env,
  caller: Caller,
  chatId: string,
  { limit, after }: z.output<typeof afterQuery>,
): Promise<string> {
  const position = after === undefined ? null : parseScheduleCursor(chatId, after);
  if (after !== undefined && !position) throw fault("after", "is not a cursor of this list");
  const { body } = await callChat(env, caller, chatId, (chat, as) => chat.listScheduled(as, limit, position));
  return body;
}
