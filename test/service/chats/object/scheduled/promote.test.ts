import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ChatParts } from "../../../../../src/chats/object/chat-parts.ts";
import { turnsOf } from "../../../../../src/chats/object/scheduled/turns.ts";
import { newId } from "../../../../../src/model/id.ts";
import type { ShownMessage } from "../../../../../src/model/message.ts";
import { hasDueWork } from "../../../../../src/platform/object/due-work.ts";
import { runAlarm } from "../../../../support/alarms.ts";
import { admin, created, expectError, newOrganization, newTemplate, send } from "../../../../support/harness.ts";
import { fakeNetworks, status } from "../../../../support/networks.ts";
import { visit } from "../../../../support/sockets.ts";
import { until, untilLength } from "../../../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY, inFuture, MINUTE, scheduledPlace } from "./fixtures.ts";

stopTheClock();

test("a due message takes the next seq, keeps its id, and is created when it takes its place", async () => {
  const { schedule, messages, message, api, chatId, ringIn, waiting, evict } = await scheduledPlace();
  const scheduled = await schedule(MINUTE, { metadata: { order: "7" } });
  await send(api, chatId);
  expect(await ringIn(MINUTE)).toBe(true);
  const at = new Date().toISOString();
  const times = { createdAt: at, updatedAt: at, sentAt: at };
  expect(await message(scheduled.id)).toEqual({ ...scheduled, seq: 2, status: "SENT", ...times });
  expect((await messages()).map(({ seq, id }) => [seq, id])).toEqual([
    [1, expect.any(String)],
    [2, scheduled.id],
  ]);
  expect(await waiting()).toEqual([]);
  await evict();
  expect(await message(scheduled.id)).toMatchObject({ seq: 2 });
  expect((await send(api, chatId)).seq).toBe(3);
});

test("a message is not sent before its time, even if the alarm rings early", async () => {
  const { schedule, messages, ringIn, object } = await scheduledPlace();
  await schedule(MINUTE);
  await ringIn(MINUTE - 1);
  expect(await messages()).toEqual([]);
  expect(await alarmOf(object())).toBe(Date.now() + 1);
  await ringIn(1);
  expect(await messages()).toHaveLength(1);
});

test("while a chat waits for its turn, a call sets no alarm in place of the one that rings", async () => {
  const { schedule, messages, object, evict } = await scheduledPlace();
  await schedule(MINUTE);
  pass(MINUTE);
  // Its new instance does not know of the alarm.
  await evict();
  await runInDurableObject(object(), async (chat, { storage }) => {
    const { env: own, parts } = chat as unknown as { env: Env; parts: ChatParts };
    // Another chat has the turn.
    await turnsOf(own).begin();
    // As the platform does before it calls the handler.
    await storage.deleteAlarm();
    const ringing = chat.alarm();
    await until("it rings", () => parts.alarm.isBy(0));
    await parts.alarm.by(Date.now() + MINUTE);
    expect(hasDueWork(parts.scheduled, Date.now())).toBe(true);
    expect(await storage.getAlarm()).toBeNull();
    await ringing;
  });
  expect(await messages()).toHaveLength(1);
});

test("due messages take their places by time, and then in the order in which they were accepted", async () => {
  const { schedule, messages, ringIn, evict } = await scheduledPlace();
  await schedule(3 * MINUTE, { content: "third" });
  await schedule(MINUTE, { content: "first" });
  await schedule(3 * MINUTE, { content: "fourth" });
  await schedule(2 * MINUTE, { content: "second" });
  await schedule(3 * MINUTE + 1, { content: "not yet" });
  await evict();
  await ringIn(3 * MINUTE);
  expect((await messages()).map(({ seq, text }) => [seq, text])).toEqual([
    [1, "first"],
    [2, "second"],
    [3, "third"],
    [4, "fourth"],
  ]);
});

test("a message that was due before a send comes first, even if the alarm is late", async () => {
  const { schedule, messages, api, chatId } = await scheduledPlace();
  await schedule(MINUTE);
  pass(MINUTE);
  expect((await send(api, chatId)).seq).toBe(2);
  expect((await messages()).map(({ text }) => text)).toEqual(["Later", "Hello"]);
});

test("a due message is delivered by its network in the same alarm", async () => {
  const calls = fakeNetworks();
  const { schedule, message, ringIn, address } = await scheduledPlace("telegram");
  const one = await schedule(MINUTE, { content: "One" });
  const two = await schedule(MINUTE, { content: "Two" });
  await ringIn(0);
  expect(calls).toEqual([]);
  await ringIn(MINUTE);
  expect(calls.map(({ to, text }) => [to, text])).toEqual([
    [address, "One"],
    [address, "Two"],
  ]);
  for (const { id } of [one, two]) expect(await message(id)).toMatchObject({ status: "SENT" });
});

test("a due message waits behind those of the queue, and is QUEUED", async () => {
  const calls = fakeNetworks(status(503));
  const { schedule, message, ringIn, api, chatId } = await scheduledPlace("whatsapp");
  await send(api, chatId);
  await untilLength(calls, 1);
  const { id } = await schedule(500);
  await ringIn(500);
  expect(await message(id)).toMatchObject({ seq: 2, status: "QUEUED" });
  expect(calls).toHaveLength(1);
});

test("text, parameters and sender are those of the time when the message was scheduled", async () => {
  const calls = fakeNetworks();
  const { schedule, ringIn, organizationId, ownerId, message } = await scheduledPlace("telegram");
  const templateId = await newTemplate(organizationId, "Hi {{name}}");
  const { id } = await schedule(DAY, { templateId, variables: { name: "Ada" }, senderId: ownerId });
  await admin("POST", `/organizations/${organizationId}/members`, { name: "Grace" });
  expect((await admin("DELETE", `/members/${ownerId}`)).status).toBe(200);
  expect((await admin("DELETE", `/templates/${templateId}`)).status).toBe(200);
  await ringIn(DAY);
  expect(calls.map(({ text }) => text)).toEqual(["Hi Ada"]);
  expect(await message(id)).toMatchObject({ senderId: ownerId, templateId, text: "Hi Ada", status: "SENT" });
});

test("a due message is shown to the visitor at once, and can be acknowledged", async () => {
  const { api, channelId } = await newOrganization();
  const { page } = await visit(channelId);
  await page.write("one", "Hello?");
  const [chat] = (await api("GET", "/chats")).body.chats;
  const path = `/chats/${chat.id}/messages`;
  const { message } = created(await api("POST", path, { content: "Later", scheduledAt: inFuture(MINUTE) }));
  expect(await page.rest()).toEqual([]);
  pass(MINUTE);
  await runAlarm(env.CHATS.getByName(chat.id));
  expect(await page.next()).toMatchObject({ type: "message", message: { id: message.id, seq: 2, status: "SENT" } });
  page.send({ type: "delivered", seq: 2 });
  expect(await page.next()).toEqual({ type: "status", seq: 2, status: "DELIVERED" });
});

test("a message that expired before it was due by the clock is FAILED, has no seq, and is never sent", async () => {
  const calls = fakeNetworks();
  const { schedule, message, messages, ringIn, events } = await scheduledPlace("telegram");
  const { id } = await schedule(MINUTE, { expiresAt: inFuture(2 * MINUTE) });
  await ringIn(2 * MINUTE);
  const failed = await message(id);
  const error = { code: "expired", message: "It expired before it was delivered" };
  expect(failed).toMatchObject({ seq: null, status: "FAILED", error, failedAt: new Date().toISOString() });
  expect([await messages(), calls]).toEqual([[], []]);
  const last = (await events()).at(-1);
  expect(last).toMatchObject({
    type: "message.status",
    data: { messageId: id, seq: null, status: "FAILED", error, message: failed },
  });
});

test("a due message that finds a full chat is FAILED, and keeps its time for 30 days", async () => {
  const { schedule, message, ringIn, object, evict, read, post } = await scheduledPlace();
  const headers = { "Idempotency-Key": "one" };
  const body = { scheduledAt: inFuture(MINUTE) };
  const { message: scheduled } = created(await post(body, headers));
  const later = await schedule(2 * MINUTE);
  await evict();
  await runInDurableObject(object(), (_object, { storage }) => {
    Object.defineProperty(storage.sql, "databaseSize", { value: 9_900_000_000, configurable: true });
  });
  expectError(await post({ scheduledAt: inFuture(MINUTE) }), 409, "chat_full");
  await ringIn(MINUTE);
  const failed = await message(scheduled.id);
  const error = { code: "chat_full", message: expect.stringContaining("The chat's storage is full") };
  expect(failed).toMatchObject({ seq: null, status: "FAILED", scheduledAt: body.scheduledAt, error });
  expect((await post(body, headers)).body.message).toEqual(failed);
  expect(await message(later.id)).toEqual(later);
  await evict();
  await ringIn(30 * DAY - 1);
  expect((await post(body, headers)).body.message).toEqual(failed);
  await ringIn(1);
  expectError(await read(scheduled.id), 404, "message_not_found");
  // Its idempotency key went with it.
  expect((await post({ scheduledAt: inFuture(MINUTE) }, headers)).body.message.id).not.toBe(scheduled.id);
});

test("if the clock is set back, no message is early and no time runs backwards", async () => {
  const { schedule, messages, message, ringIn, api, chatId, evict } = await scheduledPlace();
  const first = await send(api, chatId);
  const { id, scheduledAt } = await schedule(MINUTE);
  await ringIn(-5 * MINUTE);
  expect(await messages()).toHaveLength(1);
  await evict();
  await ringIn(5 * MINUTE);
  expect(await messages()).toHaveLength(1);
  await ringIn(MINUTE);
  expect(await message(id)).toMatchObject({ seq: 2, createdAt: scheduledAt });
  vi.setSystemTime(Date.now() - 60 * MINUTE);
  const late = await schedule(1_000);
  await ringIn(1_000);
  const times = (await messages()).map(({ createdAt }) => createdAt);
  expect(times).toEqual([first.createdAt, scheduledAt, scheduledAt]);
  expect((await message(late.id)).seq).toBe(3);
});

test("an alarm that is lost at any step gives each message one place", async () => {
  const { schedule, messages, ringIn, object, evict } = await scheduledPlace();
  for (let n = 0; n < 20; n++) await schedule(MINUTE, { content: `No. ${n}` });
  for (const step of [3, 7, 12]) {
    await runInDurableObject(object(), (_object, { storage }) => {
      const exec = storage.sql.exec.bind(storage.sql);
      let inserts = 0;
      storage.sql.exec = ((query: string, ...values: never[]) => {
        if (query.includes("insert into messages") && ++inserts === step) throw new Error("SQLITE_IOERR");
        return exec(query, ...values);
      }) as typeof exec;
    });
    vi.spyOn(console, "error").mockImplementation(() => {});
    await ringIn(MINUTE);
    const restsFor = ((await alarmOf(object())) ?? 0) - Date.now();
    expect([restsFor > 0, restsFor <= 30_000]).toEqual([true, true]);
    if (step === 7) await evict();
  }
  await ringIn(30_000);
  expect((await messages()).map(({ seq, text }) => [seq, text])).toEqual(
    Array.from({ length: 20 }, (_, n) => [n + 1, `No. ${n}`]),
  );
});

test("a message that can't be placed holds up the others for some minutes, and is tried again ever later", async () => {
  const { schedule, messages, ringIn, object, evict, post } = await scheduledPlace();
  const bad = await schedule(MINUTE, { content: "bad" });
  await schedule(MINUTE, { content: "after it" });
  const later = await schedule(60 * MINUTE, { content: "later" });
  const logged = vi.spyOn(console, "error").mockReturnValue();
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec("update scheduled set doc = '{' where id = ?", bad.id);
  });
  const texts = async () => (await messages()).map(({ text }) => text);
  await ringIn(2 * MINUTE);
  expect(await texts()).toEqual([]);
  await evict();
  await ringIn(5 * MINUTE);
  expect(await texts()).toEqual(["after it"]);
  expect(logged).toHaveBeenCalledWith(
    expect.objectContaining({ event: "scheduled_not_placed", messageId: bad.id, error: expect.any(String) }),
  );
  // A send finds that nothing is about to come, and the next message is on time.
  expect((await post({ content: "between", ifSeq: 1 })).status).toBe(201);
  logged.mockClear();
  let rang = 0;
  for (let until = Date.now() + 60 * MINUTE; Date.now() < until; rang++) {
    await ringIn(Math.max(0, ((await alarmOf(object())) ?? until) - Date.now()));
  }
  expect(await texts()).toEqual(["after it", "between", "later"]);
  expect((await messages())[2]?.id).toBe(later.id);
  expect(logged.mock.calls.length).toBeGreaterThan(0);
  expect(logged.mock.calls.length).toBeLessThan(12);
  expect(rang).toBeLessThan(20);
});

test("a thousand due messages take their places in one alarm", async () => {
  const { schedule, object, ringIn, api, chatId, evict, waiting } = await scheduledPlace();
  const { id } = await schedule(MINUTE);
  await runInDurableObject(object(), (_object, { storage }) => {
    const ids = JSON.stringify(Array.from({ length: 999 }, () => newId("msg", null)));
    storage.sql.exec(
      `insert into scheduled (id, doc, due_at, turn)
       select value, json_set(doc, '$.id', value), due_at, key + 2 from json_each(?) as ids, scheduled as first
       where first.id = ?`,
      ids,
      id,
    );
  });
  await evict();
  await ringIn(MINUTE);
  expect(await waiting()).toEqual([]);
  const { body } = await api("GET", `/chats/${chatId}/messages?limit=100`);
  expect(body.pagination.total).toBe(1_000);
  expect(new Set(body.messages.map((message: ShownMessage) => message.id)).size).toBe(100);
});

test("a placed message is a cursor of the list, and the network's statuses find it", async () => {
  const { schedule, api, chatId, ringIn } = await scheduledPlace();
  await send(api, chatId);
  const { id } = await schedule(MINUTE);
  await ringIn(MINUTE);
  await send(api, chatId);
  const seqs = async (query: string) =>
    (await api("GET", `/chats/${chatId}/messages?${query}`)).body.messages.map((each: ShownMessage) => each.seq);
  expect([await seqs(`before=${id}`), await seqs(`after=${id}`)]).toEqual([[1], [3]]);
  expectError(await api("GET", `/chats/${chatId}/messages/${id}/media`), 404, "media_not_found");
});

test("a used key returns the placed message, also if it was scheduled under it", async () => {
  const { post, ringIn, evict, messages } = await scheduledPlace();
  const headers = { "Idempotency-Key": "one" };
  const body = { scheduledAt: inFuture(MINUTE) };
  const { message } = created(await post(body, headers));
  await ringIn(MINUTE);
  await evict();
  const again = await post(body, headers);
  expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([201, "true"]);
  expect(again.body.message).toMatchObject({ id: message.id, seq: 1, status: "SENT" });
  expectError(await post({}, headers), 422, "idempotency_mismatch");
  expect(await messages()).toHaveLength(1);
});

test("the events of a placed message are message.scheduled and message.created", async () => {
  const { schedule, ringIn, events, message } = await scheduledPlace();
  const { id } = await schedule(MINUTE);
  await ringIn(MINUTE);
  const placed = await message(id);
  expect((await events()).map(({ type, data }) => [type, data.seq, data.message])).toEqual([
    ["chat.created", undefined, undefined],
    ["message.scheduled", undefined, placed],
    ["message.created", 1, placed],
  ]);
});
