import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { asOwner } from "../../support/as-owner.ts";
import { aroundCall } from "../../support/faults.ts";
import { newChat, send } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { addWebhook, chatWithWebhook, fakeReceiver } from "./receiver.ts";

/** Waits until a webhook has accepted all events of a chat, in this many attempts. */
async function untilAttempted(chatId: string, organizationId: string, webhookId: string, count: number): Promise<void> {
  await until(
    `the webhook has accepted ${count} events`,
    async () => await env.CHATS.getByName(chatId).webhookLine(asOwner(organizationId), webhookId),
    (answer) => answer.outcome === "ok" && answer.line.pending === 0 && answer.line.attempts.length === count,
  );
}

test("a new webhook gets the events after the last one that the organization had, also from a chat whose object was evicted", async () => {
  const calls = fakeReceiver();
  const { api, organizationId, chat, object, ring } = await chatWithWebhook({ types: ["message.*"] });
  await send(api, chat.id, { content: "old" });
  await ring();
  await evictDurableObject(object());
  const later = await addWebhook(organizationId, { url: "https://customer.test/later", types: ["message.*"] });
  await send(api, chat.id, { content: "new" });
  await ring();
  await untilAttempted(chat.id, organizationId, later, 1);
  const texts = calls.filter(({ url }) => url.endsWith("/later")).map(({ event }) => event.data.message.content);
  expect(texts).toEqual(["new"]);
});

test("a new webhook gets no event from before it, also of a chat that has reported only once", async () => {
  const calls = fakeReceiver();
  const { api, organizationId, channelId } = await chatWithWebhook({ types: ["message.*"] });
  const { id } = await newChat(api, channelId);
  await send(api, id, { content: "old" });
  const object = env.CHATS.getByName(id);
  await runAlarm(object);
  const later = await addWebhook(organizationId, { url: "https://customer.test/later", types: ["message.*"] });
  await send(api, id, { content: "new" });
  await runAlarm(object);
  await untilAttempted(id, organizationId, later, 1);
  const texts = calls.filter(({ url }) => url.endsWith("/later")).map(({ event }) => event.data.message.content);
  expect(texts).toEqual(["new"]);
});

test("a chat whose report's answer was lost begins where the first answer said", async () => {
  const calls = fakeReceiver();
  const { api, organizationId, chat, ring } = await chatWithWebhook({ types: ["message.*"] });
  await send(api, chat.id, { content: "old" });
  await ring();
  const later = await addWebhook(organizationId, { url: "https://customer.test/later", types: ["message.*"] });
  await send(api, chat.id, { content: "one" });
  aroundCall("ORGANIZATIONS", "report", {
    after: () => {
      throw new Error("the answer is lost");
    },
  });
  await ring();
  vi.restoreAllMocks();
  await send(api, chat.id, { content: "two" });
  // After a report that failed, the chat rests.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  await ring();
  await untilAttempted(chat.id, organizationId, later, 2);
  const texts = calls.filter(({ url }) => url.endsWith("/later")).map(({ event }) => event.data.message.content);
  expect(texts).toEqual(["one", "two"]);
});
