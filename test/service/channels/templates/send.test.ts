import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin, created, expectError, expectFaults, newTemplate } from "../../../support/harness.ts";
import { untilStatus } from "../../../support/message-status.ts";
import { objectWrites } from "../../../support/object-writes.ts";
import { CREDENTIALS } from "../../../support/world/factories.ts";
import { metadata, signed } from "../../inbound/webhook-calls.ts";
import { chatWithTemplates, listed } from "./waba.ts";

const IMAGE = "https://files.example/shoe.jpg";
const BUTTONS = [
  { type: "QUICK_REPLY", text: "Confirm" },
  { type: "URL", text: "Track", url: "https://shop.example/t/{{1}}" },
  { type: "QUICK_REPLY", text: "Cancel" },
];
const WHOLE = listed("order", {
  components: [
    { type: "HEADER", format: "IMAGE" },
    { type: "BODY", text: "Hi {{1}}" },
    { type: "FOOTER", text: "Acme" },
    { type: "BUTTONS", buttons: BUTTONS },
  ],
});

const VALUES = {
  header: { mediaUrl: IMAGE },
  buttons: [
    { index: 1, urlSuffix: "7" },
    { index: 0, payload: "confirm-7" },
  ],
};

/** An organization with synced templates, and a chat in a channel of a kind. */
async function chatOf(kind: "whatsapp" | "telegram" | "web", ...templates: object[]) {
  const { sent: sentCalls, ...rest } = await chatWithTemplates(kind, templates);
  const { api, chat, idOf } = rest;
  const post = (name: string, body: object = {}, headers: Record<string, string> = {}) =>
    api("POST", `/chats/${chat.id}/messages`, { content: "-", templateId: idOf(name), ...body }, headers);
  return { ...rest, post, sentCalls };
}

test("a whole template reaches WhatsApp, and its message shows its values and what can be tapped", async () => {
  const { post, sentCalls } = await chatOf("whatsapp", WHOLE);
  const { message } = created(await post("order", { variables: { 1: "Ada" }, template: VALUES }));
  expect(message).toMatchObject({
    type: "TEMPLATE",
    text: "Hi Ada",
    template: VALUES,
    interactive: {
      rendering: "buttons",
      choices: [
        { type: "reply", id: "confirm-7", title: "Confirm" },
        { type: "reply", id: "Cancel", title: "Cancel" },
      ],
    },
  });
  const [sent] = await sentCalls(1);
  expect(sent).toMatchObject({
    type: "template",
    template: {
      name: "order",
      language: { code: "en_US" },
      components: [
        { type: "header", parameters: [{ type: "image", image: { link: IMAGE } }] },
        { type: "body", parameters: [{ type: "text", text: "Ada" }] },
        { type: "button", sub_type: "quick_reply", index: 0, parameters: [{ payload: `${message.id}:0` }] },
        { type: "button", sub_type: "url", index: 1, parameters: [{ type: "text", text: "7" }] },
        { type: "button", sub_type: "quick_reply", index: 2, parameters: [{ payload: `${message.id}:1` }] },
      ],
    },
  });
});

test("a tap on a template's button is a tap like any other", async () => {
  const { api, chat, channelId, contact, post } = await chatOf("whatsapp", WHOLE);
  const { message } = created(await post("order", { variables: { 1: "Ada" }, template: VALUES }));
  const tap = { type: "button", button: { payload: `${message.id}:1`, text: "Cancel" } };
  const from = { id: "wamid.tap", from: contact, timestamp: "1790000000" };
  const value = { ...metadata(CREDENTIALS.whatsapp.phoneNumberId), messages: [{ ...from, ...tap }] };
  const body = { object: "whatsapp_business_account", entry: [{ id: "1", changes: [{ field: "messages", value }] }] };
  const answer = await signed({ id: channelId }, JSON.stringify(body), CREDENTIALS.whatsapp.appSecret);
  expect(answer.status).toBe(200);
  const [newest] = (await api("GET", `/chats/${chat.id}/messages?limit=1`)).body.messages;
  expect(newest).toMatchObject({
    content: "Cancel",
    choice: { id: "Cancel", title: "Cancel", messageId: message.id },
    replyTo: message.id,
  });
});

test.each(["telegram", "web"] as const)(
  "on %s a whole template is text, with its quick replies as choices",
  async (kind) => {
    const { post, sentCalls } = await chatOf(kind, WHOLE);
    const { message } = created(await post("order", { variables: { 1: "Ada" }, template: VALUES }));
    expect(message).toMatchObject({
      type: "TEMPLATE",
      text: `${IMAGE}\n\nHi Ada\n\nTrack: https://shop.example/t/7\n\nAcme`,
      interactive: { choices: [{ id: "confirm-7", title: "Confirm" }, { title: "Cancel" }] },
    });
    if (kind === "web") return;
    const [sent] = await sentCalls(1);
    expect(sent).toMatchObject({
      text: message.text,
      reply_markup: {
        inline_keyboard: [[{ text: "Confirm" }], [{ text: "Cancel", callback_data: `${message.id}:1` }]],
      },
    });
  },
);

test("a send that does not fit the template is a 400 that names the path, and stores nothing", async () => {
  const { api, chat, post, organizationId } = await chatOf("whatsapp", WHOLE, listed("plain"));
  const variables = { 1: "Ada" };
  expectFaults(await post("order", { variables }), "template.header.mediaUrl", "template.buttons");
  expectFaults(await post("order", { variables, template: { ...VALUES, header: {} } }), "template.header.mediaUrl");
  expectFaults(await post("order", { template: VALUES }), "variables.1");
  expectFaults(
    await post("plain", { variables, template: VALUES }),
    "template.header.mediaUrl",
    "template.buttons.0.index",
    "template.buttons.1.index",
  );
  const unsynced = await newTemplate(organizationId, "Hi");
  expectFaults(await post("order", { templateId: unsynced, template: VALUES }), "template");
  expectFaults(await api("POST", `/chats/${chat.id}/messages`, { content: "-", template: {} }), "template");
  for (const [template, path] of [
    [{ header: { mediaUrl: "http://files.example/a" } }, "template.header.mediaUrl"],
    [{ header: { variables: JSON.parse('{"__proto__":"a"}') } }, "template.header.variables"],
    [{ header: { location: { latitude: 91, longitude: 0 } } }, "template.header.location.latitude"],
    [{ buttons: [{ index: 10 }] }, "template.buttons.0.index"],
    [{ buttons: [{ index: 0, payload: "x".repeat(201) }] }, "template.buttons.0.payload"],
    [{ buttons: [{ index: 0, payload: " " }] }, "template.buttons.0.payload"],
    [{ buttons: [{ index: 0, code: "x".repeat(16) }] }, "template.buttons.0.code"],
    [{ buttons: [{ index: 0, urlSuffix: "a\nb" }] }, "template.buttons.0.urlSuffix"],
    [{ buttons: Array(11).fill({ index: 0 }) }, "template.buttons"],
  ] as const) {
    expectFaults(await post("order", { variables, template }), path);
  }
  expect((await api("GET", `/chats/${chat.id}/messages`)).body.messages).toEqual([]);
});

test("a template that is not approved or not supported is a 409", async () => {
  const carousel = [
    { type: "BODY", text: "Hi" },
    { type: "CAROUSEL", cards: [] },
  ];
  const { post } = await chatOf(
    "whatsapp",
    listed("paused", { status: "PAUSED" }),
    listed("c", { components: carousel }),
  );
  expectError(await post("paused", { variables: { 1: "a" } }), 409, "template_not_approved", /PAUSED/);
  expectError(await post("c"), 409, "template_not_supported", /CAROUSEL/);
});

test("a template that the network paused counts after 10 seconds, and a message that waits keeps its own", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { api, chat, meta, post, sync } = await chatOf("whatsapp", WHOLE);
  const send = () => post("order", { variables: { 1: "Ada" }, template: VALUES });
  const scheduledAt = new Date(Date.now() + 60_000).toISOString();
  const { message } = created(await post("order", { variables: { 1: "Ada" }, template: VALUES, scheduledAt }));
  expect(message).toMatchObject({ status: "SCHEDULED", template: VALUES, interactive: { rendering: "buttons" } });
  meta.templates = [{ ...WHOLE, status: "PAUSED" }];
  expect((await sync()).body).toMatchObject({ updated: 1 });
  vi.advanceTimersByTime(10_000);
  expectError(await send(), 409, "template_not_approved");
  const kept = (await api("GET", `/chats/${chat.id}/messages/${message.id}`)).body.message;
  expect(kept).toEqual(message);
});

test.each(["paused", "held_for_quality_assessment"])(
  "a template that Meta answers with %s is SENT, and template_rejected once Meta drops it",
  async (message_status) => {
    const { api, channelId, chat, contact, meta, post } = await chatOf("whatsapp", WHOLE);
    meta.refusal = () => Response.json({ messages: [{ id: "wamid.held", message_status }] });
    const { message } = created(await post("order", { variables: { 1: "Ada" }, template: VALUES }));
    const read = async () => (await api("GET", `/chats/${chat.id}/messages/${message.id}`)).body.message;
    await untilStatus(chat.id, message.id, "SENT");
    const errors = [{ code: 132_015, title: "Template is Paused" }];
    const dropped = { id: "wamid.held", status: "failed", timestamp: "1790000000", recipient_id: contact };
    const status = { ...dropped, biz_opaque_callback_data: `${chat.id}.${message.id}`, errors };
    const value = { ...metadata(CREDENTIALS.whatsapp.phoneNumberId), statuses: [status] };
    const body = { object: "whatsapp_business_account", entry: [{ id: "1", changes: [{ field: "messages", value }] }] };
    const answer = await signed({ id: channelId }, JSON.stringify(body), CREDENTIALS.whatsapp.appSecret);
    expect(answer.status).toBe(200);
    expect(await read()).toMatchObject({ status: "FAILED", error: { code: "template_rejected" } });
  },
);

test("a resend sends the template as it was", async () => {
  const { api, chat, meta, post, sentCalls } = await chatOf("whatsapp", WHOLE);
  meta.refusal = () => Response.json({ error: { code: 132_015, message: "Paused" } }, { status: 400 });
  const { message } = created(await post("order", { variables: { 1: "Ada" }, template: VALUES }));
  const path = `/chats/${chat.id}/messages/${message.id}`;
  await untilStatus(chat.id, message.id, "FAILED");
  expect((await api("GET", path)).body.message.error.code).toBe("template_rejected");
  meta.refusal = null;
  const again = created(await api("POST", `${path}/resend`, {})).message;
  expect(again).toMatchObject({ template: VALUES, interactive: message.interactive, text: "Hi Ada" });
  const [first, second] = (await sentCalls(2)).map(({ template }) => JSON.stringify(template));
  expect(second).toBe(first?.replaceAll(message.id, again.id));
});

test("values enter the idempotency key's request, whatever their order", async () => {
  const named = listed("named", {
    parameter_format: "NAMED",
    components: [
      { type: "HEADER", format: "TEXT", text: "{{a}}{{b}}" },
      { type: "BODY", text: "Hi" },
    ],
  });
  const { post } = await chatOf("whatsapp", named);
  const key = { "Idempotency-Key": "once" };
  const { message } = created(await post("named", { template: { header: { variables: { b: 1, a: 2 } } } }, key));
  const again = await post("named", { template: { header: { variables: { a: 2, b: 1 } } } }, key);
  expect(created(again).message.id).toBe(message.id);
  const other = await post("named", { template: { header: { variables: { a: 3, b: 1 } } } }, key);
  expectError(other, 422, "idempotency_mismatch");
});

test("a redaction blanks the values", async () => {
  const { api, chat, post } = await chatOf("whatsapp", WHOLE);
  const { message } = created(await post("order", { variables: { 1: "Ada" }, template: VALUES }));
  expect((await admin("POST", `/chats/${chat.id}/messages/${message.id}/redact`)).status).toBe(200);
  const blank = await api("GET", `/chats/${chat.id}/messages/${message.id}`);
  expect(blank.text).not.toMatch(/confirm-7|shoe\.jpg|template"/);
});

test("a message writes as many rows with a whole template, one that was never synced, or none", async () => {
  const { api, chat, organizationId, post } = await chatOf("web", WHOLE);
  const unsynced = await newTemplate(organizationId, "Hi");
  const object = () => env.CHATS.getByName(chat.id);
  const rows = [];
  const plain = () => api("POST", `/chats/${chat.id}/messages`, { content: "Hi" });
  // The first message brings its table.
  created(await plain());
  for (const run of [
    plain,
    () => post("order", { templateId: unsynced }),
    () => post("order", { variables: { 1: "Ada" }, template: VALUES }),
  ]) {
    rows.push((await objectWrites({ object }, async () => created(await run()))).rows);
    vi.restoreAllMocks();
  }
  expect(rows).toEqual([2, 2, 2]);
});
