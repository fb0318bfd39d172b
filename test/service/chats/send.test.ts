import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { readFrame } from "../../../src/chats/object/visitors/frames.ts";
import { newSharingIsolate } from "../../deep/models/isolates.ts";
import { runAlarm } from "../../support/alarms.ts";
import {
  admin,
  client,
  created,
  expectFaults,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  newTemplate,
  send,
  sendMany,
} from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { once } from "../../support/once.ts";
import { TOMORROW } from "../../support/tomorrow.ts";
import { alarmOf } from "./object/delivery/conversation.ts";

async function newSender() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, organization.channelId);
  const post = (body: unknown) => organization.api("POST", `/chats/${chat.id}/messages`, body);
  return { ...organization, chat, post };
}

/** For tests of one message each. */
const shared = once(newSender);

test("a chat's sequence has no gaps, whatever was refused in between", async () => {
  const { api, chat, post } = await newSender();
  await send(api, chat.id);
  await post({ content: "" });
  await post({ content: "Hello", senderId: "mbr_nobody" });
  expect((await sendMany(api, chat.id, 2)).map((message) => message.seq)).toEqual([2, 3]);
});

test("without a senderId the first member sends, and with one that member", async () => {
  const { api, chat, organizationId, ownerId } = await newSender();
  const path = `/organizations/${organizationId}/members`;
  const second = created(await admin("POST", path, { name: "Grace" })).member.id;
  expect((await send(api, chat.id)).senderId).toBe(ownerId);
  expect((await send(api, chat.id, { senderId: second })).senderId).toBe(second);
});

test("sends in one batch are each checked for their own sender and template", async () => {
  const { organizationId, chat, ownerId } = await newSender();
  const { secret } = await newKey(organizationId);
  const ask = newSharingIsolate();
  const post = (body: object) =>
    ask(secret, "POST", `/api/v1/chats/${chat.id}/messages`, { body: { content: "Hello", ...body } });
  expect((await post({})).status).toBe(201);
  // The first lookup waits until the others have arrived. Equal ones among them share the second lookup.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const gate = Promise.withResolvers<void>();
  const batch = env.DB.batch.bind(env.DB);
  vi.spyOn(env.DB, "batch").mockImplementationOnce((statements) => gate.promise.then(() => batch(statements)));
  // Joined with a space, these two pairs of ids would be equal.
  const unknownTemplate = { senderId: ownerId, templateId: "undefined undefined" };
  const unknownSender = { senderId: `${ownerId} undefined` };
  const answers = [post(unknownTemplate), post(unknownTemplate), post(unknownSender)];
  // These are admitted after the first three.
  for (let n = 0; n < 5; n++) await ask(secret, "GET", "/api/v1/key");
  gate.resolve();
  expect((await Promise.all(answers)).map(({ body }) => body.code)).toEqual([
    "template_not_found",
    "template_not_found",
    "sender_not_found",
  ]);
});

test("a template is filled, and its message has the type TEMPLATE whatever the request says", async () => {
  const { api, chat, organizationId } = await newSender();
  const templateId = await newTemplate(organizationId, "Hi {{name}}, {{ count }} of {{count}} for {{name}}{ok}");
  const variables = { name: "Ada {{count}}", count: 2.5, unknown: "ignored" };
  const message = await send(api, chat.id, { content: "Fallback", type: "IMAGE", templateId, variables });
  expect(message).toMatchObject({
    type: "TEMPLATE",
    templateId,
    variables,
    content: "Fallback",
    text: "Hi Ada {{count}}, 2.5 of 2.5 for Ada {{count}}{ok}",
  });
});

test.each([
  ["absent", {}, ["variables.name", "variables.constructor"]],
  ["null", { variables: null }, ["variables.name", "variables.constructor"]],
  ["empty", { variables: {} }, ["variables.name", "variables.constructor"]],
  ["without one", { variables: { name: "Ada", Name: "" } }, ["variables.constructor"]],
])("variables that are %s are a 400 that names each missing one", async (_, body, paths) => {
  const { post, organizationId } = await shared();
  const templateId = await newTemplate(organizationId, "Hi {{name}} {{constructor}} {{name}}");
  expectFaults(await post({ content: "Hi", templateId, ...body }), ...paths);
});

test("a filled template can have up to 4,096 characters", async () => {
  const { api, chat, post, organizationId } = await newSender();
  const templateId = await newTemplate(organizationId, "{{text}}!");
  const longest = { templateId, variables: { text: "x".repeat(4_095) } };
  expect((await send(api, chat.id, longest)).text).toHaveLength(4_096);
  const answer = await post({ content: "Hi", templateId, variables: { text: "x".repeat(4_096) } });
  expectFaults(answer, "variables");
});

test.each(["Nul \0", "Right-to-left \u202e", " padded ", "\u2028 x"])(
  "content %j is returned as it was sent",
  async (content) => {
    const { api, chat } = await shared();
    const { id } = await send(api, chat.id, { content });
    const answer = await api("GET", `/chats/${chat.id}/messages/${id}`);
    expect(answer.body.message).toMatchObject({ content, text: content });
  },
);

test("half a character is refused wherever a send has text, and replaced in what visitors and networks send", async () => {
  const { api, chat } = await shared();
  const faulty: [Record<string, unknown>, string][] = [
    [{ content: "Lone \ud800" }, "content"],
    [{ metadata: { k: "\udc00" } }, "metadata.k"],
    [{ metadata: { "\ud800": "v" } }, "metadata"],
    [{ variables: { k: "\ud800" } }, "variables.k"],
    [{ mediaUrl: "https://example.com/\ud800" }, "mediaUrl"],
  ];
  for (const [body, path] of faulty) {
    expectFaults(await api("POST", `/chats/${chat.id}/messages`, { content: "Hi", ...body }), path);
  }
  expect(readFrame('{"type":"message","id":"1","content":"Lone \\ud800"}')).toMatchObject({ content: "Lone \ufffd" });
});

test("a body with thousands of faults is answered with a hundred of them", async () => {
  const { api, chat } = await shared();
  const variables = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`v${i}`, true]));
  const answer = await api("POST", `/chats/${chat.id}/messages`, { content: "Hi", variables });
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toHaveLength(100);
  expect(answer.body.message).toBe("Validation failed: the first 100 of 4000 problems are listed");
  expect(answer.text.length).toBeLessThan(16_384);
});

test.each(["web", "telegram"] as const)(
  "on a %s channel, a call whose sends are all refused sets no alarm",
  async (kind) => {
    vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
    fakeNetworks();
    const { api, organizationId } = await newOrganization();
    const chat = await newChat(api, await newChannel(organizationId, kind), "4915112345");
    const object = env.CHATS.getByName(chat.id);
    // The first report of the chat.
    await runAlarm(object);
    const post = (body: object) => api("POST", `/chats/${chat.id}/messages`, { content: "Hello", ...body });
    const refused = await Promise.all([
      post({ senderId: "mbr_gaaaaaaaaaaaaaaa" }),
      post({ templateId: "tpl_gaaaaaaaaaaaaaaa" }),
      post({ senderId: "mbr_gbbbbbbbbbbbbbbb" }),
    ]);
    for (const answer of refused) expect(answer.status, answer.text).toBe(404);
    expect(await alarmOf(object)).toBeNull();
    expect((await post({})).status).toBe(201);
    expect(await alarmOf(object)).not.toBeNull();
  },
);

test("a message on a web channel is SENT when it is stored, and listed with all its fields", async () => {
  const { api, channelId, ownerId } = await newOrganization();
  const chat = await newChat(api, channelId);

  const message = await send(api, chat.id, { content: "Hello", metadata: { order: "7" } });

  expect(message).toEqual({
    id: expect.stringMatching(/^msg_g[0-9A-Za-z]{15}1$/),
    chatId: chat.id,
    seq: 1,
    direction: "OUTBOUND",
    type: "TEXT",
    content: "Hello",
    mediaUrl: null,
    senderId: ownerId,
    templateId: null,
    variables: null,
    text: "Hello",
    status: "SENT",
    error: null,
    metadata: { order: "7" },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: message.createdAt,
    sentAt: message.createdAt,
  });
  const listed = await api("GET", `/chats/${chat.id}/messages`);
  expect(listed.body).toEqual({
    messages: [message],
    pagination: { page: 1, limit: 20, total: 1, totalPages: 1, hasMore: false },
  });
});

test.each(["telegram", "whatsapp"] as const)("a message on a %s channel waits QUEUED", async (kind) => {
  const { api, organizationId } = await newOrganization();
  const chat = await newChat(api, await newChannel(organizationId, kind), "4915112345");
  expect((await send(api, chat.id)).status).toBe("QUEUED");
});

/** Pairs whose JSON has exactly `bytes` bytes in UTF-8, made of `letter`, which has `size` bytes. */
function pairsOf(bytes: number, letter = "x", size = 1): Record<string, string> {
  const pairs: Record<string, string> = {};
  let left = bytes - "{}".length;
  for (let at = 10; left > 0; at++) {
    const frame = `"${at}":""${left > 500 ? "," : ""}`.length;
    const value = left > 500 ? 400 : left - frame;
    pairs[at] = letter.repeat(Math.floor(value / size)).padEnd(Math.floor(value / size) + (value % size), "x");
    left -= frame + value;
  }
  expect(new TextEncoder().encode(JSON.stringify(pairs)).length).toBe(bytes);
  return pairs;
}

async function routes() {
  const { organizationId, channelId } = await newOrganization();
  const api = client((await newKey(organizationId)).secret);
  let contacts = 0;
  const chat = (metadata: object) => ({ channelId, contact: { address: `contact-${++contacts}` }, metadata });
  const { id } = (await api("POST", "/chats", chat({}))).body.chat;
  return [
    (metadata: object) => api("POST", "/chats", chat(metadata)),
    (metadata: object) => admin("POST", `/organizations/${organizationId}/chats`, chat(metadata)),
    (metadata: object) => api("POST", `/chats/${id}/messages`, { content: "Hello", metadata }),
  ];
}

test.each([
  ["x", 1],
  ["ü", 2],
  ["語", 3],
] as const)(
  "metadata of chats and messages can have up to 4 KiB as JSON, counted in bytes: %s",
  async (letter, size) => {
    for (const ask of await routes()) {
      const longest = pairsOf(4_096, letter, size);
      const { status, body } = await ask(longest);
      expect(status).toBe(201);
      expect((body.chat ?? body.message).metadata).toEqual(longest);
      expectFaults(await ask(pairsOf(4_097, letter, size)), "metadata");
    }
  },
);
