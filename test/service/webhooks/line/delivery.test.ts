import { runInDurableObject } from "cloudflare:test";
import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import { asOwner } from "../../../support/as-owner.ts";
import { admin, send } from "../../../support/harness.ts";
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

test("an event that fails is tried again at its time, and the later ones wait for it", async () => {
  const calls = fakeReceiver((_call, number) => new Response("busy", { status: number <= 2 ? 503 : 200 }));
  const { api, chatId, ring, settled, line } = await chatWithWebhook({ types: ["message.*"] });
  await send(api, chatId, { content: "One" });
  await settled(1);
  await send(api, chatId, { content: "Two" });
  expect(await line()).toMatchObject({ pending: 2, head: { number: 2, tries: 1 } });
  for (const [tries, ms] of [6 * SECOND, 36 * SECOND].entries()) {
    vi.setSystemTime(Date.now() + ms);
    await ring();
    await settled(tries + 2);
  }
  await settled(4);
  expect(calls.map(({ event, headers }) => [event.number, headers.get("parley-attempt")])).toEqual([
    [2, "1"],
    [2, "2"],
    [2, "3"],
    [3, "1"],
  ]);
  expect(new Set(calls.slice(0, 3).map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  expect((await line())?.attempts.at(-1)).toMatchObject({ outcome: "retry", code: "http_503", response: "busy" });
});

test("after a redaction between two attempts, the second has no text, and the answers' texts are gone", async () => {
  const calls = fakeReceiver(({ text }, number) => new Response(text, { status: number === 1 ? 500 : 200 }));
  const { api, chatId, ring, settled, line } = await chatWithWebhook({ types: ["message.created"] });
  const { id } = await send(api, chatId, { content: "Secret" });
  await settled(1);
  expect(JSON.stringify(await line())).toContain("Secret");
  expect((await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status).toBe(200);
  expect(JSON.stringify(await line())).not.toContain("Secret");
  vi.setSystemTime(Date.now() + 6 * SECOND);
  await ring();
  await settled(2);
  expect(calls.map(({ text }) => text.includes("Secret"))).toEqual([true, false]);
});

test("after the contact deleted a message between two attempts, the second has no text, and the deletion is told", async () => {
  const calls = fakeReceiver(({ text }, number) => new Response(text, { status: number === 1 ? 500 : 200 }));
  const types = ["message.received", "message.redacted"];
  const { ring, settled, line, object, organizationId } = await chatWithWebhook({ types });
  const draft = { id: newId("msg", null), dedupe: "in1", type: "TEXT", content: "Secret", media: null } as const;
  await object().receive(asOwner(organizationId), { ...draft, origin: null, addresses: [] });
  await settled(1);
  expect(JSON.stringify(await line())).toContain("Secret");
  await object().change(asOwner(organizationId), { change: "deletion", networkId: "in1" });
  expect(JSON.stringify(await line())).not.toContain("Secret");
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

test("the first event that waits can be skipped, and no other", async () => {
  const calls = fakeReceiver(({ event }) => new Response(null, { status: event.number === 2 ? 500 : 200 }));
  const { api, chatId, settled, object, organizationId, webhookId } = await chatWithWebhook({ types: ["message.*"] });
  await send(api, chatId);
  await settled(1);
  await send(api, chatId);
  const id = calls[0]?.headers.get("webhook-id") ?? "";
  const skip = (eventId: string) => object().skipEvent(asOwner(organizationId), webhookId, eventId);
  expect(await skip(`${id.slice(0, -1)}3`)).toEqual({ outcome: "not_head" });
  expect(await skip(id.replace("evt_g", "evt_e"))).toEqual({ outcome: "not_head" });
  expect(await skip(id)).toEqual({ outcome: "skipped" });
  // The calls themselves: the webhook's object may count the skipped event before the next one is called.
  await vi.waitFor(() =>
    expect(calls.map(({ event }) => [event.number, event.previous])).toEqual([
      [2, null],
      [3, 2],
    ]),
  );
});

test("a replay sends events again and says so", async () => {
  const calls = fakeReceiver();
  const { api, chatId, settled, object, webhookId } = await chatWithWebhook({ types: ["message.*"] });
  await send(api, chatId);
  await send(api, chatId);
  await settled(2);
  expect(await object().replayEvents(webhookId, "rpl_1", [[1, 3]])).toBe(2);
  await settled(4);
  const again = calls
    .slice(2)
    .map(({ event, headers }) => [event.number, event.previous, headers.get("parley-replay")]);
  expect(again).toEqual([
    [2, null, "rpl_1"],
    [3, null, "rpl_1"],
  ]);
});

test("an attempt that was lost with the chat's object is repeated with the same id", async () => {
  const { promise: hangs } = Promise.withResolvers<Response>();
  const calls = fakeReceiver((_call, number) => (number === 1 ? hangs : new Response("ok")));
  const { api, chatId, ring, settled, object } = await chatWithWebhook({ types: ["message.*"] });
  await send(api, chatId);
  await vi.waitFor(() => expect(calls).toHaveLength(1));
  await runInDurableObject(object(), (_object, state) => state.abort("lost")).catch(() => {});
  vi.setSystemTime(Date.now() + 40 * SECOND);
  await ring();
  await settled(1);
  expect(calls.map(({ headers }) => headers.get("webhook-id"))).toEqual([
    calls[0]?.headers.get("webhook-id"),
    calls[0]?.headers.get("webhook-id"),
  ]);
});
