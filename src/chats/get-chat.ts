import { callChat, type Owner } from "../calls/call-chat.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { type Chat, withActivity } from "../model/chat.ts";
import type { Queue } from "../model/chat-answers.ts";
import { ApiError } from "../model/error.ts";

/**
 * A chat and the state of its queue. Its activity comes from the chat's object, because the organization's object lags
 * behind.
 * @throws ApiError `chat_not_found`
 */
export async function readChat(env: Env, owner: Owner, chatId: string): Promise<{ chat: Chat; queue: Queue }> {
  const { organizationId, region } = owner;
  const [state, chat] = await Promise.all([
    callChat(env, owner, chatId, (object, as) => object.state(as)),
    callOrganization(env, organizationId, (organization) => organization.find(chatId), region),
  ]);
  if (!chat) throw new ApiError("chat_not_found");
  const { activity, queue } = state;
  const { bot } = activity;
  // The organization's object may not know yet that a bot has the chat, or the chat that its bot is a former one.
  const isUnsure = bot != null && chat.handler === "people";
  const known = isUnsure
    ? await callOrganization(env, organizationId, (organization) => organization.find(chatId, undefined, bot), region)
    : chat;
  return { chat: withActivity(known ?? chat, activity), queue };
}
