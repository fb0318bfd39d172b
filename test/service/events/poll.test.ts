import { expect, test, vi } from "vitest";
import { OrganizationObject } from "../../../src/index.ts";
import { countCalls } from "../../support/faults.ts";
import { type Answer, admin, expectError, expectFaults, newChat, send } from "../../support/harness.ts";
import { hurry, hurryChecks } from "../../support/hurry.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { nameOf, newListener, newListenerWithChat, pageOf, report, untilDoorbells } from "./fixtures.ts";

stopTheClock();

test("a poll answers as soon as a chat reports an event", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  const polled = pageOf(api, "from=now&wait=30");
  await untilDoorbells(organizationId);
  await send(api, chat.id);
  await report(chat.id);
  const { events, hasMore } = await polled;
  expect([events.map(nameOf), hasMore]).toEqual([[`${chat.id} 2 message.created`], false]);
});

test("a poll of an organization without a chat answers when the first one is created", async () => {
  const { api, organizationId, channelId } = await newListener();
  const polled = pageOf(api, "wait=30");
  await untilDoorbells(organizationId);
  const chat = await newChat(api, channelId);
  await report(chat.id);
  expect((await polled).events.map(nameOf)).toEqual([`${chat.id} 1 chat.created`]);
});

test("while a client waits, a chat reports each event at once", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  let polled = pageOf(api, "from=now&wait=30");
  await untilDoorbells(organizationId);
  await send(api, chat.id);
  await report(chat.id);
  const { cursor } = await polled;
  polled = pageOf(api, `after=${cursor}&wait=30`);
  await untilDoorbells(organizationId);
  await send(api, chat.id);
  const { events } = await polled;
  expect(events.map(nameOf)).toEqual([`${chat.id} 3 message.created`]);
});

test("a poll with an event to read does not wait, and opens no doorbell", async () => {
  const { api, chat } = await newListenerWithChat();
  const opened = countCalls("ORGANIZATIONS", "fetch");
  expect((await pageOf(api, "wait=30")).events.map(nameOf)).toEqual([`${chat.id} 1 chat.created`]);
  expect(opened()).toBe(0);
});

test("a poll without an event ends after its time, with a cursor that continues", async () => {
  const { api, chat } = await newListenerWithChat();
  hurry();
  const start = Date.now();
  const { events, cursor, hasMore } = await pageOf(api, "from=now&wait=7");
  expect([events, hasMore]).toEqual([[], false]);
  // A hurried clock goes on while the answer is on its way.
  expect(Date.now() - start).toBeGreaterThanOrEqual(7_000);
  // No deadline of a read is hurried.
  vi.unstubAllGlobals();
  await send(api, chat.id);
  await report(chat.id);
  expect((await pageOf(api, `after=${cursor}`)).events.map(nameOf)).toEqual([`${chat.id} 2 message.created`]);
});

test("a filtered poll waits for an event of its types, and its cursor skips the others", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  const feed = vi.spyOn(OrganizationObject.prototype, "feed");
  const newest = () => new Set(feed.mock.settledResults.map(({ value }) => value?.newest));
  // The wait ends once the poll has read of the event.
  hurry(5_000, (ms) => ms > 5_000 || newest().size < 2);
  const polled = pageOf(api, "from=now&wait=5&types=chat.*");
  await untilDoorbells(organizationId);
  await send(api, chat.id);
  await report(chat.id);
  const { events, cursor } = await polled;
  expect(events).toEqual([]);
  expect((await pageOf(api, `after=${cursor}`)).events).toEqual([]);
});

test("a poll ends when its key is revoked", async () => {
  const { api, organizationId, keyId } = await newListenerWithChat();
  const goOn = hurryChecks();
  const polled = api("GET", "/events?from=now&wait=30");
  await untilDoorbells(organizationId);
  expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(200);
  goOn();
  expectError(await polled, 401, "invalid_api_key");
});

test("a poll ends when its key loses the permission", async () => {
  const { api, organizationId, keyId } = await newListenerWithChat();
  const goOn = hurryChecks();
  const polled = api("GET", "/events?from=now&wait=30");
  await untilDoorbells(organizationId);
  expect((await admin("PATCH", `/keys/${keyId}`, { permissions: ["chats:read"] })).status).toBe(200);
  goOn();
  expectError(await polled, 403, "permission_denied", /events:read/);
});

test("a poll counts as one request, however often its key is checked", async () => {
  const { api } = await newListenerWithChat();
  const before = Number((await api("GET", "/key")).headers.get("X-RateLimit-Remaining"));
  const checks = countCalls("KEYS", "check");
  const start = Date.now();
  // The key is checked every 5 seconds of the wait, which ends once it was checked twice.
  hurry(5_000, (ms) => ms > 5_000 && checks() < 2);
  await pageOf(api, "from=now&wait=30");
  expect(checks()).toBeGreaterThanOrEqual(2);
  // The window is over by then, unless the clock goes back.
  vi.setSystemTime(start);
  const after = Number((await api("GET", "/key")).headers.get("X-RateLimit-Remaining"));
  expect(before - after).toBe(2);
});

test("the events of one chat are read and polled by number, and no other chat's", async () => {
  const { api, organizationId, channelId, chat } = await newListenerWithChat();
  const other = await newChat(api, channelId);
  await send(api, chat.id);
  const read = (query: string): Promise<Answer> => api("GET", `/chats/${chat.id}/events?${query}`);
  const { events, cursor, hasMore } = (await read("limit=1")).body;
  expect([events.map(nameOf), cursor, hasMore]).toEqual([[`${chat.id} 1 chat.created`], "1", true]);
  const rest = (await read("after=1")).body;
  expect([rest.events.map(nameOf), rest.cursor, rest.hasMore]).toEqual([[`${chat.id} 2 message.created`], "2", false]);
  expect(rest.events[0].cursor).toBe("2");
  const polled = read("after=2&wait=30");
  await untilDoorbells(organizationId);
  await report(chat.id);
  await send(api, other.id);
  await report(other.id);
  await send(api, chat.id);
  expect((await polled).body.events.map(nameOf)).toEqual([`${chat.id} 3 message.created`]);
});

test("a number that the chat does not have yet is no place to continue from", async () => {
  const { api, chat } = await newListenerWithChat();
  expect((await api("GET", `/chats/${chat.id}/events?after=1`)).body.events).toEqual([]);
  expectError(await api("GET", `/chats/${chat.id}/events?after=2`), 410, "cursor_expired");
  expectFaults(await api("GET", `/chats/${chat.id}/events?after=x`), "after");
});
