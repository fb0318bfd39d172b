import { ApiError } from "../model/error.ts";
import { isId } from "../model/id.ts";
import { callObject, NEARBY } from "./call-object.ts";

/**
 * The organization of a chat, for a caller that knows only the chat's id. The chat's object names it, for a while even
 * after the chat was deleted.
 * @throws ApiError `chat_not_found`
 */
export async function ownerOf(env: Env, chatId: string): Promise<{ organizationId: string }> {
  const owner = isId("cht", chatId) ? await callObject(env.CHATS, chatId, (chat) => chat.owner(), NEARBY) : null;
  if (!owner) throw new ApiError("chat_not_found");
  return owner;
}
