import { env } from "cloudflare:workers";
import { admin } from "../../../../support/harness.ts";
import { accept, refuse, type Script } from "../../../../support/networks.ts";
import { type Conversation, chatOf, conversation } from "./conversation.ts";

export const GOOD = "123456:good-token";

/** Telegram's answers while a bot's token is revoked, and after it is replaced. */
export const bot: Script = (call, number) =>
  call.token === GOOD ? accept(call) : refuse(401, "Unauthorized")(call, number);

/** `count` chats on one Telegram channel. */
export async function manyChats(count: number, settings = { perSecond: 1_000 }) {
  const first = await conversation("telegram", settings);
  const more = await Promise.all(Array.from({ length: count - 1 }, () => chatOf(first, first.channelId)));
  const chats = [first, ...more];
  const channel = () => env.CHANNELS.getByName(first.channelId);
  return { ...first, chats, channelObject: channel };
}

type Chats = Pick<Conversation, "run">[];
export const runAll = (chats: Chats) => Promise.all(chats.map((chat) => chat.run()));
/** Replaces the channel's token by one that Telegram accepts. */
export const mend = (channelId: string) =>
  admin("PATCH", `/channels/${channelId}`, { credentials: { botToken: GOOD } });
export const depths = (chats: Pick<Conversation, "queue">[]) =>
  Promise.all(chats.map(async (chat) => (await chat.queue()).depth as number));
