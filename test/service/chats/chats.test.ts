import { expect, test } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { expectError, expectFaults, newChannel, newChat, newOrganization, send } from "../../support/harness.ts";
import { once } from "../../support/once.ts";

test("POST /chats returns a 201 with all fields, and GET returns the same chat", async () => {
  const { api, channelId } = await newOrganization();
  const contact = { address: "ada@acme.test", name: "Ada" };
  const answer = await api("POST", "/chats", { channelId, contact, metadata: { plan: "gold" } });
  expect(answer.status, answer.text).toBe(201);
  expect(answer.body).toEqual({
    chat: {
      id: expect.stringMatching(/^cht_g[0-9A-Za-z]{15}$/),
      channel: { id: channelId, kind: "web", name: "The web channel" },
      contact: { ...contact, username: null, personId: null, addresses: [contact.address] },
      metadata: { plan: "gold" },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      lastMessageAt: null,
      lastMessage: null,
      unansweredSince: null,
      nextScheduledAt: null,
      readUpTo: null,
      assigneeId: null,
      replyUntil: null,
      marketing: null,
      state: "open",
      snoozedUntil: null,
      handler: "people",
      labels: [],
    },
  });
  expect((await api("GET", `/chats/${answer.body.chat.id}`)).body).toEqual(answer.body);
});

test("without a name and metadata, a chat has the name null and empty metadata", async () => {
  const { api, channelId } = await newOrganization();
  const answer = await api("POST", "/chats", { channelId, contact: { address: "ada", name: null }, metadata: null });
  expect(answer.body.chat).toMatchObject({ contact: { address: "ada", name: null }, metadata: {} });
});

test("the same address on the same channel again returns a 200 with the first chat's name and metadata", async () => {
  const { api, channelId } = await newOrganization();
  const ask = (name: string) =>
    api("POST", "/chats", { channelId, contact: { address: "ada", name }, metadata: { name } });
  const first = await ask("Ada");
  const second = await ask("Countess");
  expect([first.status, second.status]).toEqual([201, 200]);
  expect(second.body).toEqual(first.body);
});

test("the same address on another channel gets another chat", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const other = await newChannel(organizationId, "web");
  const [one, two] = [await newChat(api, channelId, "ada"), await newChat(api, other, "ada")];
  expect(one.id).not.toBe(two.id);
});

test("twenty concurrent requests for one address create one chat, and one of them gets a 201", async () => {
  const { api, channelId } = await newOrganization();
  const body = { channelId, contact: { address: "ada" } };
  const answers = await Promise.all(Array.from({ length: 20 }, () => api("POST", "/chats", body)));
  expect(new Set(answers.map((answer) => answer.body.chat.id)).size).toBe(1);
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(19);
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});

test.each([
  ["whatsapp", "+49 (151) 123-45", "4915112345"],
  ["telegram", "-1001234567890", "-1001234567890"],
  ["web", "x".repeat(256), "x".repeat(256)],
] as const)("on a %s channel the address %j is stored as %j", async (kind, given, stored) => {
  const { api, organizationId } = await newOrganization();
  const chat = await newChat(api, await newChannel(organizationId, kind), given);
  expect(chat.contact.address).toBe(stored);
});

/** An organization for tests that only read, or whose requests are refused. */
const shared = once(newOrganization);

test.each([
  ["whatsapp", "4915112345x"],
  ["telegram", "@ada"],
  ["web", "web_1"],
  ["web", "x".repeat(257)],
] as const)("on a %s channel the address %j is a 400", async (kind, address) => {
  const { api, organizationId } = await shared();
  const channelId = await newChannel(organizationId, kind);
  expectFaults(await api("POST", "/chats", { channelId, contact: { address } }), "contact.address");
});

test("two spellings of a WhatsApp number lead to one chat", async () => {
  const { api, organizationId } = await newOrganization();
  const channelId = await newChannel(organizationId, "whatsapp");
  const chat = await newChat(api, channelId, "+49 151 12345");
  const again = await api("POST", "/chats", { channelId, contact: { address: "49-151-12345" } });
  expect([again.status, again.body.chat.id]).toEqual([200, chat.id]);
});

test.each([
  ["channelId", { contact: { address: "ada" } }],
  ["channelId", { channelId: " ", contact: { address: "ada" } }],
  ["contact", { channelId: "chn_1" }],
  ["contact", { channelId: "chn_1", contact: null }],
  ["contact.address", { channelId: "chn_1", contact: {} }],
  ["contact.address", { channelId: "chn_1", contact: { address: "\t" } }],
])("a chat without %s is a 400 of shape B that names it: %j", async (path, body) => {
  const { api } = await shared();
  const answer = await api("POST", "/chats", body);
  expectError(answer, 400, "missing_field");
  expect(answer.body.error).toBe(`${path} is required`);
});

test.each([
  ["contact", { contact: "ada" }],
  ["contact.address", { contact: { address: 4915112345 } }],
  ["contact.name", { contact: { address: "ada", name: 1 } }],
  ["contact.name", { contact: { address: "ada", name: "" } }],
  ["contact.name", { contact: { address: "ada", name: "x".repeat(257) } }],
  ["metadata.plan", { contact: { address: "ada" }, metadata: { plan: 1 } }],
  ["channelId", { channelId: "x".repeat(65), contact: { address: "ada" } }],
])("a chat whose %s is malformed is a 400 of shape A: %j", async (path, body) => {
  const { api, channelId } = await shared();
  expectFaults(await api("POST", "/chats", { channelId, ...body }), path);
});

test("a chat on an unknown channel is a 404, even if the address is invalid", async () => {
  const { api } = await newOrganization();
  const answer = await api("POST", "/chats", { channelId: newId("chn", null), contact: { address: "web_1" } });
  expectError(answer, 404, "channel_not_found", "Channel not found");
});

test.each(["cht_1", "1", "msg_g000000000000000", "cht_G000000000000000", "%00", "cht_g000000000000000"])(
  "the chat %s is not found, nor are its messages",
  async (id) => {
    const { api } = await shared();
    for (const [method, path] of [
      ["GET", `/chats/${id}`],
      ["GET", `/chats/${id}/messages`],
      ["GET", `/chats/${id}/messages/${newId("msg", null)}`],
      ["POST", `/chats/${id}/messages`],
    ] as const) {
      const answer = await api(method, path, method === "POST" ? { content: "Hello" } : undefined);
      expectError(answer, 404, "chat_not_found");
      expect(answer.body.error).toBe("Chat not found");
    }
  },
);

test("GET of a chat shows the time of its last message at once", async () => {
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await send(api, id);
  const last = await send(api, id);
  expect((await api("GET", `/chats/${id}`)).body.chat.lastMessageAt).toBe(last.createdAt);
});
