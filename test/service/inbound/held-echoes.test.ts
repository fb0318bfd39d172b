import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { expectError, send } from "../../support/harness.ts";
import { acceptAs, fakeNetworks, hanging, inTurn, lost, refuse } from "../../support/networks.ts";
import { until } from "../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { fromApp, newWamid, phoneAndChat, written } from "./echo-calls.ts";
import { fromMeta, taken, tellStatus, whatsappStatus } from "./webhook-calls.ts";

stopTheClock();

const MINUTE = 60_000;

/** A chat whose first message is being sent: its network answers once `letGo` is called. */
async function whileSending(answer = acceptAs("wamid.own")) {
  const chat = await phoneAndChat();
  const call = hanging(answer);
  fakeNetworks(inTurn(call.script));
  const message = await send(chat.api, chat.chatId, { content: "Ours" });
  await call.reached();
  return { ...chat, own: message, ...call };
}

/** Waits until a chat holds no echo. */
async function untilReleased({ object }: Pick<Awaited<ReturnType<typeof phoneAndChat>>, "object">): Promise<void> {
  await until(
    "no echo is held",
    () => runInDurableObject(object(), (_object, { storage }) => storage.sql.exec("select * from held").toArray()),
    ({ length }) => length === 0,
  );
}

test("an echo waits for the end of the attempt, and then takes the next place", async () => {
  const { appWrites, texts, letGo, run, messages, contactWrites, object } = await whileSending();
  await appWrites("From the phone");
  await contactWrites("Meanwhile");
  await appWrites("And again");
  expect(await texts()).toEqual(["Ours", "Meanwhile"]);
  letGo();
  await untilReleased({ object });
  expect(await texts()).toEqual(["Ours", "Meanwhile", "From the phone", "And again"]);
  await run();
  expect((await messages()).map(({ seq, status }) => [seq, status])).toEqual([
    [1, "SENT"],
    [2, "RECEIVED"],
    [3, "SENT"],
    [4, "SENT"],
  ]);
});

test("an echo that bears the id of our own message is dropped, before and after that is known", async () => {
  const { appWrites, texts, letGo, messages, run, object } = await whileSending();
  await appWrites("Ours", Date.now(), { id: "wamid.own" });
  await appWrites("Another");
  letGo();
  await untilReleased({ object });
  expect(await texts()).toEqual(["Ours", "Another"]);
  await appWrites("Ours", Date.now(), { id: "wamid.own" });
  await run();
  expect((await messages()).map(({ origin }) => origin)).toEqual([undefined, "app"]);
});

test("a held echo that is repeated is stored once, and refuses a send with ifSeq", async () => {
  const { channel, address, api, chatId, texts, letGo, object } = await whileSending();
  const echo = written(address, "From the phone");
  taken(await fromApp(channel, echo));
  taken(await fromApp(channel, echo));
  expectError(await api("POST", `/chats/${chatId}/messages`, { content: "Crossing", ifSeq: 1 }), 409, "chat_moved_on");
  letGo();
  await untilReleased({ object });
  expect(await texts()).toEqual(["Ours", "From the phone"]);
  taken(await fromApp(channel, echo));
  expect(await texts()).toEqual(["Ours", "From the phone"]);
});

test("an edit, a deletion and a reaction of a held echo come again once it has its place", async () => {
  const { appWrites, channel, address, messages, letGo, texts, object } = await whileSending();
  const id = await appWrites("Helo");
  const message = { type: "text", text: { body: "Hello" } };
  const edit = { ...written(address, ""), type: "edit", edit: { original_message_id: id, message } };
  const revoke = { ...written(address, ""), type: "revoke", revoke: { original_message_id: id } };
  for (const change of [edit, revoke]) expect((await fromApp(channel, change)).status).toBe(503);
  letGo();
  await untilReleased({ object });
  expect(await texts()).toEqual(["Ours", "Helo"]);
  taken(await fromApp(channel, edit));
  expect(await texts()).toEqual(["Ours", "Hello"]);
  taken(await fromApp(channel, revoke));
  expect((await messages())[1]).toMatchObject({ text: "", deletedAt: expect.any(String) });
});

test("an echo waits no longer than 90 seconds for an outcome that stays unknown", async () => {
  const calls = fakeNetworks(inTurn(lost, lost));
  const { api, chatId, appWrites, texts, run, object } = await phoneAndChat();
  await send(api, chatId, { content: "Ours" });
  await run();
  const heldAt = Date.now();
  await appWrites("From the phone");
  pass(MINUTE);
  await appWrites("A minute later");
  expect(await texts()).toEqual(["Ours"]);
  expect(await alarmOf(object())).toBeLessThanOrEqual(heldAt + 90_000);
  pass(MINUTE / 2);
  await run();
  expect(await texts()).toEqual(["Ours", "From the phone"]);
  expect(calls).toHaveLength(2);
  pass(MINUTE);
  await run();
  expect(await texts()).toEqual(["Ours", "From the phone", "A minute later"]);
});

test("an echo whose details can't be read gets its place with its text, and holds back nothing", async () => {
  fakeNetworks(inTurn(lost, lost));
  const { api, chatId, appWrites, texts, run, object } = await phoneAndChat();
  await send(api, chatId, { content: "Ours" });
  await run();
  await appWrites("First");
  await appWrites("Second");
  await runInDurableObject(object(), (_object, { storage }) => {
    const damaged = `update held set draft = json_set(draft, '$.extra', json('null')) where n = 1`;
    storage.sql.exec(damaged);
  });
  pass(MINUTE);
  expect(await texts()).toEqual(["Ours"]);
  pass(MINUTE);
  await run();
  expect(await texts()).toEqual(["Ours", "First", "Second"]);
});

test("a status that tells our id releases the echoes, and drops the one with this id", async () => {
  fakeNetworks(inTurn(lost));
  const { channel, chatId, address, api, appWrites, texts, run } = await phoneAndChat();
  const { id } = await send(api, chatId, { content: "Ours" });
  await run();
  await appWrites("Ours", Date.now(), { id: "wamid.late" });
  await appWrites("From the phone");
  expect(await texts()).toEqual(["Ours"]);
  taken(await tellStatus({ channel, chatId, address }, id, "delivered", { id: "wamid.late" }));
  expect(await texts()).toEqual(["Ours", "From the phone"]);
});

test("an attempt that the network refused, or that waits for its repeat, holds no echo", async () => {
  fakeNetworks(inTurn(refuse(131026, "No WhatsApp"), refuse(130429, "Slowly")));
  const { api, chatId, appWrites, texts, run, messages } = await phoneAndChat();
  await send(api, chatId, { content: "Refused" });
  await run();
  await appWrites("One");
  await send(api, chatId, { content: "Later" });
  await run();
  await appWrites("Two");
  expect(await texts()).toEqual(["Refused", "One", "Later", "Two"]);
  expect((await messages()).map(({ status }) => status)).toEqual(["FAILED", "SENT", "QUEUED", "SENT"]);
});

test("echoes of two attempts in a row come between their messages' ends, in order", async () => {
  const chat = await phoneAndChat();
  const [first, second] = [hanging(acceptAs("wamid.1st")), hanging(acceptAs("wamid.2nd"))];
  fakeNetworks(inTurn(first.script, second.script));
  await send(chat.api, chat.chatId, { content: "1" });
  await first.reached();
  await send(chat.api, chat.chatId, { content: "2" });
  await chat.appWrites("a");
  first.letGo();
  await second.reached();
  expect(await chat.texts()).toEqual(["1", "2", "a"]);
  await chat.appWrites("b");
  await chat.appWrites("2", Date.now(), { id: "wamid.2nd" });
  expect(await chat.texts()).toEqual(["1", "2", "a"]);
  second.letGo();
  await untilReleased(chat);
  expect(await chat.texts()).toEqual(["1", "2", "a", "b"]);
});

test("held echoes survive their object", async () => {
  fakeNetworks(inTurn(lost, lost));
  const { api, chatId, appWrites, texts, run } = await phoneAndChat();
  await send(api, chatId, { content: "Ours" });
  await run();
  await appWrites("From the phone");
  await evictDurableObject(env.CHATS.getByName(chatId));
  expect(await texts()).toEqual(["Ours"]);
  pass(2 * MINUTE);
  await run();
  expect(await texts()).toEqual(["Ours", "From the phone"]);
});

test("a foreign status does not release an echo", async () => {
  fakeNetworks(inTurn(lost));
  const { channel, address, api, chatId, appWrites, texts, run } = await phoneAndChat();
  await send(api, chatId, { content: "Ours" });
  await run();
  await appWrites("From the phone");
  const status = whatsappStatus("delivered", { id: newWamid("foreign"), recipient_id: address });
  taken(await fromMeta(channel, [status]));
  expect(await texts()).toEqual(["Ours"]);
});
