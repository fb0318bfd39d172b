import type { Visitor } from "../../channels/web/visitor.ts";
import { directory } from "../../db/client.ts";
import { callObject } from "../../platform/call-object.ts";
import { findIdentity } from "../directory.ts";
import type { ChatIdentity } from "../identity.ts";
import { openChat } from "../open-chat.ts";

/** What a visitor's first message found. */
export type OpenedChat =
  | { outcome: "opened"; identity: ChatIdentity }
  /** Too many new chats from one network; seconds. */
  | { outcome: "too_many"; retryAfter: number }
  | { outcome: "no_channel" }
  /** The address has a chat of another id, which another object holds. */
  | { outcome: "elsewhere" }
  /** The chat is just being erased. */
  | { outcome: "erasing" };

/**
 * Finds the visitor's chat in the directory, or creates it if the channel's limits of new chats allow. A chat that
 * existed when the socket was opened doesn't count towards the limits.
 * @throws if the directory or the channel's object does not answer
 */
export async function openVisitorChat(env: Env, visitor: Visitor): Promise<OpenedChat> {
  const { chatId, organizationId, channelId, address } = visitor;
  const db = directory(env);
  const known = visitor.chatExists ? await findIdentity(db, organizationId, chatId) : null;
  if (known) return { outcome: "opened", identity: known };
  const permit = await callObject(env.CHANNELS, channelId, (channel) =>
    channel.mayOpenChat(visitor.clientNetwork, chatId),
  );
  if (!permit.ok) {
    // The company may have begun it since the socket was opened: that is asked where it matters alone.
    const begun = visitor.chatExists ? null : await findIdentity(db, organizationId, chatId);
    return begun ? { outcome: "opened", identity: begun } : { outcome: "too_many", retryAfter: permit.retryAfter };
  }
  const asked = { channel: { id: channelId, organizationId, kind: "web" as const }, address, name: null, metadata: {} };
  const opened = await openChat(env, asked, Date.now());
  if (opened.outcome === "no_channel") return opened;
  const found = opened.outcome === "opened" ? opened.identity.chatId : opened.chatId;
  return found === chatId ? opened : { outcome: "elsewhere" };
}
