import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, vi } from "vitest";
import type { Message } from "../../../../../src/model/message.ts";
import { alarmAt, runAlarm, runOneAlarm } from "../../../../support/alarms.ts";
import { admin, created, newChat, newOrganization } from "../../../../support/harness.ts";
import { TOMORROW } from "../../../../support/tomorrow.ts";

export const BOT_TOKEN = "123456:AAH-telegram-bot-token";
export const PHONE_ID = "15550001111";
export const ACCESS_TOKEN = "EAA-whatsapp-access-token";
export const APP_SECRET = "whatsapp-app-secret";

export type Kind = "telegram" | "whatsapp";

const CREDENTIALS = {
  telegram: { botToken: BOT_TOKEN },
  whatsapp: { phoneNumberId: PHONE_ID, accessToken: ACCESS_TOKEN, appSecret: APP_SECRET },
};

/** Stops the clock for each test of a file, ahead of the platform's, so that no alarm rings on its own; `pass` moves it. */
export function stopTheClock(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  });
}

export function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** A new channel of a network, fast unless told otherwise; with what its network would know of it. */
export async function newNetworkChannel(
  organizationId: string,
  kind: Kind,
  { credentials = {}, settings = { perSecond: 1_000 } }: { credentials?: object; settings?: object } = {},
): Promise<{ id: string; webhook: { url: string; verifyToken: string } }> {
  const body = { kind, name: kind, credentials: { ...CREDENTIALS[kind], ...credentials }, settings };
  return created(await admin("POST", `/organizations/${organizationId}/channels`, body)).channel;
}

let contacts = 49_151_000_000;

/** An organization with a channel of a network and a chat in it, and what a test asks of them. */
export async function conversation(kind: Kind, settings?: object) {
  const organization = await newOrganization();
  const channel = await newNetworkChannel(organization.organizationId, kind, settings && { settings });
  return { ...organization, ...(await chatOf(organization, channel.id)), channelId: channel.id, channel };
}

export type Conversation = Awaited<ReturnType<typeof conversation>>;

/** A further chat of a channel. */
export async function chatOf(
  { api }: Pick<Awaited<ReturnType<typeof newOrganization>>, "api">,
  channelId: string,
  address = String(++contacts),
) {
  const { id: chatId } = await newChat(api, channelId, address);
  const object = () => env.CHATS.getByName(chatId);
  const path = `/chats/${chatId}/messages`;
  return {
    chatId,
    address,
    /** Its messages, in the order of their numbers. */
    messages: async (): Promise<Message[]> => (await api("GET", `${path}?limit=100`)).body.messages.toReversed(),
    message: async (id: string): Promise<Message> => (await api("GET", `${path}/${id}`)).body.message,
    /** Its object, by a new stub each time: that of an object that crashed is of no more use. */
    object,
    /** Lets the chat do what is due: the line is worked off as far as it may be when this returns. */
    run: () => runAlarm(object()),
    /** One run of it, which is of bounded length. */
    runOnce: () => runOneAlarm(object()),
    queue: async () => (await admin("GET", `/chats/${chatId}`)).body.queue,
  };
}

/** The channel's health, as the operator sees it. */
export async function healthOf(channelId: string) {
  return (await admin("GET", `/channels/${channelId}`)).body.channel.health;
}

/** Kills an object amid what it does: what it had under way goes no further, and its memory is lost. */
export async function crash(object: DurableObjectStub): Promise<void> {
  await expect(runInDurableObject(object, (_object, state) => state.abort("crash"))).rejects.toThrow("crash");
}

/** What delivery wrote in a message's row. */
export function deliveryOf(object: DurableObjectStub, seq: number) {
  return runInDurableObject(object, (_object, { storage }) => {
    const row = storage.sql.exec<{ delivery: string }>("select delivery from messages where seq = ?", seq).one();
    return JSON.parse(row.delivery);
  });
}

/** The alarm of an object, without the one that purges the audit log: that is further away than any other. */
export async function alarmOf(object: DurableObjectStub): Promise<number | null> {
  const at = await alarmAt(object);
  return at !== null && at > Date.now() + 380 * 86_400_000 ? null : at;
}

/** Moves the clock to a chat's next attempt, and lets the chat do what is due. */
export async function runNext({ queue, run }: Pick<Conversation, "queue" | "run">): Promise<void> {
  await passToNext({ queue });
  await run();
}

/** Moves the clock to a chat's next attempt. */
export async function passToNext({ queue }: Pick<Conversation, "queue">): Promise<void> {
  const { nextAttemptAt } = await queue();
  expect(nextAttemptAt).not.toBeNull();
  vi.setSystemTime(Math.max(Date.now(), Date.parse(nextAttemptAt)));
}
