import type { ChatIdentity } from "../model/chat-answers.ts";
import type { Region } from "../model/region.ts";
import type { Visitor } from "../model/visitor.ts";
import { callObject } from "./call-object.ts";
import { openChat } from "./open-chat.ts";

export type OpenedChat =
  | { outcome: "opened"; identity: ChatIdentity }
  /** Too many new chats from one network. `retryAfter` is in seconds. */
  | { outcome: "too_many"; retryAfter: number }
  | { outcome: "no_channel" }
  /** The organization or the channel has reached its limit of chats. */
  | { outcome: "chat_limit" }
  /** The chat is being deleted. */
  | { outcome: "deleting" };

/**
 * Creates the visitor's chat, or finds it, if the channel's limits of new chats allow. A chat that its object has adopted
 * never comes here, so it doesn't count toward the limits.
 * @param region where the channel's object is created, if this is its first call
 * @throws if the channel's or the organization's object does not answer
 */
export async function openVisitorChat(env: Env, visitor: Visitor, region: Region | null): Promise<OpenedChat> {
  const { chatId, organizationId, channelId, address } = visitor;
  const permit = await callObject(
    env.CHANNELS,
    channelId,
    (channel) => channel.admitNewChat(visitor.clientNetwork, chatId),
    region,
  );
  if (!permit.ok) return { outcome: "too_many", retryAfter: permit.retryAfter };
  return openChat(env, { channel: { id: channelId, organizationId, kind: "web" }, address, isLimited: true });
}
