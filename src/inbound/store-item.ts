import type { AddressChange, InboundMessage, StatusUpdate } from "../channels/adapter.ts";
import type { ChannelRecord } from "../channels/record.ts";
import { callChat } from "../chats/call-chat.ts";
import { saveAddresses } from "../chats/contact-addresses.ts";
import { findByAddress } from "../chats/directory.ts";
import type { ChatIdentity } from "../chats/identity.ts";
import { openChat } from "../chats/open-chat.ts";
import type { InboundDraft } from "../chats/rpc.ts";
import { directory } from "../db/client.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import { jurisdictionOf, newId } from "../ids.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";

/** What became of a network's news: it may be of a chat that we do not have (any more). */
export type StoreOutcome = "stored" | "repeated" | "applied" | "unknown_chat" | "unknown_message" | "chat_full";

/** Far above what the networks let a person write: what is longer can't be stored, and would come again for ever. */
const MAX_CONTENT = 65_536;
/** As JSON: an object answers with at most 32 MiB, and a page has a hundred messages, each with its content twice. */
const MAX_CONTENT_BYTES = 100_000;
const MAX_NAME = 256;

/**
 * The chats of addresses that this isolate has met: `<channel>\n<address>`. An erased chat's entry is dropped on use.
 */
const remembered = perIsolate(() => new BoundedMap<string, string>(10_000));

/**
 * Takes in what a network's webhook brought for a channel. A new contact who writes makes the chat, once, however
 * concurrently; a message that the network repeats is stored once.
 * @param origin where `/media` of its message will be reached
 * @throws ApiError `unavailable` when it could not be stored: the network is to send it again
 */
export async function storeItem(
  env: Env,
  channel: ChannelRecord,
  origin: string,
  item: InboundMessage | StatusUpdate | AddressChange,
): Promise<StoreOutcome> {
  if (item.kind === "message") return takeMessage(env, channel, origin, item);
  return item.kind === "status" ? takeStatus(env, channel, item) : takeMove(env, channel, item);
}

async function takeMessage(
  env: Env,
  channel: ChannelRecord,
  origin: string,
  item: InboundMessage,
): Promise<StoreOutcome> {
  const place = `${channel.id}\n${item.address}`;
  const known = remembered(env).get(place);
  if (known) {
    const received = await store(env, channel, origin, known, item, null);
    if (received !== "unknown_chat") return received;
    remembered(env).delete(place);
  }
  const others = item.addresses.filter((address) => address !== item.address);
  const { address } = item;
  const name = item.name?.slice(0, MAX_NAME).toWellFormed() ?? null;
  const opened = await openChat(env, { channel, address, others, name, metadata: {} }, Date.now());
  if (opened.outcome === "no_channel") return "unknown_chat";
  // The address gets a new chat when that is done; what comes until then must come again.
  if (opened.outcome === "erasing") throw unavailable(`${opened.chatId} is being erased`);
  const { identity } = opened;
  remembered(env).set(place, identity.chatId);
  const received = await store(env, channel, origin, identity.chatId, item, identity);
  // Its deletion has begun in between.
  if (received === "unknown_chat") throw unavailable(`${identity.chatId} is being erased`);
  return received;
}

async function store(
  env: Env,
  channel: ChannelRecord,
  origin: string,
  chatId: string,
  item: InboundMessage,
  told: ChatIdentity | null,
): Promise<StoreOutcome> {
  const id = newId("msg", jurisdictionOf(channel.organizationId));
  const draft: InboundDraft = {
    id,
    dedupe: item.networkId,
    type: item.type,
    content: fitting(item.content),
    media: item.media,
    mediaUrl: item.media && `${origin}/api/v1/chats/${chatId}/messages/${id}/media`,
    // The first too: the chat may have been found by another.
    addresses: [item.address, ...item.addresses],
  };
  const answer = await unlessUnknown(
    callChat(
      env,
      channel,
      chatId,
      (chat, knownIdentity) => chat.receive(channel.organizationId, draft, knownIdentity),
      told,
    ),
  );
  return answer?.outcome ?? "unknown_chat";
}

/** What of a text can be kept: all of it, but for one that nobody writes. */
function fitting(content: string): string {
  const encoder = new TextEncoder();
  const bytesOf = (text: string) => encoder.encode(JSON.stringify(text)).length;
  let text = content.slice(0, MAX_CONTENT);
  for (let bytes = bytesOf(text); bytes > MAX_CONTENT_BYTES; bytes = bytesOf(text)) {
    text = text.slice(0, Math.floor((text.length * MAX_CONTENT_BYTES) / bytes));
  }
  return text.toWellFormed();
}

async function takeStatus(env: Env, channel: ChannelRecord, item: StatusUpdate): Promise<StoreOutcome> {
  const { address } = item;
  const chatId = item.chatId ?? (address && (await findByAddress(directory(env), channel.id, address)));
  if (!chatId) return "unknown_chat";
  const { messageId, networkId, status, error } = item;
  const addresses = address === null ? item.addresses : [address, ...item.addresses];
  const news = { messageId, networkId, status, error, addresses };
  const answer = await unlessUnknown(
    callChat(env, channel, chatId, (chat, knownIdentity) =>
      chat.applyStatus(channel.organizationId, channel.id, news, knownIdentity),
    ),
  );
  if (!answer) return "unknown_chat";
  return answer.outcome === "ok" ? "applied" : "unknown_message";
}

/** In the directory first: who writes from the new address the moment after is known there. */
async function takeMove(env: Env, channel: ChannelRecord, { from, to }: AddressChange): Promise<StoreOutcome> {
  const chatId = await findByAddress(directory(env), channel.id, from);
  if (!chatId) return "unknown_chat";
  await saveAddresses(env, { channelId: channel.id, chatId }, [to]);
  const answer = await unlessUnknown(
    callChat(env, channel, chatId, (chat, knownIdentity) =>
      chat.changeAddress(channel.organizationId, to, knownIdentity),
    ),
  );
  return answer ? "applied" : "unknown_chat";
}

/** Null for a chat that is not there, or not this channel's. */
async function unlessUnknown<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.code === "chat_not_found") return null;
    throw error;
  }
}
