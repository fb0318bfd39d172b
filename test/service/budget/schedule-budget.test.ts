import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { newChat, newOrganization } from "../../support/harness.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { chatPlace, DAY, inFuture, MINUTE } from "../chats/object/scheduled/fixtures.ts";
import { meter } from "./meter.ts";

stopTheClock();

/** A chat in which nothing is under way, and what its requests cost. */
async function quietPlace() {
  const { api, channelId, keyId, organizationId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const place = chatPlace(api, id);
  await place.post();
  // The first scheduled message creates its table.
  const { id: first } = await place.schedule(DAY);
  await place.patch(first, { scheduledAt: null });
  const others = [env.KEYS.getByName(keyId), env.ORGANIZATIONS.getByName(organizationId)];
  const settle = async () => {
    for (const object of [...others, place.object()]) {
      pass(MINUTE);
      const at = await alarmOf(object);
      if (at !== null && at <= Date.now()) await runAlarm(object);
    }
  };
  await settle();
  await settle();
  return { ...place, settle, meter: await meter([place.object()]) };
}

/** The rows that the chat's object writes in a request, before its alarm. */
async function rowsOf({ meter: { read } }: Awaited<ReturnType<typeof quietPlace>>, ask: () => Promise<unknown>) {
  read();
  await ask();
  return read().rows;
}

const ALARM = 1;

test("a plain send writes a message, its event and the alarm", async () => {
  const place = await quietPlace();
  expect(await rowsOf(place, () => place.post())).toBe(2 + ALARM);
});

test.each([
  ["choices", { interactive: { choices: [{ type: "reply", id: "y", title: "Yes" }] } }],
  ["a location", { location: { latitude: 52.52, longitude: 13.405 } }],
  ["cards", { contacts: [{ name: "Maya", phones: ["+1 555 078 3881"] }] }],
])("a send with %s and a quote writes no more than a plain one", async (_what, said) => {
  const place = await quietPlace();
  const [quoted] = await place.messages();
  expect(await rowsOf(place, () => place.post({ ...said, replyTo: quoted?.id }))).toBe(2 + ALARM);
  expect((await place.messages()).at(-1)).toMatchObject({ ...said, replyTo: quoted?.id });
});

test("a scheduled send writes six rows in all, besides the alarms and the report", async () => {
  const place = await quietPlace();
  const { post, settle, object } = place;
  // The message, and its event.
  expect(await rowsOf(place, () => post({ scheduledAt: inFuture(DAY) }))).toBe(2 + ALARM);
  await settle();
  pass(DAY);
  // The message leaves the schedule: that row, the message with the index of its id, and its event. The other: the
  // alarm for the report.
  expect(await rowsOf(place, () => place.meter.ring(object()))).toBe(4 + ALARM);
  expect((await alarmOf(object())) ?? 0).toBe(Date.now() + 2_000);
  pass(2_000);
  expect(await rowsOf(place, () => place.meter.ring(object()))).toBe(1);
  expect(await alarmOf(object())).toBeNull();
});

test("a move writes the message and its event", async () => {
  const place = await quietPlace();
  const { id } = await place.schedule(DAY);
  await place.settle();
  expect(await rowsOf(place, () => place.patch(id, { scheduledAt: inFuture(2 * DAY) }))).toBe(2 + ALARM);
  await place.settle();
  // The alarm of an earlier call may be lost.
  expect(await rowsOf(place, () => place.patch(id, { expiresAt: null }))).toBe(ALARM);
});

test("a cancellation of a scheduled message writes it among those that ended, and its event", async () => {
  const place = await quietPlace();
  // The first one creates the table.
  await place.cancel((await place.schedule(DAY)).id);
  await place.settle();
  const { id } = await place.schedule(DAY);
  await place.settle();
  // It leaves the schedule: that row, the ended message with the index of its id, and its event.
  expect(await rowsOf(place, () => place.cancel(id))).toBe(4 + ALARM);
  await place.settle();
  // The alarm of an earlier call may be lost.
  expect(await rowsOf(place, () => place.cancel(id))).toBe(ALARM);
});

test("a message that is moved to now costs what it costs when it is due", async () => {
  const place = await quietPlace();
  const { id } = await place.schedule(DAY);
  await place.settle();
  expect(await rowsOf(place, () => place.patch(id, { scheduledAt: null }))).toBe(4 + ALARM);
});

test("of two chats whose messages are due at the same time, the second waits for its turn, and a chat alone does not", async () => {
  const places = [await quietPlace(), await quietPlace()];
  for (const { schedule } of places) await schedule(DAY);
  pass(DAY);
  const waits = vi.spyOn(scheduler, "wait");
  for (const { ringIn } of places) await ringIn(0);
  expect(waits.mock.calls[0]).toEqual([8]);
  waits.mockClear();
  const [first] = places;
  await first?.schedule(DAY);
  await first?.ringIn(DAY);
  expect(waits).not.toHaveBeenCalled();
});
