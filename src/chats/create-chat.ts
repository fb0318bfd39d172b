import { and, eq, isNull } from "drizzle-orm";
import * as z from "zod/mini";
import { nullIfNotFound, type Owner } from "../calls/call-chat.ts";
import { callObject, NEARBY } from "../calls/call-object.ts";
import { type NewChat, openChat } from "../calls/open-chat.ts";
import { alikeOf, contactAddress } from "../channels/kinds.ts";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { type Chat, contactNameField, personIdField } from "../model/chat.ts";
import type { AdoptAnswer } from "../model/chat-answers.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { optional, requiredText } from "../model/field.ts";
import { metadata } from "../model/message.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { setPerson } from "./change-chat.ts";

type Channel = NewChat["channel"];

/** The channels that this isolate has read. These fields never change. */
const knownChannels = perIsolate(() => new BoundedMap<string, Channel>(1_000));

/** The body of `POST /chats`. */
export const newChatBody = z.object({
  channelId: requiredText(64),
  contact: z.object({
    address: requiredText(256),
    name: optional(contactNameField),
    personId: optional(personIdField),
  }),
  metadata,
});

/**
 * Creates a chat with a contact on a channel. If the address has a chat already, returns that chat, and sets only its
 * `personId`, if it has none. From then on it stays, even if a visitor's file began it.
 * @throws ApiError `channel_not_found`; `chat_limit`; `validation_failed` for an address that is not valid on the channel;
 *   `unavailable` while the address's chat is being deleted, and while the organization's object does not answer
 */
export async function createChat(
  env: Env,
  owner: Owner,
  body: z.output<typeof newChatBody>,
): Promise<{ chat: Chat; created: boolean }> {
  const { organizationId, region = NEARBY } = owner;
  const channel = await findChannel(env, organizationId, body.channelId);
  if (!channel) throw new ApiError("channel_not_found");
  const address = contactAddress(channel.kind, body.contact.address);
  const { name = null, personId } = body.contact;
  const opened = await openChat(env, {
    channel: { ...channel, region },
    address,
    alike: alikeOf(channel.kind, [address], false),
    name,
    metadata: body.metadata,
    personId,
    isLimited: true,
  });
  if (opened.outcome === "no_channel") throw new ApiError("channel_not_found");
  if (opened.outcome === "chat_limit") throw new ApiError("chat_limit");
  if (opened.outcome === "deleting") throw unavailable(`${opened.chatId} is being deleted`);
  const { chat, created, identity } = opened;
  // A visitor's file may have begun a web chat without messages, which then would go with the file.
  if (created || (channel.kind === "web" && chat.lastMessage === null)) {
    const answer = await callObject(env.CHATS, chat.id, (object) => object.adopt(identity, true), region);
    // An object that still runs an earlier version answers nothing.
    if ((answer as AdoptAnswer | undefined)?.outcome === "unknown") throw unavailable(`${chat.id} is being deleted`);
  }
  // The chat may have a person already. An organization's object of an earlier version creates it without one.
  const isOther = personId !== undefined && chat.contact.personId !== personId;
  const changed = isOther ? await nullIfNotFound(setPerson(env, owner, identity, personId)) : chat;
  if (!changed) throw unavailable(`${chat.id} is being deleted`);
  return { chat: changed, created };
}

/** An organization's channel, perhaps from memory. `openChat` notices if it was deleted since. */
async function findChannel(env: Env, organizationId: string, id: string): Promise<Channel | undefined> {
  const known = knownChannels(env).get(id);
  // For another organization's channel the query finds nothing.
  if (known?.organizationId === organizationId) return known;
  const channel = await directory(env)
    .select({ id: channels.id, organizationId: channels.organizationId, kind: channels.kind })
    .from(channels)
    .where(and(eq(channels.id, id), eq(channels.organizationId, organizationId), isNull(channels.erasingAt)))
    .get();
  if (channel) knownChannels(env).set(id, channel);
  return channel;
}
