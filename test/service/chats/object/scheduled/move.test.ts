import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import type { MoveBody } from "../../../../../src/model/chat-answers.ts";
import { asOwner } from "../../../../support/as-owner.ts";
import { expectError, expectFaults, send } from "../../../../support/harness.ts";
import { untilStatus } from "../../../../support/message-status.ts";
import { fakeNetworks } from "../../../../support/networks.ts";
import { rowsRead } from "../../../../support/rows-read.ts";
import { alarmOf, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY, inFuture, MINUTE, scheduledPlace } from "./fixtures.ts";

stopTheClock();

test("a message can be moved to an earlier and to a later time", async () => {
  const { schedule, patch, message, messages, ringIn, object, evict } = await scheduledPlace();
  const { id, ...scheduled } = await schedule(3 * MINUTE);
  pass(1_000);
  const updatedAt = new Date().toISOString();
  const earlier = inFuture(MINUTE);
  const moved = await patch(id, { scheduledAt: earlier });
  expect([moved.status, moved.body.message]).toEqual([200, { ...scheduled, id, scheduledAt: earlier, updatedAt }]);
  await evict();
  expect(await message(id)).toEqual(moved.body.message);
  await ringIn(0);
  expect(await alarmOf(object())).toBe(Date.parse(earlier));
  await patch(id, { scheduledAt: inFuture(2 * MINUTE) });
  await ringIn(MINUTE);
  expect(await messages()).toEqual([]);
  await ringIn(MINUTE);
  expect(await messages()).toHaveLength(1);
});

test("a walk of the scheduled messages has each once, leaves out those that moved, and says so", async () => {
  const { schedule, patch, api, chatId } = await scheduledPlace();
  const first = await schedule(MINUTE);
  const [second, third] = [await schedule(2 * MINUTE), await schedule(3 * MINUTE)];
  const page = async (after: string) => (await api("GET", `/chats/${chatId}/scheduled?limit=1${after}`)).body;
  const one = await page("");
  expect(one.pagination).not.toHaveProperty("hasNewer");
  await patch(second.id, { expiresAt: inFuture(DAY) });
  const two = await page(`&after=${one.pagination.cursor}`);
  expect(two.pagination).not.toHaveProperty("hasNewer");
  await patch(first.id, { scheduledAt: inFuture(DAY) });
  const added = await schedule(4 * MINUTE);
  await patch(added.id, { scheduledAt: inFuture(2 * DAY) });
  const three = await page(`&after=${two.pagination.cursor}`);
  const walked = [one, two, three].flatMap(({ messages }) => messages.map(({ id }: { id: string }) => id));
  expect(walked).toEqual([first.id, second.id, third.id]);
  expect(three.pagination).toEqual({ limit: 1, hasMore: false, cursor: null, hasNewer: true });
});

test("a walk of the scheduled messages reads no events, whatever its cursor says", async () => {
  const { schedule, api, chatId, object } = await scheduledPlace();
  for (let n = 1; n <= 30; n++) await schedule(n * MINUTE);
  const { cursor } = (await api("GET", `/chats/${chatId}/scheduled?limit=1`)).body.pagination;
  const [dueAt, turn, , owner] = cursor.split("_");
  const page = `/chats/${chatId}/scheduled?limit=1&after=`;
  const cost = async (after: string) => {
    const rows = await rowsRead(object(), () => api("GET", page + after));
    return rows.reduce((sum, each) => sum + each, 0);
  };
  expect(await cost([dueAt, turn, 1, owner].join("_"))).toBeLessThanOrEqual(await cost(cursor));
});

test("a moved message keeps its turn among those of the same time", async () => {
  const { schedule, patch, messages, ringIn } = await scheduledPlace();
  const first = await schedule(MINUTE, { content: "first" });
  const at = (await schedule(2 * MINUTE, { content: "second" })).scheduledAt;
  await patch(first.id, { scheduledAt: at });
  await ringIn(2 * MINUTE);
  expect((await messages()).map(({ text }) => text)).toEqual(["first", "second"]);
});

test.each([
  ["null", () => null],
  ["a time in the past", () => inFuture(-MINUTE)],
  ["this moment", () => inFuture(0)],
])("a message that is moved to %s takes its place before the response", async (_name, timeOf) => {
  const { schedule, patch, messages, waiting, api, chatId } = await scheduledPlace();
  const { id } = await schedule(DAY);
  await send(api, chatId);
  const scheduledAt = timeOf();
  const { status, body } = await patch(id, { scheduledAt });
  expect(status).toBe(200);
  expect(body.message).toMatchObject({ id, seq: 2, status: "SENT", createdAt: new Date().toISOString() });
  expect(body.message.scheduledAt).toBe(scheduledAt ?? undefined);
  expect((await messages()).at(-1)).toEqual(body.message);
  expect(await waiting()).toEqual([]);
  expectError(await patch(id, { scheduledAt }), 409, "not_scheduled", "The message is not scheduled");
});

test("a due message that waits keeps its turn if only its expiry changes", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const { schedule, patch, messages, ringIn, object } = await scheduledPlace();
  await schedule(MINUTE, { content: "first" });
  const second = await schedule(MINUTE + 1, { content: "second" });
  await runInDurableObject(object(), (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    let inserts = 0;
    storage.sql.exec = ((query: string, ...values: never[]) => {
      if (query.includes("insert into messages") && ++inserts === 1) throw new Error("SQLITE_IOERR");
      return exec(query, ...values);
    }) as typeof exec;
  });
  await ringIn(2 * MINUTE);
  const expiresAt = inFuture(DAY);
  const { status, body } = await patch(second.id, { expiresAt });
  expect([status, body.message]).toEqual([200, { ...second, expiresAt, updatedAt: new Date().toISOString() }]);
  expect(await messages()).toEqual([]);
  await ringIn(30_000);
  expect((await messages()).map(({ text }) => text)).toEqual(["first", "second"]);
});

test("a message that is sent now is delivered by its network", async () => {
  const calls = fakeNetworks();
  const { schedule, patch, chatId } = await scheduledPlace("whatsapp");
  const { id } = await schedule(DAY);
  expect((await patch(id, { scheduledAt: null })).body.message).toMatchObject({ seq: 1, status: "QUEUED" });
  await untilStatus(chatId, id, "SENT");
  expect(calls.map(({ text }) => text)).toEqual(["Later"]);
});

test("a message that is moved to now comes after those that are due", async () => {
  const { schedule, patch, messages } = await scheduledPlace();
  await schedule(MINUTE, { content: "due" });
  const { id } = await schedule(DAY, { content: "moved" });
  pass(MINUTE);
  expect((await patch(id, { scheduledAt: null })).body.message.seq).toBe(2);
  expect((await messages()).map(({ text }) => text)).toEqual(["due", "moved"]);
});

test("a message can get another expiry, and lose it", async () => {
  const { schedule, patch, events } = await scheduledPlace();
  const { id, scheduledAt } = await schedule(MINUTE, { expiresAt: inFuture(2 * MINUTE) });
  const later = inFuture(DAY);
  expect((await patch(id, { expiresAt: later })).body.message).toMatchObject({ scheduledAt, expiresAt: later });
  const { message: moved } = (await patch(id, { expiresAt: null })).body;
  expect(moved).toMatchObject({ scheduledAt });
  expect(moved).not.toHaveProperty("expiresAt");
  expect((await events()).map(({ type }) => type)).toEqual(["chat.created", ...Array(3).fill("message.scheduled")]);
});

test("a moved message is an event, and one that does not change is not", async () => {
  const { schedule, patch, events, message } = await scheduledPlace();
  const scheduled = await schedule(MINUTE);
  const scheduledAt = inFuture(DAY);
  await patch(scheduled.id, { scheduledAt });
  const moved = await message(scheduled.id);
  for (const body of [{}, { scheduledAt }, { expiresAt: null }]) {
    const { status, body: answer } = await patch(scheduled.id, body);
    expect([status, answer.message]).toEqual([200, moved]);
  }
  expect((await events()).map(({ type, data }) => [type, data.scheduledAt, data.messageId])).toEqual([
    ["chat.created", undefined, undefined],
    ["message.scheduled", scheduled.scheduledAt, scheduled.id],
    ["message.scheduled", scheduledAt, scheduled.id],
  ]);
});

test.each<[object, string[]]>([
  [{ scheduledAt: "tomorrow" }, ["scheduledAt"]],
  [{ scheduledAt: "2026-12-01T09:00:00" }, ["scheduledAt"]],
  [{ scheduledAt: 5, expiresAt: true }, ["scheduledAt", "expiresAt"]],
])("a move is refused with %j", async (body, paths) => {
  const { schedule, patch } = await scheduledPlace();
  const { id } = await schedule(MINUTE);
  expectFaults(await patch(id, body), ...paths);
});

test("a move is held to the rules of a send, and changes nothing if it breaks them", async () => {
  const { schedule, patch, message } = await scheduledPlace();
  const scheduled = await schedule(MINUTE, { expiresAt: inFuture(DAY) });
  const faultsOf = async (body: object) => (await patch(scheduled.id, body)).body.errors;
  expect(await faultsOf({ scheduledAt: inFuture(367 * DAY), expiresAt: null })).toEqual([
    { path: "scheduledAt", message: "must be at most 366 days ahead" },
  ]);
  expect(await faultsOf({ scheduledAt: inFuture(2 * DAY) })).toEqual([
    { path: "scheduledAt", message: "must be earlier than expiresAt" },
  ]);
  expect(await faultsOf({ expiresAt: inFuture(MINUTE) })).toEqual([
    { path: "expiresAt", message: "must be later than scheduledAt" },
  ]);
  expect(await faultsOf({ expiresAt: inFuture(-1) })).toEqual([
    { path: "expiresAt", message: "must be in the future" },
  ]);
  expect(await faultsOf({ scheduledAt: null, expiresAt: inFuture(0) })).toEqual([
    { path: "expiresAt", message: "must be in the future" },
  ]);
  expect(await message(scheduled.id)).toEqual(scheduled);
});

test("a move to a wrong time is a 400, whatever became of the message", async () => {
  const { patch, api, chatId } = await scheduledPlace();
  const sent = await send(api, chatId);
  for (const id of [sent.id, "msg_gaaaaaaaaaaaaaaa"]) {
    expectFaults(await patch(id, { scheduledAt: inFuture(367 * DAY) }), "scheduledAt");
    expectFaults(await patch(id, { expiresAt: inFuture(-1) }), "expiresAt");
    expectFaults(await patch(id, { scheduledAt: inFuture(DAY), expiresAt: inFuture(DAY) }), "expiresAt");
  }
});

test("only scheduled messages can be moved", async () => {
  const { schedule, patch, redact, api, chatId } = await scheduledPlace();
  const sent = await send(api, chatId);
  const { id } = await schedule(MINUTE);
  await redact(id);
  for (const each of [sent.id, id]) expectError(await patch(each, { scheduledAt: null }), 409, "not_scheduled");
  for (const each of ["msg_gaaaaaaaaaaaaaaa", "msg_gaaaaaaaaaaaaaaa9", "x"]) {
    expectError(await patch(each, { scheduledAt: null }), 404, "message_not_found");
  }
});

test("a message stays scheduled if a full chat can't send it now", async () => {
  const { schedule, patch, message, object, evict } = await scheduledPlace();
  const scheduled = await schedule(MINUTE);
  await evict();
  await runInDurableObject(object(), (_object, { storage }) => {
    Object.defineProperty(storage.sql, "databaseSize", { value: 9_900_000_000 });
  });
  expectError(await patch(scheduled.id, { scheduledAt: null }), 409, "chat_full");
  expect(await message(scheduled.id)).toEqual(scheduled);
  expect((await patch(scheduled.id, { scheduledAt: inFuture(DAY) })).status).toBe(200);
});

test("a repeated call gets the message that the first call moved, although its time has come since", async () => {
  const { schedule, object, organizationId, ringIn, message } = await scheduledPlace();
  const { id } = await schedule(DAY);
  const change = { scheduledAt: Date.now() + MINUTE, expiresAt: Date.now() + DAY };
  const move = (change: MoveBody) => object().move(asOwner(organizationId, null, true), id, change);
  expect(await move(change)).toMatchObject({ outcome: "ok" });
  await ringIn(MINUTE);
  expect(await move(change)).toEqual({ outcome: "ok", doc: JSON.stringify(await message(id)) });
  for (const other of [{ scheduledAt: null }, { scheduledAt: Date.now() - 1 }, { expiresAt: null }]) {
    expect(await move(other)).toEqual({ outcome: "not_scheduled" });
  }
});

test("a repeated call that sends a message now gets the message that the first call sent", async () => {
  const { schedule, object, organizationId, messages } = await scheduledPlace();
  const { id } = await schedule(DAY);
  const first = await object().move(asOwner(organizationId), id, { scheduledAt: null });
  expect(await object().move(asOwner(organizationId, null, true), id, { scheduledAt: null })).toEqual(first);
  expect(await object().move(asOwner(organizationId), id, { scheduledAt: null })).toEqual({ outcome: "not_scheduled" });
  expect(await messages()).toHaveLength(1);
});
