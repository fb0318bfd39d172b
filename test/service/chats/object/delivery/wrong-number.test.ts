import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../../../support/alarms.ts";
import { admin, send, sendMany } from "../../../../support/harness.ts";
import { accept, fakeNetworks, type Script } from "../../../../support/networks.ts";
import { type Conversation, chatOf, conversation, healthOf, PHONE_ID, pass, stopTheClock } from "./conversation.ts";

stopTheClock();

const MINUTE = 60_000;
const WRONG = "15550002222";
const NO_OBJECT = "Unsupported post request. Object with ID does not exist, or lacks permissions";
const NO_ACCESS = { code: 100, error_subcode: 33, type: "GraphMethodException", message: NO_OBJECT };
const NO_PARAMETER = { code: 100, type: "OAuthException", message: "(#100) Invalid parameter" };

const refuseWith =
  (error: object): Script =>
  () =>
    Response.json({ error }, { status: 400 });

/** Meta, which accepts messages of the number `PHONE_ID` alone, and those once `state.isOpen`. */
function meta(atWrongNumber: object) {
  const state = { isOpen: false };
  const calls = fakeNetworks((call, number) => {
    const isRight = call.url.includes(`/${PHONE_ID}/`);
    if (isRight && state.isOpen) return accept(call);
    return refuseWith(isRight ? NO_ACCESS : atWrongNumber)(call, number);
  });
  return { state, calls };
}

/** Enters another number, and lets the channel and its chats do what is due. */
async function enter(phoneNumberId: string, chats: Conversation, ...others: { run: () => Promise<unknown> }[]) {
  const { status } = await admin("PATCH", `/channels/${chats.channelId}`, { credentials: { phoneNumberId } });
  expect(status).toBe(200);
  await runAlarm(env.CHANNELS.getByName(chats.channelId));
  for (const { run } of [chats, ...others]) await run();
}

const statuses = async (...chats: Pick<Conversation, "messages">[]) =>
  (await Promise.all(chats.map((chat) => chat.messages()))).flat().map(({ status }) => status);

test.each<[string, object]>([
  ["as one without access", NO_ACCESS],
  ["for another reason", NO_PARAMETER],
])(
  "three messages wait for a number without access and a wrong one, which Meta refuses %s, and leave by the right one",
  async (_, error) => {
    const { state } = meta(error);
    const chat = await conversation("whatsapp");
    const other = await chatOf(chat, chat.channelId);
    state.isOpen = true;
    await send(chat.api, chat.chatId);
    await chat.run();
    state.isOpen = false;
    await sendMany(chat.api, chat.chatId, 2);
    await send(chat.api, other.chatId);
    for (const { run } of [chat, other]) await run();
    const waiting = ["SENT", "QUEUED", "QUEUED", "QUEUED"];
    expect(await statuses(chat, other)).toEqual(waiting);
    expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken", reason: `100: ${NO_OBJECT}` });

    await enter(WRONG, chat, other);
    expect(await statuses(chat, other)).toEqual(waiting);
    expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken" });

    state.isOpen = true;
    await enter(PHONE_ID, chat, other);
    // Who asked while the first one tried the channel asks again a second later.
    for (let seconds = 0; seconds < 3; seconds++) {
      for (const { run } of [chat, other]) await run();
      pass(1_000);
    }
    expect(await statuses(chat, other)).toEqual(waiting.map(() => "SENT"));
    expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok", reason: null });
  },
);

test("on a channel that never worked, invalid parameters break the channel", async () => {
  meta(NO_PARAMETER);
  const chat = await conversation("whatsapp");
  await enter(WRONG, chat);
  await send(chat.api, chat.chatId);
  await chat.run();
  expect(await statuses(chat)).toEqual(["QUEUED"]);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken", reason: "100: (#100) Invalid parameter" });
});

test("on a channel that worked, invalid parameters fail their message alone", async () => {
  const calls = fakeNetworks((call, number) => (call.text === "Odd" ? refuseWith(NO_PARAMETER) : accept)(call, number));
  const chat = await conversation("whatsapp");
  for (const content of ["First", "Odd", "Last"]) await send(chat.api, chat.chatId, { content });
  await chat.run();
  expect(calls.map(({ text }) => text)).toEqual(["First", "Odd", "Last"]);
  expect(await statuses(chat)).toEqual(["SENT", "FAILED", "SENT"]);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok" });
});

test("an error of which nobody knows what it is about does not end a broken channel's wait", async () => {
  let isUnauthorized = true;
  fakeNetworks((call, number) =>
    refuseWith(
      isUnauthorized ? { code: 190, message: "Bad token" } : { code: 999_999, message: `New ${call.to} ${number}` },
    )(call, number),
  );
  const chat = await conversation("whatsapp");
  await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  isUnauthorized = false;
  pass(6 * MINUTE);
  await chat.run();
  expect(await statuses(chat)).toEqual(["FAILED", "QUEUED"]);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken" });
});
