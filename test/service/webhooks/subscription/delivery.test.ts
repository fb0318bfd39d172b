import { runInDurableObject } from "cloudflare:test";
import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import { asOwner } from "../../../support/as-owner.ts";
import { admin, send } from "../../../support/harness.ts";
import { untilLength } from "../../../support/until.ts";
import { stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { SECRET } from "../object/fixtures.ts";
import { chatWithWebhook, fakeReceiver } from "../receiver.ts";

const SECOND = 1_000;

stopTheClock();

test("each event of a chat reaches the webhook in order, signed, with the number before it", async () => {
  const calls = fakeReceiver();
  const { api, chatId, chat, settled, organizationId, channelId, webhookId } = await chatWithWebhook();
  const first = await send(api, chatId, { content: "One" });
  await send(api, chatId, { content: "Two" });
  await settled(3);
  expect(calls.map(({ event }) => [event.number, event.previous, event.type])).toEqual([
    [1, null, "chat.created"],
    [2, 1, "message.created"],
    [3, 2, "message.created"],
  ]);
  expect(calls[1]?.event).toEqual({
    id: calls[1]?.headers.get("webhook-id"),
    type: "message.created",
    timestamp: first.createdAt,
    organizationId,
    chatId,
    channelId,
    channelKind: "web",
    contactAddress: chat.contact.address,
    number: 2,
    previous: 1,
    data: { messageId: first.id, seq: 1, message: first },
  });
  for (const { headers, text } of calls) {
    expect(() => new Webhook(SECRET).verify(text, Object.fromEntries(headers))).not.toThrow();
    expect(headers.get("parley-webhook")).toBe(webhookId);
    expect(headers.get("parley-attempt")).toBe("1");
  }
});

test("a webhook with a filter gets the matching events only, and a thin one gets no text", async () => {
  const calls = fakeReceiver();
  const { api, chatId, settled } = await chatWithWebhook({ types: ["message.created"], payload: "thin" });
  const { id } = await send(api, chatId, { content: "Secret" });
  await settled(1);
  expect(calls.map(({ event }) => [event.number, event.previous, event.data])).toEqual([
    [2, null, { messageId: id, seq: 1 }],
  ]);
  expect(calls[0]?.text).not.toContain("Secret");
  expect(calls[0]?.event).not.toHaveProperty("contactAddress");
});

test("after a redaction between two attempts, the second has no text, and the answers' texts are gone", async () => {
  const calls = fakeReceiver(({ text }, number) => new Response(text, { status: number === 1 ? 500 : 200 }));
  const { api, chatId, ring, settled, subscription } = await chatWithWebhook({ types: ["message.created"] });
  const { id } = await send(api, chatId, { content: "Secret" });
  await settled(1);
  expect(JSON.stringify(await subscription())).toContain("Secret");
  expect((await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status).toBe(200);
  expect(JSON.stringify(await subscription())).not.toContain("Secret");
  vi.setSystemTime(Date.now() + 6 * SECOND);
  await ring();
  await settled(2);
  expect(calls.map(({ text }) => text.includes("Secret"))).toEqual([true, false]);
});

test("after the contact deleted a message between two attempts, the second has no text, and the deletion is told", async () => {
  const calls = fakeReceiver(({ text }, number) => new Response(text, { status: number === 1 ? 500 : 200 }));
  const types = ["message.received", "message.redacted"];
  const { ring, settled, subscription, object, organizationId } = await chatWithWebhook({ types });
  const draft = { id: newId("msg", null), dedupe: "in1", type: "TEXT", content: "Secret", media: null } as const;
  await object().receive(asOwner(organizationId), { ...draft, origin: null, addresses: [] });
  await settled(1);
  expect(JSON.stringify(await subscription())).toContain("Secret");
  await object().change(asOwner(organizationId), { change: "deletion", networkId: "in1" });
  expect(JSON.stringify(await subscription())).not.toContain("Secret");
  vi.setSystemTime(Date.now() + 6 * SECOND);
  await ring();
  await settled(3);
  expect(calls.map(({ text }) => text.includes("Secret"))).toEqual([true, false, false]);
  expect(calls.at(-1)?.event).toMatchObject({
    type: "message.redacted",
    data: { by: "contact", message: { text: "" } },
  });
});

test("nothing of a deleted chat is sent", async () => {
  const calls = fakeReceiver(() => new Response(null, { status: 500 }));
  const { api, chatId, ring, settled } = await chatWithWebhook({ types: ["message.created"] });
  await send(api, chatId);
  await settled(1);
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBeLessThan(300);
  vi.setSystemTime(Date.now() + 60 * SECOND);
  await ring();
  expect(calls.filter(({ event }) => event.type === "message.created")).toHaveLength(1);
});

test("an attempt that was lost with the chat's object is repeated with the same id", async () => {
  const { promise: hangs } = Promise.withResolvers<Response>();
  const calls = fakeReceiver((_call, number) => (number === 1 ? hangs : new Response("ok")));
  const { api, chatId, ring, settled, object } = await chatWithWebhook({ types: ["message.*"] });
  await send(api, chatId);
  await untilLength(calls, 1);
  await runInDurableObject(object(), (_object, state) => state.abort("lost")).catch(() => {});
  vi.setSystemTime(Date.now() + 40 * SECOND);
  await ring();
  await settled(1);
  expect(calls.map(({ headers }) => headers.get("webhook-id"))).toEqual([
    calls[0]?.headers.get("webhook-id"),
    calls[0]?.headers.get("webhook-id"),
  ]);
});
