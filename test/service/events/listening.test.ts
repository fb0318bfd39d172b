import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { workIsDone } from "../../support/alarms.ts";
import { aroundCall, countCalls, replaceMethod } from "../../support/faults.ts";
import { admin, expectError, send } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { listenedChats, nameOf, newListenerWithChat, openStream, report } from "./fixtures.ts";

stopTheClock();

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

test("after a time of many reports, a message that comes alone is reported at once again", async () => {
  const { api, stream, chatIds } = await listenedChats(3);
  for (let count = 0; count < 60; count++) await send(api, chatIds[count % 2] ?? "");
  for (const chatId of chatIds) await workIsDone(env.CHATS.getByName(chatId));
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
