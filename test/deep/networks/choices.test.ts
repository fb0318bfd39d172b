import { afterAll, beforeAll, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { type BotMessage, type TelegramServer, telegramServer } from "../../support/telegram-server.ts";
import { type TakenMessage, type WhatsAppServer, whatsappServer } from "../../support/whatsapp-server.ts";
import { DevServer } from "../../support/world/dev-server.ts";
import {
  type Channel,
  CREDENTIALS,
  createChannel,
  createChat,
  createKey,
  createOrganization,
  type Organization,
} from "../../support/world/factories.ts";
import { caller } from "../../support/world/world.ts";

/** Choices go out to a network and the contact's taps come back: the server of `npm start`, and real HTTP both ways. */

const { phoneNumberId, accessToken, appSecret } = CREDENTIALS.whatsapp;

let server: DevServer;
let telegram: TelegramServer;
let whatsapp: WhatsAppServer;
let organization: Organization;
let api: ReturnType<typeof caller>;

beforeAll(async () => {
  [telegram, whatsapp] = await Promise.all([telegramServer(), whatsappServer({ token: accessToken })]);
  server = await DevServer.begin({ vars: { TELEGRAM_API_BASE: telegram.base, WHATSAPP_API_BASE: whatsapp.base } });
  organization = await createOrganization(server.world);
  api = caller(server.world, "/api/v1", (await createKey(organization)).secret);
});

afterAll(async () => {
  await Promise.all([server?.end(), telegram?.close(), whatsapp?.close()]);
});

/** A new channel of a network, which calls its webhook. */
async function newChannel(kind: "telegram" | "whatsapp"): Promise<Channel> {
  const channel = await createChannel(organization, { kind });
  const { url, verifyToken } = channel.webhook;
  if (kind === "telegram") telegram.webhook = { url, secret: verifyToken };
  else whatsapp.webhook = { url, appSecret, phoneNumberId };
  return channel;
}

/** Sends a message with replies of these titles to a new contact. */
async function choose(channel: Channel, address: string, titles: string[]) {
  const chat = await createChat(channel, { contact: { address } });
  const choices = titles.map((title) => ({ type: "reply", id: `own id of ${title}`, title }));
  const { message } = await api("POST", `/chats/${chat.id}/messages`, { content: "Which?", interactive: { choices } });
  const newest = async (): Promise<Message> => (await api("GET", `/chats/${chat.id}/messages?limit=1`)).messages[0];
  return { message: message as Message, newest };
}

const nextOfWhatsApp = () =>
  new Promise<TakenMessage>((resolve) => {
    whatsapp.weather = async (message) => {
      resolve(message);
      return undefined;
    };
  });
const nextOfTelegram = () =>
  new Promise<BotMessage>((resolve) => {
    telegram.taken = resolve;
  });

test.each([
  ["buttons", ["Yes", "No"]],
  ["list", ["Yes", "No", "Maybe", "Tomorrow after lunch!"]],
])("WhatsApp, with %s, brings back which choice was tapped", async (rendering, titles) => {
  const arrived = nextOfWhatsApp();
  const sent = await choose(await newChannel("whatsapp"), `4915112345${titles.length}`, titles);
  expect(sent.message.interactive?.rendering).toBe(rendering);
  const title = titles.at(-1) ?? "";
  expect(await whatsapp.tap(await arrived, title)).toBe(200);
  expect(await sent.newest()).toMatchObject({
    direction: "INBOUND",
    type: "TEXT",
    content: title,
    replyTo: sent.message.id,
    choice: { id: `own id of ${title}`, title, messageId: sent.message.id },
  });
});

test("Telegram's buttons bring back which choice was tapped, and the tap is acknowledged", async () => {
  const acknowledged = new Promise<unknown>((resolve) => {
    telegram.weather = async ({ method, body }) => {
      if (method === "answerCallbackQuery") resolve(body.callback_query_id);
      return undefined;
    };
  });
  const arrived = nextOfTelegram();
  const sent = await choose(await newChannel("telegram"), "42", ["Yes", "No"]);
  const { id, status } = await telegram.tap(await arrived, "No");
  expect(status).toBe(200);
  expect(await sent.newest()).toMatchObject({
    direction: "INBOUND",
    content: "No",
    replyTo: sent.message.id,
    choice: { id: "own id of No", title: "No", messageId: sent.message.id },
  });
  expect(await acknowledged).toBe(id);
});

test("each network takes choices that are as many and as long as they can be", async () => {
  const titles = Array.from({ length: 10 }, (_, index) => String(index).padEnd(24, "x"));
  const choices = titles.map((title) => ({
    ...{ type: "reply", id: title.padEnd(200, "x"), title },
    ...{ description: "d".repeat(72), section: `${title.slice(0, 23)}s` },
  }));
  const frame = { header: "h".repeat(60), footer: "f".repeat(60), menuTitle: "m".repeat(20) };
  const body = { content: "c".repeat(1_024), interactive: { choices, ...frame } };
  for (const [kind, next] of [
    ["telegram", nextOfTelegram],
    ["whatsapp", nextOfWhatsApp],
  ] as const) {
    const arrived = next();
    const chat = await createChat(await newChannel(kind), { contact: { address: "4915112345678" } });
    await api("POST", `/chats/${chat.id}/messages`, body);
    expect(JSON.stringify((await arrived).body)).toContain(titles[9]);
  }
});
