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

const reply = (id: string, title = `Title ${id}`) => ({ type: "reply", id, title });
const link = (title: string, url = "https://shop.example/") => ({ type: "link", title, url });
const asking = { type: "location", title: "Send your location" };
const choosing = (...choices: unknown[]) => ({ interactive: { choices } });
const range = (length: number) => Array.from({ length }, (_, index) => index);

const BODIES: Record<string, object> = {
  templateId: { templateId: "tpl_g1" },
  interactive: choosing(reply("a")),
  location: { location: { latitude: 1, longitude: 2 } },
  contacts: { contacts: [{ name: "Maya", phones: ["+1 555 078 3881"] }] },
};
const pairs = Object.keys(BODIES).flatMap((one, index) =>
  Object.keys(BODIES)
    .slice(index + 1)
    .map((other): [string, string] => [one, other]),
);

test.each(pairs)("%s and %s together are refused", async (one, other) => {
  const { post } = await shared();
  const answer = await post({ content: "x", ...BODIES[other], ...BODIES[one] });
  expectFaults(answer, other);
  expect(answer.body.errors[0].message).toBe(`can't be given with ${one}`);
});

test("each body beyond the first is named", async () => {
  await expectRefused(Object.assign({}, ...Object.values(BODIES)), "interactive", "location", "contacts");
});

const mediaUrl = "https://files.example/a.jpg";
const { interactive } = BODIES.interactive as { interactive: object };

test.each<[string, object, string[]]>([
  ["a location with a link to media", { ...BODIES.location, mediaUrl }, ["mediaUrl"]],
  ["cards of the type IMAGE", { ...BODIES.contacts, type: "IMAGE" }, ["type"]],
  [
    "a location of the type TEMPLATE with media",
    { ...BODIES.location, type: "TEMPLATE", mediaUrl },
    ["mediaUrl", "type"],
  ],
  ["choices below AUDIO", { interactive, type: "AUDIO", mediaUrl: "https://files.example/a.ogg" }, ["type"]],
  ["choices of the type TEMPLATE", { interactive, type: "TEMPLATE" }, ["type"]],
  [
    "a header beside media",
    { interactive: { ...interactive, header: "News" }, type: "IMAGE", mediaUrl },
    ["interactive.header"],
  ],
  ["choices below media without a link", { interactive, type: "IMAGE" }, ["mediaUrl"]],
  ["choices below media without a text", { interactive, type: "IMAGE", mediaUrl, content: mediaUrl }, ["content"]],
  ["a text of 1,025 characters above choices", { interactive, content: "x".repeat(1_025) }, ["content"]],
])("%s is refused", (_what, fields, paths) => expectRefused(fields, ...paths));

test.each<[string, unknown, string[]]>([
  ["no choices", { interactive: { choices: [] } }, ["interactive.choices"]],
  ["choices without a list", { interactive: {}, replyTo: "" }, ["interactive.choices", "replyTo"]],
  ["choices that are a text", { interactive: "yes, no" }, ["interactive"]],
  ["11 choices", choosing(...range(11).map((n) => reply(String(n)))), ["interactive.choices"]],
  ["a choice of no type", choosing({ id: "a", title: "A" }), ["interactive.choices.0.type"]],
  ["a choice of an unknown type", choosing({ ...reply("a"), type: "__proto__" }), ["interactive.choices.0.type"]],
  ["a choice that is null", choosing(reply("a"), null), ["interactive.choices.1"]],
  ["replies and a link", choosing(reply("a"), link("B")), ["interactive.choices.1.type"]],
  ["two requests for the location", choosing(asking, { ...asking, title: "Again" }), ["interactive.choices.1"]],
  ["equal titles", choosing(reply("a", "A"), reply("b", "A")), ["interactive.choices.1.title"]],
  ["equal titles of links", choosing(link("A"), link("A", "https://b.example/")), ["interactive.choices.1.title"]],
  ["equal ids", choosing(reply("a", "A"), reply("b"), reply("a", "C")), ["interactive.choices.2.id"]],
  ["equal choices", choosing(reply("a"), reply("a")), ["interactive.choices.1.title", "interactive.choices.1.id"]],
  ["a title of 25 characters", choosing(reply("a", "x".repeat(25))), ["interactive.choices.0.title"]],
  ["a blank title", choosing(reply("a", " ")), ["interactive.choices.0.title"]],
  ["a title of two lines", choosing(reply("a", "A\nB")), ["interactive.choices.0.title"]],
  ["a title with a control character", choosing(reply("a", "A\u001b[31m")), ["interactive.choices.0.title"]],
  ["a title with half a character", choosing(reply("a", "A\ud83d")), ["interactive.choices.0.title"]],
  ["a reply without an id", choosing({ type: "reply", title: "A" }), ["interactive.choices.0.id"]],
  ["an empty id", choosing(reply("", "A")), ["interactive.choices.0.id"]],
  ["an id of 201 characters", choosing(reply("x".repeat(201), "A")), ["interactive.choices.0.id"]],
  ["an id with half a character", choosing(reply("\udc00", "A")), ["interactive.choices.0.id"]],
  [
    "a description of 73 characters",
    choosing({ ...reply("a"), description: "x".repeat(73) }),
    ["interactive.choices.0.description"],
  ],
  [
    "a section of 25 characters",
    choosing({ ...reply("a"), section: "x".repeat(25) }),
    ["interactive.choices.0.section"],
  ],
  ["a blank section", choosing({ ...reply("a"), section: "" }), ["interactive.choices.0.section"]],
  [
    "long lines around choices",
    { interactive: { ...interactive, header: "x".repeat(61), footer: "x".repeat(61), menuTitle: "x".repeat(21) } },
    ["interactive.header", "interactive.footer", "interactive.menuTitle"],
  ],
  [
    "faults of several choices",
    choosing(reply("a", ""), link("B", "b"), asking),
    ["interactive.choices.0.title", "interactive.choices.1.url"],
  ],
])("%s: the path is named", (_what, fields, paths) => expectRefused(fields, ...paths));

test.each([
  "javascript:alert(1)",
  "JAVASCRIPT://shop.example/%0aalert(1)",
  "data:text/html,<script>alert(1)</script>",
  "ftp://shop.example/",
  "https://user:password@shop.example/",
  "https://user@shop.example/",
  "https://",
  "https://shop.example/a b",
  "https://shop.example\\@evil.example/",
  " https://shop.example/",
  "https://shop.example/\u0000",
  "https://shop.example/\ud800",
  `https://shop.example/${"x".repeat(480)}`,
  "shop.example",
  "",
])("the address %j of a link is refused", (url) =>
  expectRefused(choosing(link("A", url)), "interactive.choices.0.url"),
);

const place = (fields: object) => ({ location: { latitude: 52.52, longitude: 13.405, ...fields } });

test.each<[string, unknown, string[]]>([
  ["latitude 90.01", place({ latitude: 90.01 }), ["location.latitude"]],
  ["latitude -90.01", place({ latitude: -90.01 }), ["location.latitude"]],
  ["longitude 180.5", place({ longitude: 180.5 }), ["location.longitude"]],
  ["longitude -181", place({ longitude: -181 }), ["location.longitude"]],
  ["NaN as text", place({ latitude: "NaN", longitude: "1" }), ["location.latitude", "location.longitude"]],
  ["null coordinates", place({ latitude: null, longitude: null }), ["location.latitude", "location.longitude"]],
  ["a number beyond all numbers", '{"content":"x","location":{"latitude":1e999,"longitude":0}}', ["location.latitude"]],
  ["no coordinates", { location: { name: "Office" } }, ["location.latitude", "location.longitude"]],
  ["a name of two lines", place({ name: "A\nB", address: "x".repeat(257) }), ["location.name", "location.address"]],
  ["a location in a list", { location: [52.5, 13.4] }, ["location"]],
  ["no cards", { contacts: [] }, ["contacts"]],
  ["six cards", { contacts: range(6).map(() => ({ name: "A", phones: ["1"] })) }, ["contacts"]],
  ["a card without a phone", { contacts: [{ name: "A", phones: [] }] }, ["contacts.0.phones"]],
  ["a card without a list of phones", { contacts: [{ name: "A" }] }, ["contacts.0.phones"]],
  ["a phone without a digit", { contacts: [{ name: "A", phones: ["1", "+-"] }] }, ["contacts.0.phones.1"]],
  ["a phone of words", { contacts: [{ name: "A", phones: ["call me"] }] }, ["contacts.0.phones.0"]],
  ["a phone with a line break", { contacts: [{ name: "A", phones: ["1\nTEL:2"] }] }, ["contacts.0.phones.0"]],
  ["a card without a name", { contacts: [{ phones: ["1"] }] }, ["contacts.0.name"]],
  ["a name with a line break", { contacts: [{ name: "A\r\nTEL:1", phones: ["1"] }] }, ["contacts.0.name"]],
  ["cards that are one card", { contacts: { name: "A", phones: ["1"] } }, ["contacts"]],
])("%s: the path is named", (_what, fields, paths) => expectRefused(fields, ...paths));

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
