import { type ChatStub, callChat, nullIfNotFound } from "../calls/call-chat.ts";
import { callOrganization } from "../calls/call-organization.ts";
import type { ChannelRecord } from "../calls/channel-record.ts";
import { openChat } from "../calls/open-chat.ts";
import { alikeOf } from "../channels/kinds.ts";
import { lineOf } from "../channels/network/received.ts";
import { awayAt } from "../model/away.ts";
import type {
  AsOwner,
  ChatIdentity,
  EchoAnswer,
  EchoDraft,
  InboundDraft,
  MessageChange,
  MessageChangeAnswer,
  ReceiveAnswer,
  Unknown,
} from "../model/chat-answers.ts";
import { unavailable } from "../model/error.ts";
import { jurisdictionOf, newId } from "../model/id.ts";
import type {
  AddressChange,
  ControlPassed,
  Echo,
  InboundItem,
  InboundMessage,
  MarketingChoice,
  NetworkChange,
  StatusUpdate,
} from "../model/network.ts";
import { isStopWord } from "../model/stop-words.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { doEach } from "../platform/concurrency.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { storeAccountNotice, storeTemplateNotice } from "./store-notice.ts";

/** The result for an item. The chat or message of an item may be unknown, for example because it was deleted. */
export type StoreOutcome =
  | "stored"
  | "repeated"
  | "held"
  | "applied"
  | "unknown_chat"
  | "unknown_message"
  | "unknown_template"
  | "unknown_account"
  | "chat_full";

/** Far above the networks' own limits. A longer text is cut: if it were refused, the network would repeat it for days. */
const MAX_CONTENT = 65_536;
/** As JSON. An object can return 32 MiB, and a page has up to a hundred messages, each with its content twice. */
const MAX_CONTENT_BYTES = 100_000;
const MAX_NAME = 256;

/** Chats that this isolate has seen, by `<channel>\n<address>`. A deleted chat's entry is removed on use. */
const knownChats = perIsolate(() => new BoundedMap<string, string>(10_000));

/**
 * Stores one item of a webhook. The first message of a new contact creates the chat, even if several arrive at once. A
 * repeated message is stored once.
 * @param origin the origin of the message's media URL
 * @throws ApiError `unavailable` if the item could not be stored, so that the network repeats it
 */
export async function storeItem(
  env: Env,
  channel: ChannelRecord,
  origin: string,
  item: InboundItem["item"],
): Promise<StoreOutcome> {
  switch (item.kind) {
    case "message":
    case "echo":
      return storeMessage(env, channel, origin, item);
    case "status":
      return storeStatus(env, channel, item);
    case "address":
      return storeAddressChange(env, channel, item);
    case "marketing":
      return storeMarketingChoice(env, channel, item);
    case "template":
      return storeTemplateNotice(env, channel, item);
    case "account":
      return storeAccountNotice(env, channel, item);
    case "control":
      return storeControl(env, channel, item);
    case "edit":
    case "revoke":
    case "reaction":
      return storeChange(env, channel, item);
  }
}

async function storeMessage(
  env: Env,
  channel: ChannelRecord,
  origin: string,
  item: InboundMessage | Echo,
): Promise<StoreOutcome> {
  const addressKey = `${channel.id}\n${item.address}`;
  const known = knownChats(env).get(addressKey);
  if (known) {
    const received = await storeInChat(env, channel, origin, known, item, null);
    if (received !== "unknown_chat") return received;
    knownChats(env).delete(addressKey);
  }
  const others = item.addresses.filter((address) => address !== item.address);
  const { address } = item;
  const name = lineOf(item.name, MAX_NAME) ?? null;
  const username = usernameOf(item);
  const alike = alikeOf(channel.kind, [address, ...others], true);
  const opened = await openChat(env, { channel, address, others, alike, name, username, isLimited: false });
  if (opened.outcome === "no_channel") return "unknown_chat";
  // No limit holds for a chat that a network brings. If one did, acknowledging the message would lose it.
  if (opened.outcome === "chat_limit") throw unavailable("a limit refused a chat that a network brings");
  // After the deletion the address gets a new chat. Until then the network must repeat its messages.
  if (opened.outcome === "deleting") throw unavailable(`${opened.chatId} is being deleted`);
  const { identity } = opened;
  knownChats(env).set(addressKey, identity.chatId);
  const received = await storeInChat(env, channel, origin, identity.chatId, item, identity);
  // The deletion began in between.
  if (received === "unknown_chat") throw unavailable(`${identity.chatId} is being deleted`);
  return received;
}

async function storeInChat(
  env: Env,
  channel: ChannelRecord,
  origin: string,
  chatId: string,
  item: InboundMessage | Echo,
  identity: ChatIdentity | null,
): Promise<StoreOutcome> {
  const call = item.kind === "echo" ? callWithEcho(channel, origin, item) : callWithMessage(channel, origin, item);
  const answer = await nullIfNotFound(callChat(env, channel, chatId, call, identity));
  if (answer?.outcome === "refused") throw new Error(`A network's message was refused: ${answer.code}`);
  return answer?.outcome ?? "unknown_chat";
}

/** The call of a chat's object that stores a message from the contact. */
function callWithMessage(channel: ChannelRecord, origin: string, item: InboundMessage) {
  const { topic, ...said } = item;
  const isStop = said.type === "TEXT" && isStopWord(channel.settings.stopWords, said.content);
  const away = awayAt(channel.settings, Date.now());
  const draft: InboundDraft = { ...draftOf(channel, origin, said), topic, isStop, away };
  return (chat: ChatStub, as: AsOwner): Promise<ReceiveAnswer | EchoAnswer> => chat.receive(as, draft);
}

/** The call of a chat's object that stores what the company wrote elsewhere. */
function callWithEcho(channel: ChannelRecord, origin: string, { origin: writtenIn, ...item }: Echo) {
  const draft: EchoDraft = { ...draftOf(channel, origin, item), writtenIn };
  return (chat: ChatStub, as: AsOwner): Promise<ReceiveAnswer | EchoAnswer> => chat.echo(as, draft);
}

function draftOf(channel: ChannelRecord, origin: string, item: Omit<InboundMessage, "topic"> | Omit<Echo, "origin">) {
  const { kind: _, networkId, address, addresses, name: _name, username: _username, type, content, ...rest } = item;
  const { media, ...extra } = rest;
  return {
    id: newId("msg", jurisdictionOf(channel.organizationId)),
    dedupe: networkId,
    type,
    content: truncated(content),
    media,
    origin,
    // All of them: the chat may have been found by another address.
    addresses: [address, ...addresses],
    username: usernameOf(item),
    extra,
  };
}

function usernameOf({ username }: Pick<InboundMessage, "username">): string | null | undefined {
  return username === undefined ? undefined : (lineOf(username, MAX_NAME) ?? null);
}

/** A text within the limits. Only an absurdly long text is cut. */
function truncated(content: string): string {
  const encoder = new TextEncoder();
  const bytesOf = (text: string) => encoder.encode(JSON.stringify(text)).length;
  let text = content.slice(0, MAX_CONTENT);
  for (let bytes = bytesOf(text); bytes > MAX_CONTENT_BYTES; bytes = bytesOf(text)) {
    text = text.slice(0, Math.floor((text.length * MAX_CONTENT_BYTES) / bytes));
  }
  return text.toWellFormed();
}

async function storeStatus(env: Env, channel: ChannelRecord, item: StatusUpdate): Promise<StoreOutcome> {
  const { address, chatId, messageId, networkId, status, error, price, failedAt, reactionAt } = item;
  if (reactionAt !== undefined) return storeReactionStatus(env, channel, item, reactionAt);
  const addresses = address === null ? item.addresses : [address, ...item.addresses];
  const news = { messageId, networkId, status, error, addresses, price, failedAt };
  const apply = (chat: ChatStub, as: AsOwner) => chat.applyStatus(as, channel.id, news);
  const answer = chatId
    ? await nullIfNotFound(callChat(env, channel, chatId, apply))
    : address && (await callByAddress(env, channel, address, apply));
  if (!answer) return "unknown_chat";
  return answer.outcome === "ok" ? "applied" : "unknown_message";
}

/** A reaction's status touches no message's status. Only a failure says something new: the contact does not see it. */
async function storeReactionStatus(
  env: Env,
  channel: ChannelRecord,
  { chatId, messageId, status }: StatusUpdate,
  at: number,
): Promise<StoreOutcome> {
  if (status !== "FAILED") return "applied";
  if (chatId === null || messageId === null) return "unknown_chat";
  const change = { change: "reaction_failed", channelId: channel.id, messageId, at } as const;
  return changed(await nullIfNotFound(callChat(env, channel, chatId, (chat, as) => chat.change(as, change))));
}

/** What changed of a stored message. A chat or a message that is not there is not created. */
async function storeChange(env: Env, channel: ChannelRecord, item: NetworkChange): Promise<StoreOutcome> {
  const change = changeOf(item);
  return changed(await callByAddress(env, channel, item.address, (chat, as) => chat.change(as, change)));
}

function changeOf(item: NetworkChange): MessageChange {
  const { networkId } = item;
  if (item.kind === "revoke") return { change: "deletion", networkId };
  if (item.kind === "reaction") {
    const { emoji, at, isOwn } = item;
    return { change: isOwn ? "own_reaction" : "reaction", networkId, emoji, at };
  }
  return { change: "edit", networkId, content: truncated(item.content), at: item.at };
}

/** @throws ApiError `unavailable` if the list of chats may still show what was deleted, or the message has no place yet */
function changed(answer: Exclude<MessageChangeAnswer, Unknown> | null): StoreOutcome {
  if (!answer) return "unknown_chat";
  if (answer.outcome === "not_reported") throw unavailable("a deletion is not reported");
  if (answer.outcome === "held") throw unavailable("the message has no place yet");
  return answer.outcome === "ok" ? "applied" : "unknown_message";
}

/** @throws ApiError `unavailable` if the list of chats may not show that the chat is unanswered */
async function storeControl(env: Env, channel: ChannelRecord, { address, at }: ControlPassed): Promise<StoreOutcome> {
  const answer = await callByAddress(env, channel, address, (chat, as) => chat.handedBack(as, at));
  if (!answer) return "unknown_chat";
  if (answer.outcome === "not_reported") throw unavailable("a handover is not reported");
  return "applied";
}

/** The organization's object learns the new addresses first, because the contact may write from them at once. */
async function storeAddressChange(env: Env, channel: ChannelRecord, change: AddressChange): Promise<StoreOutcome> {
  const chatIds = await callOrganization(env, channel.organizationId, (organization) =>
    organization.moveContact(channel.id, change, alikeOf(channel.kind, [...change.from, ...change.to], true)),
  );
  let outcome: StoreOutcome = "unknown_chat";
  await doEach(chatIds, async (id) => {
    const answer = await nullIfNotFound(callChat(env, channel, id, (chat, as) => chat.changeAddresses(as, change)));
    if (answer) outcome = "applied";
  });
  return outcome;
}

/**
 * The contact told the network whether it takes marketing. That holds in each chat of its addresses: of two chats that
 * began apart, either may send. One who never wrote and was never written to has no chat.
 */
async function storeMarketingChoice(
  env: Env,
  channel: ChannelRecord,
  { address, addresses, optedOut, at }: MarketingChoice,
): Promise<StoreOutcome> {
  let outcome: StoreOutcome = "unknown_chat";
  for (const one of [address, ...addresses]) {
    const heard = await callByAddress(env, channel, one, (chat, as) => chat.hearMarketing(as, { optedOut, at }));
    if (heard) outcome = "applied";
  }
  return outcome;
}

/** Calls the chat of an address, which this isolate or the organization's object knows; null if there is none. */
async function callByAddress<Answer>(
  env: Env,
  channel: ChannelRecord,
  address: string,
  call: (chat: ChatStub, as: AsOwner) => Answer,
): Promise<Exclude<Awaited<Answer>, Unknown> | null> {
  const addressKey = `${channel.id}\n${address}`;
  const known = knownChats(env).get(addressKey);
  const answer = known ? await nullIfNotFound(callChat(env, channel, known, call)) : null;
  if (answer) return answer;
  // The chat was deleted, and the contact may have another one.
  knownChats(env).delete(addressKey);
  const chatId = await callOrganization(env, channel.organizationId, (organization) =>
    organization.findByAddress(channel.id, address, alikeOf(channel.kind, [address], true)),
  );
  return chatId ? nullIfNotFound(callChat(env, channel, chatId, call)) : null;
}
