import type { Visitor } from "../../channels/web/visitor.ts";
import { directory } from "../../db/client.ts";
import { callObject } from "../../platform/call-object.ts";
import { findIdentity } from "../directory.ts";
import type { ChatIdentity } from "../identity.ts";
import { openChat } from "../open-chat.ts";

export type OpenedChat =
  | { outcome: "opened"; identity: ChatIdentity }
  /** Too many new chats from one network. `retryAfter` is in seconds. */
  | { outcome: "too_many"; retryAfter: number }
  | { outcome: "no_channel" }
  /** The address belongs to a chat with another id, in another object. */
  | { outcome: "other_chat" }
  /** The chat is being deleted. */
  | { outcome: "erasing" };

/**
 * Finds the visitor's chat in the directory, or creates it if the channel's limits for new chats allow it. A chat that
 * existed when the socket was opened doesn't count towards the limits.
 * @throws if the directory or the channel's object does not answer
 */
export async function openVisitorChat(env: Env, visitor: Visitor): Promise<OpenedChat> {
  const { chatId, organizationId, channelId, address } = visitor;
  const db = directory(env);
  const known = visitor.chatExists ? await findIdentity(db, organizationId, chatId) : null;
  if (known) return { outcome: "opened", identity: known };
  const permit = await callObject(env.CHANNELS, channelId, (channel) =>
    channel.admitNewChat(visitor.clientNetwork, chatId),
  );
  if (!permit.ok) {
    // The company may have created the chat since the socket was opened.
    const existing = visitor.chatExists ? null : await findIdentity(db, organizationId, chatId);
    if (existing) return { outcome: "opened", identity: existing };
    return { outcome: "too_many", retryAfter: permit.retryAfter };
  }
  const channel = { id: channelId, organizationId, kind: "web" as const };
  const opened = await openChat(env, { channel, address, name: null, metadata: {} }, Date.now());
  if (opened.outcome === "no_channel") return opened;
  const found = opened.outcome === "opened" ? opened.identity.chatId : opened.chatId;
  return found === chatId ? opened : { outcome: "other_chat" };
}
