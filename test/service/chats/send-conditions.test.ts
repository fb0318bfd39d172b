import { expect, test, vi } from "vitest";
import { expectError, expectFaults, newChat, newOrganization, send } from "../../support/harness.ts";
import { TOMORROW } from "../../support/tomorrow.ts";

async function place() {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const post = (body: object, headers = {}) =>
    api("POST", `/chats/${chat.id}/messages`, { content: "Hi", ...body }, headers);
  return { api, chatId: chat.id, post };
}

const inFuture = (ms: number) => new Date(Date.now() + ms).toISOString();

test("a message with ifSeq is stored only if no other message came in between", async () => {
  const { api, chatId, post } = await place();
  expect((await post({ ifSeq: 0 })).body.message.seq).toBe(1);
  await send(api, chatId);
  const text = "ifSeq is 1, but the chat's newest message has the seq 2";
  expectError(await post({ ifSeq: 1 }), 409, "chat_moved_on", text);
  expectError(await post({ ifSeq: 3 }), 409, "chat_moved_on");
  expect((await post({ ifSeq: 2 })).body.message.seq).toBe(3);
});

test("a message with ifSeq is not stored if a scheduled one is due within 15 seconds", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { api, chatId, post } = await place();
  const { message } = (await post({ scheduledAt: inFuture(13_000) })).body;
  const text = "Another message was scheduled and is about to be sent";
  expectError(await post({ ifSeq: 0 }), 409, "chat_moved_on", text);
  expectError(await post({ ifSeq: 0, scheduledAt: inFuture(3_600_000) }), 409, "chat_moved_on", text);
  expect((await post({})).body.message.seq).toBe(1);
  await api("POST", `/chats/${chatId}/messages/${message.id}/cancel`);
  await post({ scheduledAt: inFuture(17_000) });
  expect((await post({ ifSeq: 1 })).body.message.seq).toBe(2);
});

test("a repeated request with ifSeq gets its first message", async () => {
  const { post } = await place();
  const headers = { "Idempotency-Key": "one" };
  const first = await post({ ifSeq: 0 }, headers);
  const second = await post({ ifSeq: 0 }, headers);
  expect([second.status, second.body]).toEqual([201, first.body]);
});

test.each([
  ["scheduledAt", "2026-11-20T10:00:00"],
  ["scheduledAt", "2027-02-30T10:00:00Z"],
  ["scheduledAt", 1_800_000_000],
  ["expiresAt", "tomorrow"],
  ["ifSeq", -1],
  ["ifSeq", 1.5],
])("a send is refused with %s %j", async (path, value) => {
  const { post } = await place();
  expectFaults(await post({ [path]: value }), path);
});

test("a time beyond a year, in the past, or in the wrong order is refused, and nothing is stored", async () => {
  const { api, chatId, post } = await place();
  const day = 86_400_000;
  const faultsOf = async (body: object) => (await post(body)).body.errors;
  expect(await faultsOf({ scheduledAt: inFuture(367 * day) })).toEqual([
    { path: "scheduledAt", message: "must be at most 366 days ahead" },
  ]);
  expect(await faultsOf({ expiresAt: inFuture(-1_000) })).toEqual([
    { path: "expiresAt", message: "must be in the future" },
  ]);
  expect(await faultsOf({ scheduledAt: inFuture(2 * day), expiresAt: inFuture(day) })).toEqual([
    { path: "expiresAt", message: "must be later than scheduledAt" },
  ]);
  const same = inFuture(day);
  expect(await faultsOf({ scheduledAt: same, expiresAt: same })).toEqual([
    { path: "expiresAt", message: "must be later than scheduledAt" },
  ]);
  for (const time of ["1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00"]) {
    expect(await faultsOf({ scheduledAt: time })).toEqual([
      { path: "scheduledAt", message: "must be in the years 1970 to 9999" },
    ]);
  }
  expect((await api("GET", `/chats/${chatId}/messages`)).body.messages).toEqual([]);
  expect((await api("GET", `/chats/${chatId}/scheduled`)).body.messages).toEqual([]);
});

test("a request that is repeated after its message expired gets that message", async () => {
  const { post } = await place();
  const body = { expiresAt: inFuture(60_000) };
  const headers = { "Idempotency-Key": "one" };
  const first = await post(body, headers);
  expect(first.body.message.expiresAt).toBe(body.expiresAt);
  vi.setSystemTime(Date.now() + 120_000);
  const second = await post(body, headers);
  expect([second.status, second.body]).toEqual([201, first.body]);
  expectError(await post({ expiresAt: inFuture(60_000) }, headers), 422, "idempotency_mismatch");
});

test("a message that was scheduled for a time in the past is sent at once", async () => {
  const { post } = await place();
  const scheduledAt = inFuture(-60_000);
  expect((await post({ scheduledAt })).body.message).toMatchObject({ seq: 1, status: "SENT", scheduledAt });
});
