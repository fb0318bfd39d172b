import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ChatReport } from "../../../../src/model/organization.ts";
import { admin, newChannel, newChat, newOrganization, statsOf } from "../../../support/harness.ts";
import { TOMORROW } from "../../../support/tomorrow.ts";
import { stopTheClock } from "../../chats/object/delivery/conversation.ts";

stopTheClock();

/** A chat that its organization knows, and reports of it. */
async function reporting(kind: "telegram" | "whatsapp" = "telegram") {
  const organization = await newOrganization();
  const { api, organizationId } = organization;
  const channelId = await newChannel(organizationId, kind);
  const chat = await newChat(api, channelId, kind === "whatsapp" ? "4915112344711" : "4711");
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const life = (await object.identity(chat.id))?.life ?? 0;
  const report = (number: number, changes: Partial<ChatReport> = {}) =>
    object.report({
      chatId: chat.id,
      life,
      number,
      events: null,
      webhooks: null,
      lastMessageAt: life + number,
      lastMessage: null,
      unansweredSince: null,
      nextScheduledAt: null,
      readUpTo: null,
      assigneeId: null,
      details: null,
      depth: number,
      oldest: life,
      attempts: { sent: number },
      ...changes,
    });
  const numbers = async () => {
    const [stats] = (await statsOf(organizationId)).channels.filter(({ id }: { id: string }) => id === channelId);
    return { depth: stats.queue.depth, sent: stats.attempts.sent };
  };
  const lastMessageAt = async () => Date.parse((await api("GET", "/chats")).body.chats[0].lastMessageAt) - life;
  return { ...organization, channelId, chat, object, life, report, numbers, lastMessageAt };
}

test("a report that comes twice, late or out of order changes nothing", async () => {
  const { report, numbers, lastMessageAt } = await reporting();
  expect(await report(2)).toMatchObject({ outcome: "ok", number: 2 });
  for (const number of [2, 1]) {
    // The answer names the report that counts, so a chat whose storage was restored goes on from there.
    expect(await report(number, { depth: 9, attempts: { sent: 9 } })).toMatchObject({ outcome: "ok", number: 2 });
  }
  expect(await numbers()).toEqual({ depth: 2, sent: 2 });
  expect(await lastMessageAt()).toBe(2);
  await report(3, { depth: 0, oldest: null });
  expect(await numbers()).toEqual({ depth: 0, sent: 3 });
});

test("a report for a chat that never was, or of another life, is unknown and changes nothing", async () => {
  const { report, life, numbers } = await reporting();
  await report(1);
  for (const changes of [{ chatId: "cht_gaaaaaaaaaaaaaaa" }, { life: life - 1 }, { life: life + 1 }]) {
    expect(await report(9, changes)).toEqual({ outcome: "unknown" });
  }
  expect(await numbers()).toEqual({ depth: 1, sent: 1 });
});

test("a report for a chat that was deleted, or created again, changes nothing", async () => {
  const { api, channelId, chat, report, numbers } = await reporting();
  await report(1);
  expect((await admin("DELETE", `/chats/${chat.id}`)).status).toBe(200);
  expect(await report(2)).toEqual({ outcome: "unknown" });
  // What waited in the chat is gone with it. Attempts were made, and stay.
  expect(await numbers()).toEqual({ depth: 0, sent: 1 });
  const again = await newChat(api, channelId, "4711");
  expect(await report(2, { chatId: again.id })).toEqual({ outcome: "unknown" });
  expect((await api("GET", "/chats")).body.chats).toEqual([again]);
});

test("an object that nobody created answers a report without writing", async () => {
  const object = env.ORGANIZATIONS.getByName("org_gaaaaaaaaaaaaaaa");
  const state = {
    lastMessageAt: 1,
    lastMessage: null,
    unansweredSince: null,
    nextScheduledAt: null,
    readUpTo: null,
    assigneeId: null,
    details: null,
    depth: 0,
    oldest: null,
    attempts: {},
  };
  expect(
    await object.report({ chatId: "cht_gaaaaaaaaaaaaaaa", life: 1, number: 1, events: null, webhooks: null, ...state }),
  ).toEqual({
    outcome: "unknown",
  });
  await object.reportKey("org_gaaaaaaaaaaaaaaa", "key_gaaaaaaaaaaaaaaa", { admitted: 1, refused: {} });
  const stored = await runInDurableObject(object, (_object, { storage }) => [...storage.kv.list()].length);
  expect(stored).toBe(0);
});

test("the more chats report in a second, the longer each waits before its next report", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { report } = await reporting();
  const waits: number[] = [];
  for (let number = 1; number <= 700; number++) {
    const answer = await report(number);
    if (answer.outcome === "ok") waits.push(answer.nextAfterMs);
  }
  expect([waits[0], waits[49], waits[99], waits.at(-1)]).toEqual([5_000, 5_000, 10_000, 60_000]);
});

test("up to ten reports a second, and twenty more at once, no chat rests, and beyond that they keep to this pace", async () => {
  const start = TOMORROW;
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  const { report, organizationId } = await reporting();
  const opened = await env.ORGANIZATIONS.getByName(organizationId).fetch("https://organization/?stream=one", {
    headers: { Upgrade: "websocket" },
  });
  opened.webSocket?.accept();
  const answers: { restMs: number | undefined; isListened: boolean }[] = [];
  let number = 0;
  const next = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const answer = await report(++number);
      if (answer.outcome !== "ok") throw new Error("The report did not count");
      answers.push({ restMs: answer.restMs, isListened: answer.listeningForMs > 0 });
    }
    return answers.at(-1);
  };
  expect(await next(20)).toEqual({ restMs: 0, isListened: true });
  expect(await next(1)).toEqual({ restMs: 100, isListened: true });
  expect(await next(48)).toEqual({ restMs: 4_900, isListened: true });
  expect(await next(1)).toEqual({ restMs: 7_000, isListened: false });
  expect(await next(500)).toEqual({ restMs: 57_000, isListened: false });
  // Soon after the crowd it is calm again.
  vi.setSystemTime(start + 3_000);
  expect(await next(1)).toEqual({ restMs: 2_100, isListened: true });
  vi.setSystemTime(start + 5_200);
  expect(await next(1)).toEqual({ restMs: 0, isListened: true });
  vi.setSystemTime(start - 60_000);
  await next(1);
  vi.setSystemTime(start - 50_000);
  expect(await next(1)).toEqual({ restMs: 0, isListened: true });
  opened.webSocket?.close();
});

test("a report of a chat that runs an earlier version leaves when the contact wrote", async () => {
  const { api, chat, report } = await reporting("whatsapp");
  const replyUntil = async () => (await api("GET", "/chats")).body.chats[0].replyUntil;
  await report(1);
  expect(await replyUntil()).toBe(chat.createdAt);
  await report(2, { contactWroteAt: Date.parse(chat.createdAt) + 5 });
  const until = new Date(Date.parse(chat.createdAt) + 86_400_005).toISOString();
  expect(await replyUntil()).toBe(until);
  await report(3);
  expect(await replyUntil()).toBe(until);
});
