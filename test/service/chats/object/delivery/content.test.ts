import { expect, test } from "vitest";
import { admin, send } from "../../../../support/harness.ts";
import { acceptAs, fakeNetworks, inTurn, lost, type NetworkCall, refuse } from "../../../../support/networks.ts";
import {
  fromMeta,
  fromTelegram,
  taken,
  telegramText,
  tellStatus,
  whatsappText,
} from "../../../inbound/webhook-calls.ts";
import { BOT_TOKEN, type Conversation, conversation, crash, pass, runNext, stopTheClock } from "./conversation.ts";

stopTheClock();

const PHOTO = { type: "IMAGE", mediaUrl: "https://example.com/a.jpg" };
const MENU = {
  ...PHOTO,
  content: "Which one?",
  interactive: {
    choices: ["A title of twenty-one", "B", "C", "D"].map((title, index) => ({
      type: "reply",
      id: `own-${index}`,
      title,
    })),
    footer: "Shop",
  },
};
const LONG = { ...PHOTO, content: "A caption that no photo can carry. ".repeat(40).trim() };
const contextsOf = (calls: NetworkCall[]) => calls.map(({ body }) => body.context?.message_id);
const quotesOf = (calls: NetworkCall[]) => calls.map(({ body }) => body.reply_parameters?.message_id);
const typesOf = (calls: NetworkCall[]) => calls.map(({ body }) => body.type);

/** The newest message of a chat's contact, after it wrote. */
async function written(chat: Conversation, text: string, id: string | number): Promise<string> {
  const { channel, address } = chat;
  if (typeof id === "string") taken(await fromMeta(channel, [whatsappText({ wa_id: address }, text, { id })]));
  else taken(await fromTelegram(channel, telegramText(address, text, { message_id: id })));
  const newest = (await chat.messages()).findLast(({ direction }) => direction === "INBOUND");
  expect(newest?.text).toBe(text);
  return newest?.id ?? "";
}

test("media and a list are two parts: the first one quotes, the last one has the choices", async () => {
  const calls = fakeNetworks(inTurn(acceptAs("wamid.photo"), acceptAs("wamid.list")));
  const chat = await conversation("whatsapp");
  const replyTo = await written(chat, "What do you have?", "wamid.question");
  const message = await send(chat.api, chat.chatId, { ...MENU, replyTo });
  expect(message).toMatchObject({ replyTo, interactive: { ...MENU.interactive, rendering: "list" } });
  await chat.run();
  const common = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    to: chat.address,
    biz_opaque_callback_data: `${chat.chatId}.${message.id}`,
  };
  expect(calls.map(({ body }) => body)).toEqual([
    { ...common, context: { message_id: "wamid.question" }, type: "image", image: { link: PHOTO.mediaUrl } },
    {
      ...common,
      type: "interactive",
      interactive: {
        type: "list",
        body: { text: "Which one?" },
        footer: { text: "Shop" },
        action: {
          button: "Options",
          sections: [
            { rows: MENU.interactive.choices.map(({ title }, index) => ({ id: `${message.id}:${index}`, title })) },
          ],
        },
      },
    },
  ]);
  expect(await chat.message(message.id)).toMatchObject({ status: "SENT" });
});

test.each(["its object lives", "its object crashes"])(
  "a list whose answer was lost is sent again without the media before it, when %s",
  async (fate) => {
    const calls = fakeNetworks(inTurn(acceptAs("wamid.photo"), lost, acceptAs("wamid.list")));
    const chat = await conversation("whatsapp");
    const replyTo = await written(chat, "What do you have?", "wamid.question");
    const { id } = await send(chat.api, chat.chatId, { ...MENU, replyTo });
    await chat.run();
    expect(typesOf(calls)).toEqual(["image", "interactive"]);
    if (fate === "its object crashes") await crash(chat.object());
    await runNext(chat);
    expect(typesOf(calls)).toEqual(["image", "interactive", "interactive"]);
    expect(contextsOf(calls)).toEqual(["wamid.question", undefined, undefined]);
    expect(calls[2]?.body).toEqual(calls[1]?.body);
    expect((await chat.message(id)).status).toBe("SENT");
  },
);

test("a list whose answer was lost is not sent again once its status has come", async () => {
  const calls = fakeNetworks(inTurn(acceptAs("wamid.photo"), lost));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId, MENU);
  await chat.run();
  for (const part of ["wamid.photo", "wamid.list"]) taken(await tellStatus(chat, id, "delivered", { id: part }));
  await chat.run();
  expect(typesOf(calls)).toEqual(["image", "interactive"]);
  expect((await chat.message(id)).status).toBe("DELIVERED");
});

test("buttons that WhatsApp refuses after the media make the message FAILED", async () => {
  fakeNetworks(inTurn(acceptAs("wamid.photo"), refuse(131_009, "Parameter value is not valid")));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId, MENU);
  await chat.run();
  expect(await chat.message(id)).toMatchObject({ status: "FAILED", error: { code: "network_131009" } });
});

test("a reply quotes the first part of an outbound message", async () => {
  const calls = fakeNetworks(inTurn(acceptAs("wamid.photo"), acceptAs("wamid.text")));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId, LONG);
  await chat.run();
  await send(chat.api, chat.chatId, { replyTo: id });
  await chat.run();
  expect(contextsOf(calls)).toEqual([undefined, undefined, "wamid.photo"]);
});

test("what is quoted gets its id at the network first, because the reply waits in the same line", async () => {
  const calls = fakeNetworks(inTurn(lost, acceptAs("wamid.first"), acceptAs("wamid.reply")));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId);
  await send(chat.api, chat.chatId, { content: "And this", replyTo: id });
  await chat.run();
  await runNext(chat);
  expect(calls.map(({ text }) => text)).toEqual(["Hello", "Hello", "And this"]);
  expect(contextsOf(calls)).toEqual([undefined, undefined, "wamid.first"]);
});

test("a reply goes out without a quote if the quoted message never reached the network", async () => {
  const calls = fakeNetworks(inTurn(lost, refuse(131_026, "Message undeliverable"), acceptAs("wamid.reply")));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId);
  // Accepted while the quoted one waits for its second attempt.
  const reply = await send(chat.api, chat.chatId, { content: "And this", replyTo: id });
  await chat.run();
  await runNext(chat);
  expect((await chat.message(id)).status).toBe("FAILED");
  expect(contextsOf(calls)).toEqual([undefined, undefined, undefined]);
  expect(await chat.message(reply.id)).toMatchObject({ status: "SENT", replyTo: id });
});

test("on Telegram a reply quotes by the number of the message, the contact's or ours", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  const theirs = await written(chat, "What do you have?", 77);
  const { id: ours } = await send(chat.api, chat.chatId, { ...LONG, replyTo: theirs });
  await chat.run();
  await send(chat.api, chat.chatId, { replyTo: ours });
  await chat.run();
  const number = quotesOf(calls)[2];
  expect(quotesOf(calls)).toEqual([77, undefined, expect.any(Number)]);
  expect(calls[2]?.body.reply_parameters).toEqual({ message_id: number, allow_sending_without_reply: true });
  const sent = calls.map(({ method }) => method);
  expect(sent).toEqual(["sendPhoto", "sendMessage", "sendMessage"]);
});

test("after the channel got the token of another bot, a reply to a message of the first one has no quote", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  const theirs = await written(chat, "What do you have?", 77);
  const { id: ours } = await send(chat.api, chat.chatId);
  await chat.run();
  const patched = await admin("PATCH", `/channels/${chat.channelId}`, {
    credentials: { botToken: "654321:AAH-another-bot-token" },
  });
  expect(patched.status, patched.text).toBe(200);
  await send(chat.api, chat.chatId, { replyTo: theirs });
  await send(chat.api, chat.chatId, { replyTo: ours });
  await chat.run();
  expect(calls.map(({ token }) => token.split(":")[0])).toEqual([BOT_TOKEN.split(":")[0], "654321", "654321"]);
  expect(quotesOf(calls)).toEqual([undefined, undefined, undefined]);
  expect((await chat.messages()).at(-1)).toMatchObject({ status: "SENT", replyTo: ours });
});

test("a scheduled message goes out in the rendering that its request was told", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  const choices = [{ type: "location", title: "Where are you?" }];
  const scheduledAt = new Date(Date.now() + 60_000).toISOString();
  const message = await send(chat.api, chat.chatId, { interactive: { choices }, scheduledAt });
  expect(message.interactive).toEqual({ choices, rendering: "keyboard" });
  expect(calls).toEqual([]);
  pass(60_000);
  await chat.run();
  expect(calls[0]?.body.reply_markup).toEqual({
    keyboard: [[{ text: "Where are you?", request_location: true }]],
    one_time_keyboard: true,
    resize_keyboard: true,
  });
});
