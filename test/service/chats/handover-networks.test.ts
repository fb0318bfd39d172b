import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { renderEvent } from "../../../src/model/event-json.ts";
import { admin, client, newKey } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { phoneAndChat } from "../inbound/echo-calls.ts";
import { handoverPlace, SILENT_AFTER } from "./handover-fixtures.ts";
import { alarmOf as alarmIn, pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

test("what the company writes in its app takes the chat over, and nobody is said to have done it", async () => {
  fakeNetworks();
  const at = await phoneAndChat();
  const { key, secret } = await newKey(at.organizationId, {
    permissions: ["chats:write", "chats:read", "events:read"],
  });
  const { key: bot } = await newKey(at.organizationId);
  const set = await admin("PATCH", `/channels/${at.channel.id}`, { settings: { bot: { keyId: bot.id } } });
  expect(set.status, set.text).toBe(200);
  expect(key.id).not.toBe(bot.id);
  await at.contactWrites("Hello?");
  await at.run();
  const api = client(secret);
  expect((await api("POST", `/chats/${at.chatId}/handover`, { to: "bot" })).body.chat.handler).toBe("bot");
  pass(5_000);
  await at.appWrites("From my phone");
  expect(await at.shown()).toMatchObject({ handler: "people", unansweredSince: null });
  const { events } = (await api("GET", `/chats/${at.chatId}/events`)).body;
  expect(events.at(-1)).toMatchObject({ type: "chat.handover", data: { to: "people", by: null, reason: "took_over" } });
});

test("a message that the bot sent before goes to the network, and so do its last words", async () => {
  const calls = fakeNetworks();
  const { answers, handOver, bot, ringIn, messages } = await handoverPlace("telegram");
  await answers("First");
  await handOver({ to: "people", message: { content: "A colleague will help you" } }, bot);
  await ringIn(1_000);
  await ringIn(1_000);
  expect((await messages()).map(({ text, status }) => `${text} ${status}`)).toEqual([
    "First SENT",
    "A colleague will help you SENT",
  ]);
  expect(calls.length).toBe(2);
});

test("a silent bot hands over within 2 s of its time, whatever was evicted in between", async () => {
  fakeNetworks();
  const { says, shown, object, ringIn } = await handoverPlace("telegram");
  await says();
  const at = await alarmIn(object());
  expect(at).toBeLessThanOrEqual(Date.now() + SILENT_AFTER);
  await ringIn(2_500);
  await evictDurableObject(object());
  const next = await alarmIn(object());
  expect(next).toBe(Date.now() - 2_500 + SILENT_AFTER);
  await ringIn((next ?? 0) - Date.now());
  expect((await shown()).handler).toBe("people");
});

test("a thin event names no one", () => {
  const by = { type: "member" as const, id: "mbr_1", name: "Ann" };
  const fact = {
    number: 3,
    type: "chat.handover" as const,
    seq: null,
    note: { to: "people", by, reason: "asked" },
    at: 0,
  };
  const event = renderEvent(fact, { organizationId: "org_1", chat: null }, "1", {}, "thin");
  expect(event.data).toEqual({ to: "people", by: { type: "member", id: "mbr_1" }, reason: "asked" });
});
