import { expect, test } from "vitest";
import { admin, created, expectError, expectFaults, newChat, newOrganization, send } from "../../support/harness.ts";
import { fakeNetworks, inTurn, refuse } from "../../support/networks.ts";
import { once } from "../../support/once.ts";
import { conversation } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE } from "./object/delivery/queued.ts";

/** A chat in which nothing may be stored. Each test checks that. */
const shared = once(async () => {
  const organization = await newOrganization();
  const { id } = await newChat(organization.api, organization.channelId);
  const path = `/chats/${id}/messages`;
  return {
    ...organization,
    chatId: id,
    post: (body: unknown) => organization.api("POST", path, body),
    total: async () => (await organization.api("GET", path)).body.pagination.total,
  };
});

/** Expects that a send is refused because of these paths, and stores nothing. */
async function expectRefused(fields: unknown, ...paths: string[]): Promise<void> {
  const { post, total } = await shared();
  const body = typeof fields === "string" ? fields : { content: "Which one?", ...(fields as object) };
  const answer = await post(body);
  expectFaults(answer, ...paths);
  expect(await total()).toBe(0);
}

const link = (title: string, url: string) => ({ type: "link", title, url });
const choosing = (...choices: unknown[]) => ({ interactive: { choices } });
const range = (length: number) => Array.from({ length }, (_, index) => index);
const { interactive } = choosing({ type: "reply", id: "a", title: "A" });
const [location, contacts] = [{ latitude: 1, longitude: 2 }, [{ name: "Maya", phones: ["+1 555 078 3881"] }]];

// All other faults are in unit/model/message-extra.test.ts.
test.each<[string, unknown, string[]]>([
  ["choices without a list", { interactive: {}, replyTo: "" }, ["interactive.choices", "replyTo"]],
  ["a location without numbers", { location: { latitude: "1" } }, ["location.latitude", "location.longitude"]],
  ["no cards", { contacts: [] }, ["contacts"]],
  ["three bodies", { interactive, location, contacts }, ["location", "contacts"]],
  ["a number beyond all numbers", '{"content":"x","location":{"latitude":1e999,"longitude":0}}', ["location.latitude"]],
])("%s: the path is named, and nothing is stored", (_what, fields, paths) => expectRefused(fields, ...paths));

test("a key __proto__ gives nothing its fields", async () => {
  const inherited = (field: string, inner: unknown) =>
    `{"content":"x","${field}":{"__proto__":${JSON.stringify(inner)}}}`;
  const { post: postRefused } = await shared();
  expectError(
    await postRefused(inherited("interactive", interactive)),
    400,
    "missing_field",
    "interactive.choices is required",
  );
  await expectRefused(inherited("location", { latitude: 1, longitude: 2 }), "location.latitude", "location.longitude");
  const { post } = await organizationOfItsOwn();
  const body =
    '{"content":"x","interactive":{"choices":[{"type":"reply","id":"__proto__","title":"__proto__","__proto__":{"section":"S"}}],"__proto__":{"footer":"F"}}}';
  const { message } = created(await post(body));
  const choices = [{ type: "reply", id: "__proto__", title: "__proto__" }];
  expect(message.interactive).toEqual({ choices, rendering: expect.any(String) });
});

test("the longest texts, and the most choices and cards, are accepted and shown unchanged", async () => {
  const { post } = await organizationOfItsOwn();
  const x = (count: number) => "x".repeat(count);
  const choices = range(10).map((n) => ({
    type: "reply",
    id: `${n}${x(199)}`,
    title: `${n}${x(23)}`,
    description: x(72),
    section: x(24),
  }));
  const long = { choices, header: x(60), footer: x(60), menuTitle: x(20) };
  const chosen = created(await post({ content: x(1_024), interactive: long })).message;
  expect(chosen.interactive).toEqual({ ...long, rendering: expect.any(String) });
  const url = `https://shop.example/${x(479)}`;
  expect(created(await post(choosing(link("A", url)))).message.interactive.choices).toEqual([link("A", url)]);
  for (const location of [
    { latitude: 90, longitude: 180, name: x(256), address: x(256) },
    { latitude: -90, longitude: -180 },
    { latitude: 0, longitude: 0 },
  ]) {
    expect(created(await post({ location })).message.location).toEqual(location);
  }
  const contacts = range(5).map((n) => ({ name: `${n}${x(127)}`, phones: range(5).map(() => "+1 (555) 078-38.81/2") }));
  expect(created(await post({ contacts })).message.contacts).toEqual(contacts);
});

async function organizationOfItsOwn() {
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const post = (body: unknown) =>
    api("POST", `/chats/${id}/messages`, typeof body === "string" ? body : { content: "x", ...(body as object) });
  return { api, chatId: id, channelId, post };
}

test("a reply to nothing, to another chat's message, or to a scheduled or canceled one is refused", async () => {
  const { api, chatId, channelId, post } = await organizationOfItsOwn();
  const other = await newChat(api, channelId);
  const elsewhere = await send(api, other.id);
  const scheduled = created(await post({ scheduledAt: inFuture(MINUTE) })).message;
  const canceled = created(await post({ scheduledAt: inFuture(MINUTE) })).message;
  expect((await api("POST", `/chats/${chatId}/messages/${canceled.id}/cancel`)).status).toBe(200);
  for (const replyTo of [elsewhere.id, scheduled.id, canceled.id, "msg_nothing", "__proto__", "x".repeat(65), ""]) {
    expectFaults(await post({ replyTo }), "replyTo");
    expectFaults(await post({ replyTo, scheduledAt: inFuture(MINUTE) }), "replyTo");
  }
  expectFaults(await post({ replyTo: 1 }), "replyTo");
  expect((await api("GET", `/chats/${chatId}/messages`)).body.pagination.total).toBe(0);
  expect((await api("GET", `/chats/${chatId}/scheduled`)).body.messages).toHaveLength(1);
});

test("a reply to a failed message is refused, and says so; one to a redacted message is stored", async () => {
  const chat = await conversation("whatsapp");
  const path = `/chats/${chat.chatId}/messages`;
  const calls = fakeNetworks(inTurn(refuse(131026)));
  const failed = await send(chat.api, chat.chatId);
  await chat.run();
  expect((await chat.message(failed.id)).status).toBe("FAILED");
  const answer = await chat.api("POST", path, { content: "x", replyTo: failed.id });
  expectFaults(answer, "replyTo");
  expect(answer.body.errors[0].message).toMatch("FAILED");
  expect(await chat.messages()).toHaveLength(1);

  const sent = await send(chat.api, chat.chatId);
  await chat.run();
  expect((await admin("POST", `${path}/${sent.id}/redact`)).status).toBe(200);
  expect(created(await chat.api("POST", path, { content: "x", replyTo: sent.id })).message.replyTo).toBe(sent.id);
  await chat.run();
  expect(calls).toHaveLength(3);
});

test("an unknown sender is reported before a quote that the chat lacks", async () => {
  const { post } = await shared();
  expectError(await post({ content: "x", senderId: "mbr_nobody", replyTo: "msg_nothing" }), 404, "sender_not_found");
});
