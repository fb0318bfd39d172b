import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { randomBase62 } from "../../../../../src/model/id.ts";
import { created, expectError, expectFaults } from "../../../../support/harness.ts";
import { alarmOf, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY, inFuture } from "../scheduled/fixtures.ts";
import { pageOf, type RetainedPlace, retainedPlace } from "./fixtures.ts";

stopTheClock();

/** A chat with the messages 1 to 5, which are deleted, and 6 to 12, which are left. */
async function floored(also?: (place: RetainedPlace) => Promise<unknown>) {
  const place = await retainedPlace();
  const old = await place.sendSome("one", "two", "three", "four", "five");
  await also?.(place);
  await place.passDays(20);
  const left = await place.sendSome("six", "seven", "eight", "nine", "ten", "eleven", "twelve");
  await place.passDays(12);
  return { ...place, old, left };
}

test("old messages are deleted, young ones stay, and the seq goes on", async () => {
  const place = await floored();
  expect((await place.messages()).map(({ seq, content }) => `${seq} ${content}`)).toEqual([
    "6 six",
    "7 seven",
    "8 eight",
    "9 nine",
    "10 ten",
    "11 eleven",
    "12 twelve",
  ]);
  await evictDurableObject(place.object());
  const [next] = await place.sendSome("thirteen");
  expect(next?.seq).toBe(13);
});

test("pages over a floor are full at any depth, and the total counts what is left", async () => {
  const { get } = await floored();
  const numbers = { limit: 3, total: 7, totalPages: 3 };
  expect(pageOf(await get("?limit=3"))).toEqual({ seqs: [12, 11, 10], page: 1, hasMore: true, ...numbers });
  expect(pageOf(await get("?limit=3&page=2"))).toEqual({ seqs: [9, 8, 7], page: 2, hasMore: true, ...numbers });
  expect(pageOf(await get("?limit=3&page=3"))).toEqual({ seqs: [6], page: 3, hasMore: false, ...numbers });
  expect(pageOf(await get("?limit=3&page=4"))).toEqual({ seqs: [], page: 4, hasMore: false, ...numbers });
});

test("the id of a deleted message stays a valid cursor, and other ids don't become one", async () => {
  const { get, old, left } = await floored();
  for (const { id } of old) {
    expect(pageOf(await get(`?limit=3&after=${id}`))).toEqual({ seqs: [8, 7, 6], limit: 3, total: 7, hasMore: true });
    expect(pageOf(await get(`?limit=3&before=${id}`))).toEqual({ seqs: [], limit: 3, total: 7, hasMore: false });
    expect((await get(`?limit=3&before=${id}&direction=OUTBOUND`)).body).toEqual({
      messages: [],
      pagination: { limit: 3, hasMore: false, cursor: null },
    });
  }
  const [first] = left;
  expect(pageOf(await get(`?before=${first?.id}`)).hasMore).toBe(false);
  expect(pageOf(await get(`?limit=2&before=${left[2]?.id}`))).toMatchObject({ seqs: [7, 6], hasMore: false });
  // The seq 7 exists, with another id.
  const wrong = first?.id.replace(/6$/, "7");
  for (const id of [wrong, "msg_1", "anything"]) {
    expectFaults(await get(`?after=${id}`), "after");
    expectFaults(await get(`?before=${id}`), "before");
  }
});

test("in a chat that deleted nothing, no id of a message that is not there is a cursor", async () => {
  const { get, sendSome } = await retainedPlace();
  const [message] = await sendSome("one", "two");
  const tail = randomBase62(15);
  for (const id of [`msg_g${tail}`, `msg_g${tail}1`, message?.id.replace(/1$/, "9")]) {
    expectFaults(await get(`?after=${id}`), "after");
  }
});

test("the id of a deleted message that was scheduled stays a valid cursor", async () => {
  const place = await retainedPlace();
  const { id } = await place.schedule(DAY);
  await place.passDays(2);
  await place.passDays(20);
  await place.sendSome("young");
  await place.passDays(12);
  expectError(await place.read(id), 404, "message_not_found");
  expect(pageOf(await place.get(`?after=${id}`)).seqs).toEqual([2]);
  expect(pageOf(await place.get(`?before=${id}`)).seqs).toEqual([]);
});

test("a deletion changes the ETag of a page, once", async () => {
  const place = await retainedPlace();
  await place.sendSome("one");
  const before = (await place.get()).headers.get("ETag") ?? "";
  expect((await place.get("", { "If-None-Match": before })).status).toBe(304);
  await place.passDays(32);
  const after = await place.get("", { "If-None-Match": before });
  expect([after.status, after.body?.messages]).toEqual([404, undefined]);
});

test("a page of a chat that deleted something has another ETag, and then the same again", async () => {
  const place = await floored();
  const tag = (await place.get()).headers.get("ETag") ?? "";
  expect((await place.get("", { "If-None-Match": tag })).status).toBe(304);
  await place.sendSome("young");
  await place.passDays(20);
  const changed = await place.get("", { "If-None-Match": tag });
  expect(pageOf(changed)).toMatchObject({ seqs: [13], total: 1 });
  const next = changed.headers.get("ETag") ?? "";
  expect((await place.get("", { "If-None-Match": next })).status).toBe(304);
});

test("a deleted message is not found by its id, its actions, filters or a search", async () => {
  const place = await floored();
  const { api, chatId, old, get } = place;
  const path = `/chats/${chatId}/messages/${old[1]?.id}`;
  expectError(await api("GET", path), 404, "message_not_found");
  expectError(await api("GET", `${path}/attempts`), 404, "message_not_found");
  expectError(await api("GET", `${path}/media`), 404, "message_not_found");
  expectError(await api("POST", `${path}/cancel`), 404, "message_not_found");
  expectError(await api("POST", `${path}/resend`, {}), 404, "message_not_found");
  expectError(await api("PATCH", path, { expiresAt: null }), 404, "message_not_found");
  expectError(await place.redact(old[1]?.id ?? ""), 404, "message_not_found");
  expect((await get("?search=two")).body.messages).toEqual([]);
  expect((await get("?search=seven")).body.messages).toHaveLength(1);
  expect((await get("?direction=OUTBOUND&limit=100")).body.messages).toHaveLength(7);
});

test("an idempotency key ends with its message", async () => {
  const key = { "Idempotency-Key": "once" };
  const place = await floored(async ({ post }) => created(await post({ content: "keyed" }, key)));
  const again = await place.post({ content: "other" }, key);
  expect(created(again).message).toMatchObject({ content: "other", seq: 14 });
  expect(again.headers.get("Idempotent-Replayed")).toBeNull();
});

test("ifSeq compares with the newest message, and 0 is right if all were deleted", async () => {
  const place = await retainedPlace();
  await place.sendSome("one", "two");
  await place.schedule(60 * DAY);
  await place.passDays(32);
  expect(pageOf(await place.get())).toMatchObject({ seqs: [], total: 0, totalPages: 0 });
  expectError(await place.post({ ifSeq: 1 }), 409, "chat_moved_on");
  expect(created(await place.post({ ifSeq: 0 })).message.seq).toBe(3);
  expectError(await place.post({ ifSeq: 0 }), 409, "chat_moved_on");
  expect(created(await place.post({ ifSeq: 3 })).message.seq).toBe(4);
});

test("a chat whose messages are all deleted has no last message and waits for no answer", async () => {
  const place = await retainedPlace();
  await place.schedule(60 * DAY);
  await place.write("a question");
  await place.settle();
  pass(60_000);
  await place.settle();
  expect(await place.chat()).toMatchObject({ lastMessage: { text: "a question" } });
  expect((await place.chat()).unansweredSince).not.toBeNull();
  await place.passDays(32);
  expect(await place.chat()).toMatchObject({ lastMessage: null, lastMessageAt: null, unansweredSince: null });
  expect((await place.api("GET", "/chats?unanswered=true")).body.chats).toEqual([]);
  await place.write("again");
  pass(60_000);
  await place.settle();
  expect(await place.chat()).toMatchObject({ lastMessage: { text: "again", seq: 2 } });
});

test("a chat that waits for an answer waits on after some of the questions were deleted", async () => {
  const place = await retainedPlace();
  const { createdAt } = await place.write("first");
  await place.passDays(20);
  await place.write("second");
  await place.passDays(12);
  expect((await place.messages()).map(({ content }) => content)).toEqual(["second"]);
  expect((await place.chat()).unansweredSince).toBe(createdAt);
});

test("the events of deleted messages stay, without the messages", async () => {
  const place = await floored();
  const events = await place.events();
  const made = events.filter(({ type }) => type === "message.created");
  expect(made.map(({ data }) => [data.seq, data.message?.content ?? null])).toEqual([
    [1, null],
    [2, null],
    [3, null],
    [4, null],
    [5, null],
    [6, "six"],
    [7, "seven"],
    [8, "eight"],
    [9, "nine"],
    [10, "ten"],
    [11, "eleven"],
    [12, "twelve"],
  ]);
  expect(made[0]?.data.messageId).toBeNull();
});

test("a message that never had a place is kept as long as those that had one", async () => {
  const place = await retainedPlace("web", 2);
  const { id } = await place.schedule(DAY);
  await place.schedule(300 * DAY);
  created(await place.post({ content: "one" }));
  expect((await place.api("POST", `/chats/${place.chatId}/messages/${id}/cancel`)).body.message.status).toBe(
    "CANCELED",
  );
  await place.passDays(1);
  expect((await place.read(id)).status).toBe(200);
  await place.passDays(2);
  expectError(await place.read(id), 404, "message_not_found");
});

test("messages are deleted within a day after their time, and never before", async () => {
  for (let round = 0; round < 5; round++) {
    const place = await retainedPlace();
    const [message] = await place.sendSome("one");
    await place.post({ scheduledAt: inFuture(300 * DAY) });
    pass(60_000);
    await place.settle();
    const at = (await alarmOf(place.object())) ?? 0;
    const age = at - Date.parse(message?.createdAt ?? "");
    expect(age).toBeGreaterThanOrEqual(30 * DAY);
    expect(age).toBeLessThan(31 * DAY);
  }
});
