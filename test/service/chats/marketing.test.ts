import { expect, test } from "vitest";
import { browser, signInMember } from "../../support/console.ts";
import { admin, call, created, expectError, expectFaults, newChat, newKey } from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { taken, whatsappText } from "../inbound/webhook-calls.ts";
import { report, writeAsContact } from "./inbound.ts";
import { fromMeta, iso, place, preferences, seconds } from "./marketing-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

test("nobody has said anything of a new chat's contact", async () => {
  const { chat, marketing, consents, api } = await place();
  expect(chat.marketing).toBeNull();
  expect(await marketing()).toBeNull();
  expect((await api("GET", "/chats")).body.chats[0].marketing).toBeNull();
  expect(await consents()).toEqual([]);
});

test("a contact who stops and resumes marketing at WhatsApp is shown with it, and each is an event", async () => {
  const { choose, marketing, consents, chatId, chatOf, api, message, post, template } = await place();
  const at = seconds();
  taken(await choose("stop", at));
  const stopped = { optedOut: true, at: iso(at), by: "contact" };
  expect(await marketing()).toEqual(stopped);
  await report(chatId);
  expect((await api("GET", "/chats")).body.chats[0].marketing).toEqual(stopped);
  expectError(await post(template("marketing")), 409, "opted_out");
  pass(MINUTE);
  taken(await choose("resume", `${at + 60}`));
  const resumed = { optedOut: false, at: iso(at + 60), by: "contact" };
  expect(await marketing()).toEqual(resumed);
  const sent = created(await post(template("marketing"))).message;
  await untilStatus(chatId, sent.id, "SENT");
  expect((await message(sent.id)).type).toBe("TEMPLATE");
  const chat = await chatOf();
  expect((await consents()).map(({ data }) => data)).toEqual([
    { chat, marketing: stopped },
    { chat, marketing: resumed },
  ]);
});

test("what the contact said last holds, in whatever order and however often it is delivered", async () => {
  const at = seconds() - 100;
  const news: [string, number][] = [
    ["stop", at],
    ["resume", at + 10],
    ["stop", at + 20],
    ["resume", at + 30],
  ];
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [3, 3, 0, 0, 2],
    [1, 3, 0, 2, 3],
    [2, 0, 3, 1, 2, 0],
  ]) {
    const { choose, marketing, consents } = await place();
    for (const index of order) taken(await choose(...(news[index] as [string, number])));
    expect(await marketing(), String(order)).toEqual({ optedOut: false, at: iso(at + 30), by: "contact" });
    const told = (await consents()).map(({ data }) => Date.parse(data.marketing.at));
    expect(told, String(order)).toEqual([...new Set(told)].toSorted((one, other) => one - other));
  }
});

test("of two words of the same second, the opt-out holds", async () => {
  for (const order of [
    ["stop", "resume"],
    ["resume", "stop"],
  ]) {
    const { choose, marketing } = await place();
    const at = seconds();
    for (const value of order) taken(await choose(value, at));
    expect(await marketing()).toMatchObject({ optedOut: true });
  }
});

test("one call with several words counts each", async () => {
  const { channelId, contact, marketing } = await place();
  const at = seconds();
  const said = (value: string, timestamp: number) => ({
    wa_id: contact,
    category: "marketing_messages",
    value,
    timestamp,
  });
  taken(await preferences(channelId, [said("stop", at + 1), said("resume", at), said("resume", at - 1)]));
  expect(await marketing()).toEqual({ optedOut: true, at: iso(at + 1), by: "contact" });
});

test("the contact is found by its user id, by the contacts of the call, and as the only contact", async () => {
  const { channelId, contact, says, marketing, choose } = await place();
  const who = { wa_id: contact, user_id: "DE.maya" };
  taken(await says("Hi"));
  taken(await fromMeta(channelId, "messages", whatsappText(who, "I have a user id")));
  const at = seconds();
  taken(await choose("stop", at, { user_id: "DE.maya" }));
  expect(await marketing()).toMatchObject({ optedOut: true, at: iso(at) });
  const word = { category: "marketing_messages", value: "resume", timestamp: at + 1 };
  taken(await preferences(channelId, [word], [{ profile: { name: "Maya" }, ...who }]));
  expect(await marketing()).toMatchObject({ optedOut: false, at: iso(at + 1) });
  taken(await choose("stop", at + 2, { wa_id: "15550009999", user_id: "DE.maya" }));
  expect(await marketing()).toMatchObject({ optedOut: true, at: iso(at + 2) });
});

test.each<[string, object]>([
  ["another category", { category: "utility_messages" }],
  ["another word", { value: "pause" }],
  ["no word", { value: undefined }],
  ["words of another type", { value: 1, category: [] }],
  ["an unknown contact", { wa_id: "15550009999" }],
  ["no contact", { wa_id: undefined }],
])("%s changes nothing, is accepted and creates no chat", async (_, fields) => {
  const { choose, marketing, contact, api } = await place();
  taken(await choose("stop", seconds(), { wa_id: contact, ...fields }));
  expect(await marketing()).toBeNull();
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});

test.each(["1970", 0, -1, 9e15, null, {}])("a word with the time %j counts as said now", async (at) => {
  const { choose, marketing } = await place();
  taken(await choose("stop", at as number));
  expect(await marketing()).toEqual({ optedOut: true, at: new Date().toISOString(), by: "contact" });
});

test("a key and a member change it with chats:write, with other fields or alone, and each change is an event", async () => {
  const { change, marketing, consents, organizationId, key, ownerId, chatOf } = await place();
  const writer = await key(["chats:read", "chats:write"]);
  const { chat } = (await change({ marketing: { optedOut: true } }, writer)).body;
  const byKey = { optedOut: true, at: new Date().toISOString(), by: "key" };
  expect(chat.marketing).toEqual(byKey);
  pass(MINUTE);
  const made = await admin("POST", `/organizations/${organizationId}/members`, {
    name: "Mel",
    permissions: ["chats:write"],
  });
  const ask = browser(await signInMember(created(made).member.id));
  const body = { marketing: { optedOut: false }, contact: { name: "Maya" }, assigneeId: ownerId };
  const answer = await ask("PATCH", `/organizations/${organizationId}/chats/${(await chatOf()).id}`, body);
  expect(answer.status, answer.text).toBe(200);
  const byMember = { optedOut: false, at: new Date().toISOString(), by: "member" };
  expect(await chatOf()).toMatchObject({ marketing: byMember, contact: { name: "Maya" }, assigneeId: ownerId });
  // The same again changes nothing.
  pass(MINUTE);
  expect((await change({ marketing: { optedOut: false } })).body.chat.marketing).toEqual(byMember);
  expect((await consents()).map(({ data }) => data.marketing)).toEqual([byKey, byMember]);
  expect(await marketing()).toEqual(byMember);
});

test("the word of a client holds against older news of the network, and yields to newer", async () => {
  const { change, choose, marketing } = await place();
  const at = seconds();
  await change({ marketing: { optedOut: false } });
  taken(await choose("stop", at - 1));
  expect(await marketing()).toMatchObject({ optedOut: false, by: "key" });
  pass(2_000);
  taken(await choose("stop", at + 1));
  expect(await marketing()).toMatchObject({ optedOut: true, by: "contact" });
  // Also if the network's clock is ahead.
  taken(await choose("stop", at + 60));
  await change({ marketing: { optedOut: false } });
  expect(await marketing()).toEqual({ optedOut: false, at: iso(at + 60), by: "key" });
});

test("a change that is refused changes nothing of it", async () => {
  const { change, marketing, consents } = await place();
  expectError(
    await change({ marketing: { optedOut: true }, assigneeId: null, ifAssigneeId: "mbr_1" }),
    409,
    "chat_reassigned",
  );
  expectFaults(await change({ marketing: { optedOut: true }, metadata: { a: "x".repeat(501) } }), "metadata.a");
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, "x".repeat(400)]));
  expectFaults(await change({ marketing: { optedOut: true }, metadata }), "metadata");
  expect(await marketing()).toBeNull();
  expect(await consents()).toEqual([]);
});

test.each([
  [{ marketing: null }, "marketing"],
  [{ marketing: true }, "marketing"],
  [{ marketing: {} }, "marketing.optedOut"],
  [{ marketing: { optedOut: null } }, "marketing.optedOut"],
  [{ marketing: { optedOut: "true" } }, "marketing.optedOut"],
])("a change is refused with %j", async (body, path) => {
  const { change, marketing } = await place("web");
  const answer = await change(body);
  expect(answer.status, answer.text).toBe(400);
  expect(answer.text).toContain(path);
  expect(await marketing()).toBeNull();
});

test("it needs chats:write", async () => {
  const { change, key, marketing } = await place("web");
  expectError(
    await change({ marketing: { optedOut: true } }, await key(["chats:read", "messages:send"])),
    403,
    "permission_denied",
  );
  expect(await marketing()).toBeNull();
});

test("it outlives the instance and the chat's messages, and ends with the chat", async () => {
  const { change, marketing, evict, api, chatId, channelId, contact } = await place();
  await change({ marketing: { optedOut: true } });
  await evict();
  expect(await marketing()).toMatchObject({ optedOut: true });
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  const again = await newChat(api, channelId, contact);
  expect(again.marketing).toBeNull();
});

test("an export has the chat with it", async () => {
  const { change, organizationId, chatId } = await place("web");
  await change({ marketing: { optedOut: true } });
  await report(chatId);
  await writeAsContact(organizationId, chatId);
  const { secret } = await newKey(organizationId, { permissions: ["data:export"] });
  const answer = await call("GET", "/api/v1/export", { headers: { Authorization: `Bearer ${secret}` } });
  expect(answer.text).toContain('"marketing":{"optedOut":true');
});
