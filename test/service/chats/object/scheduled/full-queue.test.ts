import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { expectError, send } from "../../../../support/harness.ts";
import { fakeNetworks, status } from "../../../../support/networks.ts";
import { untilLength } from "../../../../support/until.ts";
import { alarmOf, stopTheClock } from "../delivery/conversation.ts";
import { DAY, inFuture, MINUTE, scheduledPlace } from "./fixtures.ts";

stopTheClock();

type Place = Awaited<ReturnType<typeof scheduledPlace>>;

/** Fills a chat's queue with copies of its first message, which wait for a long time. */
async function fillQueue({ object, evict }: Place) {
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec(
      "update messages set delivery = json_set(delivery, '$.firstAt', ?, '$.nextAt', ?, '$.startedAt', null)",
      Date.now() + 10 * DAY,
      Date.now() + 10 * DAY,
    );
    storage.sql.exec(
      `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 10000)
       insert into messages (seq, doc, delivery, queued)
       select n, json_set(doc, '$.seq', n, '$.id', 'msg_' || n), delivery, n from numbers, messages where seq = 1`,
    );
  });
  await evict();
}

/** The messages of a full queue were sent, but for the last one. */
async function makeRoom({ object }: Pick<Place, "object">) {
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec("update messages set doc = json_set(doc, '$.status', 'SENT') where seq < 10000");
  });
}

/** A chat whose queue is full, and a message in it that is due in a minute. */
async function fullQueue(body: object = {}) {
  const calls = fakeNetworks(status(503));
  const place = await scheduledPlace("telegram");
  await send(place.api, place.chatId);
  const scheduled = await place.schedule(MINUTE, body);
  await untilLength(calls, 1);
  await fillQueue(place);
  return { ...place, scheduled };
}

async function nextAttemptAt({ api, chatId }: Place, id: string): Promise<string | null> {
  return (await api("GET", `/chats/${chatId}/messages/${id}/attempts`)).body.nextAttemptAt;
}

test("a due message that finds a full queue tries again each minute, and takes its place when there is room", async () => {
  const place = await fullQueue();
  const { scheduled, message, ringIn, object } = place;
  await ringIn(MINUTE);
  expect(await message(scheduled.id)).toEqual(scheduled);
  expect(await alarmOf(object())).toBeLessThanOrEqual(Date.now() + MINUTE);
  expect(await nextAttemptAt(place, scheduled.id)).toBe(inFuture(MINUTE));
  await ringIn(MINUTE);
  expect(await message(scheduled.id)).toEqual(scheduled);
  await makeRoom(place);
  await ringIn(MINUTE);
  expect(await message(scheduled.id)).toMatchObject({ seq: 10_001, status: "QUEUED" });
});

test("a send never takes the room in the queue for which a due message waits", async () => {
  const place = await fullQueue();
  const { api, chatId, post, ringIn, scheduled, message } = place;
  await ringIn(MINUTE);
  expectError(await post(), 409, "chat_backlog");
  expect(await message(scheduled.id)).toEqual(scheduled);
  await makeRoom(place);
  expect((await send(api, chatId)).seq).toBe(10_002);
  expect(await message(scheduled.id)).toMatchObject({ seq: 10_001, status: "QUEUED" });
});

test.each([
  ["canceled", (place: Place, id: string) => place.cancel(id)],
  ["moved", (place: Place, id: string) => place.patch(id, { scheduledAt: inFuture(DAY) })],
])("a message that waited for room and was %s delays no other", async (_name, act) => {
  const place = await fullQueue();
  const other = await place.schedule(MINUTE + 20_000);
  await place.ringIn(MINUTE);
  expect((await act(place, place.scheduled.id)).status).toBe(200);
  expect(await nextAttemptAt(place, other.id)).toBe(other.scheduledAt);
});

test("a message that finds a full queue for a day is FAILED", async () => {
  const { scheduled, message, ringIn } = await fullQueue();
  await ringIn(MINUTE + DAY - 1_000);
  expect(await message(scheduled.id)).toEqual(scheduled);
  await ringIn(MINUTE);
  const error = {
    code: "chat_backlog",
    message: "Too many messages of this chat wait for delivery. Send again when some are delivered",
  };
  expect(await message(scheduled.id)).toMatchObject({ seq: null, status: "FAILED", error });
});

test("a message that waits for room in the queue expires in time", async () => {
  const { scheduled, message, ringIn, object } = await fullQueue({ expiresAt: inFuture(MINUTE + 10_000) });
  await ringIn(MINUTE);
  expect(await message(scheduled.id)).toEqual(scheduled);
  expect(await alarmOf(object())).toBeLessThanOrEqual(Date.now() + 10_000);
  await ringIn(10_000);
  expect(await message(scheduled.id)).toMatchObject({ status: "FAILED", error: { code: "expired" } });
});

test("a message that waits out a full queue is not held up by a clock that is set back", async () => {
  const place = await fullQueue();
  const { api, chatId, ringIn, scheduled, message } = place;
  await ringIn(MINUTE + 1);
  await makeRoom(place);
  vi.setSystemTime(Date.now() - 1);
  await send(api, chatId);
  expect(await message(scheduled.id)).toMatchObject({ seq: 10_001, status: "QUEUED" });
});

test("a message stays scheduled if a full queue has no room to send it now", async () => {
  const { scheduled, patch, message } = await fullQueue();
  for (const scheduledAt of [null, inFuture(-1)]) {
    expectError(await patch(scheduled.id, { scheduledAt }), 409, "chat_backlog");
  }
  expect(await message(scheduled.id)).toEqual(scheduled);
  expect((await patch(scheduled.id, { scheduledAt: inFuture(DAY) })).status).toBe(200);
});
