import { and, eq, isNull } from "drizzle-orm";
import * as z from "zod/mini";
import { contactAddress } from "../channels/kinds.ts";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import { atMost, optional, requiredText, wellFormed } from "../http/fields.ts";
import { type Chat, findChat, openChat } from "./directory.ts";
import { metadata } from "./message.ts";

const contactName = z.string().check(
  z.refine((text) => text.trim() !== "", { error: "must not be blank", abort: true }),
  wellFormed,
  ...atMost(256),
);

/** The body of `POST /chats`. */
export const newChatBody = z.object({
  channelId: requiredText(64),
  contact: z.object({ address: requiredText(256), name: optional(contactName) }),
  metadata,
});

/**
 * The chat with a contact on one of the organization's channels: made now, or the one that the address has already,
 * with its first name and metadata.
 * @throws ApiError `channel_not_found`; `validation_failed` for an address that the channel can't have; `unavailable`
 *   while the address's chat is being erased
 */
export async function createChat(
  env: Env,
  organizationId: string,
  body: z.output<typeof newChatBody>,
): Promise<{ chat: Chat; created: boolean }> {
  const db = directory(env);
  const channel = await db
    .select({ id: channels.id, organizationId: channels.organizationId, kind: channels.kind })
    .from(channels)
    .where(
      and(eq(channels.id, body.channelId), eq(channels.organizationId, organizationId), isNull(channels.erasingAt)),
    )
    .get();
  if (!channel) throw new ApiError("channel_not_found");
  const address = contactAddress(channel.kind, body.contact.address);
  const name = body.contact.name ?? null;
  const opened = await openChat(env, { channel, address, name, metadata: body.metadata }, Date.now());
  if (!opened) throw new ApiError("channel_not_found");
  const chat = await findChat(db, organizationId, opened.chatId);
  // The address has a chat whose deletion is not finished: once it is, the address gets a new one.
  if (!chat) throw unavailable(`${opened.chatId} is being erased`);
  return { chat, created: opened.created };
}
