import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../../../support/alarms.ts";
import { breakObjects } from "../../../../support/faults.ts";
import { admin, expectError, send } from "../../../../support/harness.ts";
import { acceptAs, fakeNetworks, inTurn, lost } from "../../../../support/networks.ts";
import { rowsRead } from "../../../../support/rows-read.ts";
import { heldBy, storedChat } from "../../../../support/stored.ts";
import { meter } from "../../../budget/meter.ts";
import { taken, tellStatus } from "../../../inbound/webhook-calls.ts";
import { addWebhook, fakeReceiver } from "../../../webhooks/receiver.ts";
import { alarmOf, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY } from "../scheduled/fixtures.ts";
import { pageOf, retain, retainedPlace, ringDue, toAlarmOf } from "./fixtures.ts";

stopTheClock();

/** A text that stands nowhere else. */
const canary = "canary-4711-0815";
/** How many messages a step of a deletion reads and deletes. */
const STEP_SIZE = 250;
const seqsIn = (object: DurableObjectStub) =>
  runInDurableObject(object, (_object, { storage }) =>
    storage.sql
      .exec<{ seq: number }>("select seq from messages order by seq")
      .toArray()
      .map(({ seq }) => seq),
  );

test("nothing that is stored has the text of a deleted message", async () => {
  fakeNetworks(acceptAs("wamid.1"));
  const place = await retainedPlace("whatsapp");
  // A receiver quotes what it refuses.
  fakeReceiver(({ text }) => new Response(text, { status: 500 }), fetch);
  await addWebhook(place.organizationId);
  const sent = await send(place.api, place.chatId, { content: canary, metadata: { canary }, variables: { canary } });
  await place.delivered(sent.id);
  await place.settle();
  const image = { content: canary, type: "IMAGE", mediaUrl: `https://example.com/${canary}` };
  await place.delivered((await send(place.api, place.chatId, image)).id);
  const { id } = await place.write(canary);
  await place.redact(sent.id);
  await place.api(
    "POST",
    `/chats/${place.chatId}/messages/${(await place.schedule(DAY, { content: canary })).id}/cancel`,
  );
  pass(60_000);
  await place.settle();
  expect(await place.stored()).toContain(canary);
  await place.schedule(300 * DAY);
  await place.passDays(32);
  pass(60_000);
  await place.settle();
  const stored = await place.stored();
  for (const text of [canary, id, "wamid.1", "redacted 1", "unreported 1"]) expect(stored).not.toContain(text);
  expect(stored).toContain('"floor"');
});

test("the list of chats forgets the text of a deleted last message", async () => {
  const place = await retainedPlace();
  await place.sendSome(canary);
  await place.schedule(300 * DAY);
  pass(60_000);
  await place.settle();
  expect((await storedChat(place.organizationId, place.chatId))?.last_message).toContain(canary);
  await place.passDays(32);
  expect(await storedChat(place.organizationId, place.chatId)).toMatchObject({ last_message: null, state: "adopted" });
});

test("the deletion stops at the first message that waits for its network", async () => {
  fakeNetworks(inTurn(acceptAs("wamid.1"), lost));
  const place = await retainedPlace("whatsapp", 1);
  const [first] = await place.sendSome("delivered");
  await place.delivered(first?.id);
  await place.settle();
  const mend = breakObjects("CHANNELS", "permit");
  await place.sendSome("waits");
  await place.schedule(300 * DAY);
  await place.write("from the contact");
  await place.passDays(1);
  await toAlarmOf(place.object());
  pass(DAY);
  await runAlarm(place.object());
  expect(await seqsIn(place.object())).toEqual([2, 3]);
  mend();
  const { id } = (await place.messages())[0] ?? { id: "" };
  expect((await place.api("POST", `/chats/${place.chatId}/messages/${id}/cancel`)).status).toBe(200);
  pass(DAY);
  await ringDue(place.object());
  expect((await seqsIn(place.object())).length).toBe(0);
});

test("a status of a deleted message is ignored, and so is a webhook that repeats it", async () => {
  fakeNetworks(acceptAs("wamid.1"));
  const place = await retainedPlace("whatsapp");
  const { id } = await send(place.api, place.chatId, { content: "Hello" });
  await place.delivered(id);
  await place.settle();
  await place.schedule(300 * DAY);
  await place.passDays(32);
  const channel = (await admin("GET", `/channels/${place.channelId}`)).body.channel;
  const chat = { ...place, channel };
  const before = await heldBy(place.object());
  taken(await tellStatus(chat, id, "read", { id: "wamid.1" }));
  taken(await tellStatus(chat, id, "failed", { id: "wamid.1", biz_opaque_callback_data: undefined }));
  expect((await heldBy(place.object())).values).toEqual(before.values);
  expect(pageOf(await place.get()).total).toBe(0);
});

test("a chat asks whether the retention still holds, and deletes nothing while nobody answers", async () => {
  const place = await retainedPlace();
  await place.sendSome("one");
  await place.settle();
  pass(60_000);
  await place.settle();
  pass(40 * DAY);
  const mend = breakObjects("ORGANIZATIONS", "report");
  await runAlarm(place.object());
  expect(pageOf(await place.get()).total).toBe(1);
  mend();
  expect((await alarmOf(place.object())) ?? 0).toBeLessThanOrEqual(Date.now() + 600_000);
  await toAlarmOf(place.object());
  await place.settle();
  await toAlarmOf(place.object());
  await place.settle();
  expectError(await place.get(), 404, "chat_not_found");
});

test("a retention that was removed or made longer deletes nothing, even if no chat was told", async () => {
  const place = await retainedPlace();
  await place.sendSome("one");
  pass(60_000);
  await place.settle();
  const chat = place.object();
  const mend = breakObjects("CHATS", "retain");
  for (const days of [90, null]) {
    await retain(place.channelId, days);
    pass(1_000);
    expect(await runAlarm(place.organization())).toBe(true);
    pass(32 * DAY);
    expect(await runAlarm(chat)).toBe(true);
    expect(pageOf(await place.get()).total).toBe(1);
  }
  mend();
  pass(32 * DAY);
  await ringDue(place.object());
  expect(pageOf(await place.get()).total).toBe(1);
  expect(await alarmOf(place.object())).toBeNull();
});

test("a retention that was made longer keeps the messages that never had a place, even if no chat was told", async () => {
  const place = await retainedPlace("web", 2);
  const { id } = await place.schedule(DAY);
  await place.api("POST", `/chats/${place.chatId}/messages/${id}/cancel`);
  await place.settle();
  const chat = place.object();
  const mend = breakObjects("CHATS", "retain");
  await retain(place.channelId, 20);
  pass(10 * DAY);
  await ringDue(chat);
  expect((await place.read(id)).status).toBe(200);
  mend();
  await place.passDays(11);
  expectError(await place.read(id), 404, "chat_not_found");
});

test("2,000 messages go in eight steps that each read only their own, and between them a send gets through", async () => {
  const place = await retainedPlace();
  const [first] = await place.sendSome("one");
  await place.settle();
  await runInDurableObject(place.object(), (_object, { storage }) => {
    storage.sql.exec(
      `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 2000)
       insert into messages (seq, doc) select n, json_set(?, '$.seq', n) from numbers`,
      JSON.stringify(first),
    );
  });
  await evictDurableObject(place.object());
  pass(40 * DAY);
  const steps: number[] = [];
  const wait = scheduler.wait.bind(scheduler);
  const waits = vi.spyOn(scheduler, "wait").mockImplementation(async (ms, ...more) => {
    if (ms !== 0) return wait(ms, ...more);
    steps.push((await place.messages()).length);
    if (steps.length === 2) await place.sendSome("amid the deletion");
  });
  const rows = await rowsRead(place.object(), () => runAlarm(place.object()));
  waits.mockRestore();
  expect(steps).toHaveLength(8);
  // No statement reads further than the message after the step: with a million messages, a send would wait for it.
  expect(Math.max(...rows)).toBeLessThanOrEqual(STEP_SIZE + 1);
  expect(pageOf(await place.get())).toMatchObject({ seqs: [2_001], total: 1 });
});

test("600 messages without a place go in three steps", async () => {
  const place = await retainedPlace("web", 2);
  const { id } = await place.schedule(DAY);
  await place.api("POST", `/chats/${place.chatId}/messages/${id}/cancel`);
  await place.settle();
  await runInDurableObject(place.object(), (_object, { storage }) => {
    storage.sql.exec(
      `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 600)
       insert into unplaced (id, doc, ended_at) select 'msg_' || numbers.n, doc, ended_at from numbers, unplaced`,
    );
  });
  await evictDurableObject(place.object());
  pass(4 * DAY);
  await place.sendSome("young");
  const left: number[] = [];
  const wait = scheduler.wait.bind(scheduler);
  const waits = vi.spyOn(scheduler, "wait").mockImplementation(async (ms, ...more) => {
    if (ms !== 0) return wait(ms, ...more);
    left.push(
      await runInDurableObject(
        place.object(),
        (_object, { storage }) =>
          storage.sql.exec<{ count: number }>("select count(*) as count from unplaced").one().count,
      ),
    );
  });
  await toAlarmOf(place.object());
  await ringDue(place.object());
  waits.mockRestore();
  expect(left).toEqual([350, 100, 0]);
});

test("a deletion writes a row for each message, and a few besides", async () => {
  const costs: number[] = [];
  for (const count of [10, 110]) {
    const place = await retainedPlace();
    await place.schedule(300 * DAY);
    await place.sendSome(...Array.from({ length: count }, (_, n) => `Message ${n}`));
    pass(60_000);
    await place.settle();
    const counted = await meter([place.object()]);
    pass(40 * DAY);
    counted.read();
    await counted.ring(place.object());
    costs.push(counted.read().rows);
    expect(await seqsIn(place.object())).toEqual([]);
    vi.restoreAllMocks();
  }
  const [few = 0, many = 0] = costs;
  expect(many - few).toBe(100);
  // The floor, the report, and the alarm before and after.
  expect(few - 10).toBeLessThanOrEqual(5);
});

test("a deletion that was interrupted goes on with the next instance", async () => {
  const place = await retainedPlace();
  await place.sendSome("one", "two");
  await place.schedule(300 * DAY);
  pass(60_000);
  await place.settle();
  pass(40 * DAY);
  // The messages are deleted, and the list is not told.
  const mend = breakObjects("ORGANIZATIONS", "report", (call) => call > 1);
  await runAlarm(place.object());
  mend();
  expect(await seqsIn(place.object())).toEqual([]);
  expect((await storedChat(place.organizationId, place.chatId))?.last_message).not.toBeNull();
  await evictDurableObject(place.object());
  await toAlarmOf(place.object());
  await place.settle();
  expect((await storedChat(place.organizationId, place.chatId))?.last_message).toBeNull();
});

test("a chat of a channel without a retention writes and reads nothing for it", async () => {
  const place = await retainedPlace("web", null);
  await place.sendSome("one");
  pass(60_000);
  await place.settle();
  expect(await alarmOf(place.object())).toBeNull();
  expect(JSON.stringify(await heldBy(place.object()))).not.toContain("retention");
  await evictDurableObject(env.CHATS.getByName(place.chatId));
  pass(4_000 * DAY);
  expect(pageOf(await place.get()).total).toBe(1);
});
