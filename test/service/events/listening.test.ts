import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { aroundCall, countCalls, replaceMethod } from "../../support/faults.ts";
import { admin, expectError, newChat, send } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { nameOf, newListener, newListenerWithChat, openStream, pageOf, report } from "./fixtures.ts";

stopTheClock();

/** An organization with chats that know that a client listens, in a calm second. */
async function listenedChats(count: number) {
  const listener = await newListener({ rateLimit: { limit: 1_000, windowSeconds: 1 } });
  const chatIds: string[] = [];
  while (chatIds.length < count) chatIds.push((await newChat(listener.api, listener.channelId)).id);
  const stream = await openStream(listener.secret, "types=message.created");
  for (const chatId of chatIds) {
    await report(chatId);
    pass(200);
  }
  pass(2_000);
  return { ...listener, stream, chatIds };
}

/** Runs the alarms that are due by now. */
async function ringDue(chatIds: string[]): Promise<void> {
  for (const chatId of chatIds) {
    const at = await alarmOf(env.CHATS.getByName(chatId));
    if (at !== null && at <= Date.now()) await report(chatId);
  }
}

/** Makes each report fail. @returns how many there were */
function failingReports(properties: object): () => number {
  let calls = 0;
  replaceMethod("ORGANIZATIONS", "report", () => () => {
    calls++;
    return Promise.reject(Object.assign(new Error("The object failed"), { remote: true, ...properties }));
  });
  return () => calls;
}

const OVERLOADED = { retryable: true, overloaded: true };

test("1,000 sends in 100 chats with one listener make at most 300 reports, and all events are in the feed", async () => {
  const { api, stream, chatIds } = await listenedChats(100);
  const { cursor } = await pageOf(api, "from=now");
  const reports = countCalls("ORGANIZATIONS", "report");
  for (let second = 0; second < 10; second++) {
    for (let first = 0; first < chatIds.length; first += 10) {
      await Promise.all(chatIds.slice(first, first + 10).map((chatId) => send(api, chatId)));
      pass(100);
      if (first % 50 === 40) await ringDue(chatIds);
    }
  }
  expect(reports()).toBeLessThanOrEqual(300);
  pass(60_000);
  await ringDue(chatIds);
  let found = 0;
  for (let [after, hasMore] = [cursor, true]; hasMore; ) {
    const page = await pageOf(api, `limit=100&after=${after}`);
    found += page.events.length;
    [after, hasMore] = [page.cursor, page.hasMore];
  }
  expect(found).toBe(1_000);
  await stream.close();
});

test("after a time of many reports, a message that comes alone is reported at once again", async () => {
  const { api, stream, chatIds } = await listenedChats(3);
  for (let count = 0; count < 60; count++) await send(api, chatIds[count % 2] ?? "");
  pass(5_000);
  const reports = countCalls("ORGANIZATIONS", "report");
  await send(api, chatIds[2] ?? "");
  await until("a report is made", reports, (count) => count === 1);
  await stream.close();
});

test("an event that happens during a report is in the feed right after it while a client listens", async () => {
  const { api, stream, chatIds } = await listenedChats(1);
  const [chatId = ""] = chatIds;
  aroundCall("ORGANIZATIONS", "report", { after: () => send(api, chatId) });
  await send(api, chatId);
  const names = (await stream.events(2)).map(nameOf);
  expect(names).toEqual([`${chatId} 2 message.created`, `${chatId} 3 message.created`]);
  await stream.close();
});

test("an event that happens during the report by which its chat hears of a listener is in the feed right after it", async () => {
  const { api, secret, chat } = await newListenerWithChat();
  const stream = await openStream(secret, "types=message.created");
  await send(api, chat.id);
  aroundCall("ORGANIZATIONS", "report", { after: () => send(api, chat.id) });
  await report(chat.id);
  const names = (await stream.events(2)).map(nameOf);
  expect(names).toEqual([`${chat.id} 2 message.created`, `${chat.id} 3 message.created`]);
  await stream.close();
});

test("an object that says that it is overloaded gets no further report until the back-off ends", async () => {
  const { api, stream, chatIds } = await listenedChats(1);
  const [chatId = ""] = chatIds;
  const reports = failingReports(OVERLOADED);
  const begun = Date.now();
  const { id } = await send(api, chatId);
  await until("a report is made", reports, (count) => count === 1);
  for (let count = 0; count < 10; count++) await send(api, chatId);
  await report(chatId);
  expectError(await admin("POST", `/chats/${chatId}/messages/${id}/redact`), 503, "unavailable");
  expect(reports()).toBe(1);
  vi.restoreAllMocks();
  const alarmAt = (await alarmOf(env.CHATS.getByName(chatId))) ?? 0;
  expect(alarmAt - begun).toBeGreaterThanOrEqual(12_000);
  expect(alarmAt - Date.now()).toBeLessThanOrEqual(18_000);
  vi.setSystemTime(alarmAt);
  await report(chatId);
  expect(await stream.events(11)).toHaveLength(11);
  await stream.close();
});

test("a report that failed is repeated when its back-off ends, and before that for a request that waits for it", async () => {
  const { api, stream, chatIds } = await listenedChats(1);
  const [chatId = ""] = chatIds;
  const reports = failingReports({});
  const { id } = await send(api, chatId);
  await until("a report is made", reports, (count) => count === 1);
  await send(api, chatId);
  await report(chatId);
  expect(reports()).toBe(1);
  vi.restoreAllMocks();
  expect((await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status).toBe(200);
  expect(await stream.events(2)).toHaveLength(2);
  await stream.close();
});
