import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { asOwner } from "../../../../support/as-owner.ts";
import { draft } from "../../../../support/drafts.ts";
import { admin, client, created, expectError, expectFaults, newKey, send } from "../../../../support/harness.ts";
import { alarmOf, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY, inFuture, MINUTE, scheduledPlace } from "./fixtures.ts";

stopTheClock();

test("a message for later is SCHEDULED, and has no place in the chat", async () => {
  const { post, read, messages, api, chatId } = await scheduledPlace();
  const scheduledAt = inFuture(MINUTE);
  const expiresAt = inFuture(2 * MINUTE);
  const now = new Date().toISOString();
  const { message } = created(await post({ scheduledAt, expiresAt, metadata: { order: "7" } }));
  expect(message).toMatchObject({ seq: null, direction: "OUTBOUND", status: "SCHEDULED", text: "Later", error: null });
  expect(message).toMatchObject({ scheduledAt, expiresAt, createdAt: now, updatedAt: now, metadata: { order: "7" } });
  expect((await read(message.id)).body.message).toEqual(message);
  expect(await messages()).toEqual([]);
  expect((await send(api, chatId)).seq).toBe(1);
  expect((await api("GET", `/chats/${chatId}/messages`)).body.pagination.total).toBe(1);
});

test("a scheduled message is there after an eviction", async () => {
  const { schedule, message, waiting, evict } = await scheduledPlace();
  const scheduled = await schedule(MINUTE);
  await evict();
  expect(await message(scheduled.id)).toEqual(scheduled);
  await evict();
  expect(await waiting()).toEqual([scheduled]);
});

test("scheduled messages are listed soonest first, and those of the same time as they were accepted", async () => {
  const { schedule, list } = await scheduledPlace();
  const third = await schedule(3 * MINUTE, { content: "third" });
  const first = await schedule(MINUTE, { content: "first" });
  const fourth = await schedule(3 * MINUTE, { content: "fourth" });
  const second = await schedule(2 * MINUTE, { content: "second" });
  expect((await list()).body).toEqual({
    messages: [first, second, third, fourth],
    pagination: { limit: 20, hasMore: false, cursor: null },
  });
});

test("the list of scheduled messages continues after a cursor, even if its message is gone", async () => {
  const { schedule, list, redact, evict } = await scheduledPlace();
  const all = [];
  for (let n = 0; n < 5; n++) all.push(await schedule(MINUTE));
  const one = (await list("?limit=2")).body;
  expect(one.messages).toEqual(all.slice(0, 2));
  expect(one.pagination).toEqual({ limit: 2, hasMore: true, cursor: expect.any(String) });
  await redact(all[1]?.id ?? "");
  await evict();
  const two = (await list(`?limit=2&after=${one.pagination.cursor}`)).body;
  expect(two.messages).toEqual(all.slice(2, 4));
  const three = (await list(`?limit=2&after=${two.pagination.cursor}`)).body;
  expect(three.messages).toEqual(all.slice(4));
  expect(three.pagination).toEqual({ limit: 2, hasMore: false, cursor: null });
});

test("a cursor of another chat's list is a 400", async () => {
  const [ours, theirs] = [await scheduledPlace(), await scheduledPlace()];
  for (const { schedule } of [ours, theirs]) for (let n = 0; n < 3; n++) await schedule(MINUTE);
  const { cursor } = (await theirs.list("?limit=2")).body.pagination;
  expectFaults(await ours.list(`?after=${cursor}`), "after");
  expect((await theirs.list(`?after=${cursor}`)).body.messages).toHaveLength(1);
});

test("a cursor of a message that is gone skips no message that was scheduled since", async () => {
  const { schedule, list, redact } = await scheduledPlace();
  const [, second, third] = [await schedule(MINUTE), await schedule(MINUTE), await schedule(MINUTE)];
  const { cursor } = (await list("?limit=2")).body.pagination;
  for (const { id } of [second, third]) await redact(id);
  const added = await schedule(MINUTE);
  expect((await list(`?after=${cursor}`)).body.messages).toEqual([added]);
});

test.each([["after=x"], ["after=0_1"], ["after=msg_gaaaaaaaaaaaaaaa"], ["after=1_"], ["after="]])(
  "a list of scheduled messages with %s is a 400",
  async (query) => {
    const { list } = await scheduledPlace();
    expectFaults(await list(`?${query}`), "after");
  },
);

test.each(["page=1", "before=1_1"])("a list of scheduled messages has no %s", async (query) => {
  const { list } = await scheduledPlace();
  expectFaults(await list(`?${query}`), query.split("=")[0] ?? "");
});

test("a used key returns the scheduled message, and another body or another time is a 422", async () => {
  const { post, waiting, evict } = await scheduledPlace();
  const headers = { "Idempotency-Key": "one" };
  const body = { scheduledAt: inFuture(MINUTE) };
  const first = await post(body, headers);
  await evict();
  const second = await post(body, headers);
  expect([second.status, second.text, second.headers.get("Idempotent-Replayed")]).toEqual([201, first.text, "true"]);
  expectError(await post({ scheduledAt: inFuture(2 * MINUTE) }, headers), 422, "idempotency_mismatch");
  expectError(await post({}, headers), 422, "idempotency_mismatch");
  expect(await waiting()).toHaveLength(1);
});

test("twenty concurrent sends with one key schedule one message", async () => {
  const { post, waiting } = await scheduledPlace();
  const body = { scheduledAt: inFuture(MINUTE) };
  const all = await Promise.all(Array.from({ length: 20 }, () => post(body, { "Idempotency-Key": "one" })));
  expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(await waiting()).toHaveLength(1);
});

test("a repeated call schedules a message once, before and after it took its place", async () => {
  const { organizationId, object, evict, ringIn, messages, waiting } = await scheduledPlace();
  const repeated = draft("Once", { scheduledAt: Date.now() + MINUTE });
  const post = (isRepeat: boolean) => object().send(asOwner(organizationId, null, isRepeat), [repeated]);
  await waiting();
  const first = await post(false);
  expect(first).toMatchObject([{ outcome: "stored", replayed: false }]);
  expect(await post(false)).toEqual(first);
  await evict();
  expect(await post(true)).toEqual(first);
  expect(await waiting()).toHaveLength(1);
  await ringIn(MINUTE);
  await evict();
  expect(await post(true)).toMatchObject([{ outcome: "stored", replayed: false }]);
  expect(await messages()).toHaveLength(1);
});

test("the thousandth message is scheduled, and the next one is a 409", async () => {
  const { object, schedule, post, ringIn, list, evict } = await scheduledPlace();
  const { id } = await schedule(MINUTE);
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec(
      `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 999)
       insert into scheduled (id, doc, due_at, turn)
       select id || n, json_set(doc, '$.id', id || n), due_at + 100000000, n from numbers, scheduled where id = ?`,
      id,
    );
  });
  await evict();
  expect((await post({ scheduledAt: inFuture(MINUTE) })).status).toBe(201);
  const text = "The chat already has 1,000 scheduled messages";
  expectError(await post({ scheduledAt: inFuture(MINUTE) }), 409, "schedule_full", text);
  expect((await post()).status).toBe(201);
  expect((await list("?limit=100")).body.messages).toHaveLength(100);
  await ringIn(MINUTE);
  expect((await post({ scheduledAt: inFuture(MINUTE) })).status).toBe(201);
});

test("ifSeq counts when a message is scheduled, and not when it is due", async () => {
  const { post, api, chatId, ringIn, messages } = await scheduledPlace();
  const scheduledAt = inFuture(MINUTE);
  expectError(await post({ scheduledAt, ifSeq: 1 }), 409, "chat_moved_on");
  expect((await post({ scheduledAt, ifSeq: 0 })).status).toBe(201);
  await send(api, chatId);
  await ringIn(MINUTE);
  expect((await messages()).map(({ text }) => text)).toEqual(["Hello", "Later"]);
});

test("the request counts when a message is scheduled, and a key that is revoked since undoes nothing", async () => {
  const { organizationId, chatId, ringIn, message } = await scheduledPlace();
  const { key, secret } = await newKey(organizationId);
  const used = async () => (await admin("GET", `/keys/${key.id}/usage`)).body.usage.used;
  const body = { content: "Later", scheduledAt: inFuture(MINUTE) };
  const { id } = created(await client(secret)("POST", `/chats/${chatId}/messages`, body)).message;
  expect(await used()).toBe(1);
  expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
  await ringIn(MINUTE);
  expect(await message(id)).toMatchObject({ seq: 1, status: "SENT" });
  expect(await used()).toBe(1);
});

test("a scheduled message is an event, with the message as it is now", async () => {
  const { schedule, events, message, ringIn } = await scheduledPlace();
  const scheduled = await schedule(MINUTE);
  const [, event] = await events();
  expect(event).toMatchObject({ type: "message.scheduled", number: 2 });
  const { id: messageId, scheduledAt } = scheduled;
  expect(event?.data).toEqual({ messageId, scheduledAt, message: scheduled });
  await ringIn(MINUTE);
  const [, later] = await events();
  expect(later?.data).toEqual({ messageId, scheduledAt, message: await message(messageId) });
});

test("a message that is scheduled in a moment gets its own alarm", async () => {
  const { schedule, object } = await scheduledPlace();
  await schedule(500);
  expect(await alarmOf(object())).toBe(Date.now() + 500);
});

test("the alarm of a message that is due much later is set when the chat has reported", async () => {
  const { schedule, object, ringIn } = await scheduledPlace();
  const { scheduledAt } = await schedule(300 * DAY);
  await ringIn(MINUTE);
  expect(await alarmOf(object())).toBe(Date.parse(scheduledAt ?? ""));
  pass(DAY);
  await schedule(DAY);
  await ringIn(MINUTE);
  expect(await alarmOf(object())).toBe(Date.now() + DAY - MINUTE);
});

test("a scheduled message has no media and is not a cursor", async () => {
  const { schedule, api, chatId } = await scheduledPlace();
  const { id } = await schedule(MINUTE);
  expectError(await api("GET", `/chats/${chatId}/messages/${id}/media`), 404, "media_not_found");
  expectFaults(await api("GET", `/chats/${chatId}/messages?after=${id}`), "after");
});
