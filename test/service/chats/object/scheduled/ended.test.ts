import { expect, test } from "vitest";
import { asOwner } from "../../../../support/as-owner.ts";
import { admin, created, expectError, newChat } from "../../../../support/harness.ts";
import { fakeNetworks } from "../../../../support/networks.ts";
import { storedBy } from "../../../../support/stored.ts";
import { alarmOf, stopTheClock } from "../delivery/conversation.ts";
import { chatPlace, DAY, inFuture, MINUTE, scheduledPlace } from "./fixtures.ts";

stopTheClock();

const SECRET = "my-secret-plan";
const REVEALING = { content: SECRET, metadata: { note: SECRET }, mediaUrl: `https://files.test/${SECRET}` };

test("redacting a scheduled message cancels it, and no copy of its text stays", async () => {
  const { schedule, redact, message, messages, waiting, object, ringIn } = await scheduledPlace();
  const scheduled = await schedule(MINUTE, REVEALING);
  const { status, body } = await redact(scheduled.id);
  const blank = { content: "", text: "", variables: null, mediaUrl: null, metadata: {} };
  expect([status, body.message]).toEqual([
    200,
    { ...scheduled, ...blank, status: "CANCELED", redactedAt: expect.any(String) },
  ]);
  expect(await message(scheduled.id)).toEqual(body.message);
  expect(await waiting()).toEqual([]);
  expect(await storedBy(object())).not.toContain(SECRET);
  await ringIn(MINUTE);
  expect(await messages()).toEqual([]);
});

test("a redaction of a scheduled message is two events, in which no text is left", async () => {
  const { schedule, redact, events, message } = await scheduledPlace();
  const { id } = await schedule(MINUTE, REVEALING);
  await redact(id);
  const [, scheduled, canceled, redacted] = await events();
  const shown = await message(id);
  expect(scheduled?.data.message).toEqual(shown);
  expect(canceled).toMatchObject({ type: "message.status" });
  expect(canceled?.data).toEqual({ messageId: id, seq: null, status: "CANCELED", error: null, message: shown });
  expect(redacted).toMatchObject({ type: "message.redacted" });
  expect(redacted?.data).toEqual({ messageId: id, seq: null, message: shown });
});

test("a second redaction is a 404, and a repeated call of the first one gets its answer", async () => {
  const { schedule, redact, object, organizationId, evict } = await scheduledPlace();
  const { id } = await schedule(MINUTE);
  const first = await object().redact(asOwner(organizationId), id, "one");
  expect(first).toMatchObject({ outcome: "ok" });
  await evict();
  expect(await object().redact(asOwner(organizationId), id, "one")).toEqual(first);
  expectError(await redact(id), 404, "message_not_found");
});

test("a used key returns the redacted message whatever the body", async () => {
  const { post, redact, evict } = await scheduledPlace();
  const headers = { "Idempotency-Key": "one" };
  const { message } = created(await post({ scheduledAt: inFuture(MINUTE) }, headers));
  const { body } = await redact(message.id);
  await evict();
  for (const other of [{}, { content: "Other", scheduledAt: inFuture(DAY) }]) {
    const again = await post(other, headers);
    expect([again.status, again.body.message]).toEqual([201, body.message]);
  }
});

test("a used key returns the canceled message", async () => {
  const { post, cancel, evict, waiting } = await scheduledPlace();
  const headers = { "Idempotency-Key": "one" };
  const body = { scheduledAt: inFuture(MINUTE) };
  const { message } = created(await post(body, headers));
  const canceled = await cancel(message.id);
  await evict();
  const again = await post(body, headers);
  expect([again.status, again.body, again.headers.get("Idempotent-Replayed")]).toEqual([201, canceled.body, "true"]);
  expectError(await post({}, headers), 422, "idempotency_mismatch");
  expect(await waiting()).toEqual([]);
});

test("a message that failed without a place can be redacted, and keeps the code of its error", async () => {
  const { schedule, redact, message, object, ringIn } = await scheduledPlace();
  const { id } = await schedule(MINUTE, { ...REVEALING, expiresAt: inFuture(2 * MINUTE) });
  await ringIn(2 * MINUTE);
  expect((await redact(id)).status).toBe(200);
  const error = { code: "expired", message: "The message was redacted" };
  expect(await message(id)).toMatchObject({ status: "FAILED", error, text: "", metadata: {} });
  expect(await storedBy(object())).not.toContain(SECRET);
  expectError(await redact(id), 404, "message_not_found");
});

test("a placed message is redacted like any other", async () => {
  const { schedule, redact, message, object, ringIn } = await scheduledPlace();
  const { id } = await schedule(MINUTE, REVEALING);
  await ringIn(MINUTE);
  expect((await redact(id)).body.message).toMatchObject({ id, seq: 1, status: "SENT", text: "" });
  expect(await message(id)).toMatchObject({ seq: 1, text: "" });
  expect(await storedBy(object())).not.toContain(SECRET);
});

test("messages that ended without a place go after 30 days, each in its own time, and then need no alarm", async () => {
  const { schedule, redact, read, ringIn, object, events } = await scheduledPlace();
  const one = await schedule(MINUTE);
  await redact(one.id);
  await ringIn(DAY);
  const two = await schedule(MINUTE);
  await redact(two.id);
  await ringIn(29 * DAY);
  expect([(await read(one.id)).status, (await read(two.id)).status]).toEqual([404, 200]);
  expect(await alarmOf(object())).toBe(Date.now() + DAY);
  await ringIn(DAY);
  expect((await read(two.id)).status).toBe(404);
  expect(await alarmOf(object())).toBeNull();
  expect((await events()).find(({ type }) => type === "message.redacted")?.data).toMatchObject({ message: null });
});

test("a deleted chat keeps nothing of its scheduled messages, and a new one has none", async () => {
  const { schedule, redact, api, channelId, chatId, address, object } = await scheduledPlace();
  const { id } = await schedule(MINUTE, REVEALING);
  const ended = await schedule(MINUTE);
  await redact(ended.id);
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  expect(await storedBy(object())).not.toContain(SECRET);
  const { id: sameId } = await newChat(api, channelId, address);
  expect(sameId).toBe(chatId);
  const again = chatPlace(api, sameId);
  expect(await again.waiting()).toEqual([]);
  for (const each of [id, ended.id]) expectError(await again.read(each), 404, "message_not_found");
  await again.schedule(MINUTE);
  await again.ringIn(MINUTE);
  expect((await again.messages()).map(({ seq, text }) => [seq, text])).toEqual([[1, "Later"]]);
});

test("a deleted channel takes its scheduled messages with it, and none is sent", async () => {
  const calls = fakeNetworks();
  const { schedule, read, list, channelId, object, ringIn } = await scheduledPlace("telegram");
  const { id } = await schedule(MINUTE, REVEALING);
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(200);
  expectError(await read(id), 404, "chat_not_found");
  expectError(await list(), 404, "chat_not_found");
  await ringIn(MINUTE);
  expect([calls, await storedBy(object())]).toEqual([[], expect.not.stringContaining(SECRET)]);
});
