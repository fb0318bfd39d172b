import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { aroundCall } from "../../support/faults.ts";
import { client, created, expectError, expectFaults, newKey } from "../../support/harness.ts";
import { conversationSums } from "../management/conversation-sums.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { DAY, inFuture, MINUTE } from "./object/scheduled/fixtures.ts";
import { BY_KEY, CLOSED, OPEN, statePlace } from "./state-fixtures.ts";

stopTheClock();

test("DELETE answered opens the chat and takes a closing back, and where nothing is unanswered it is a 409", async () => {
  const { api, chatId, says, become, snooze, shown, states, post, channelId, report, listed, evict } =
    await statePlace();
  const unanswer = () => api("DELETE", `/chats/${chatId}/answered`);
  await become("closed");
  expectError(await unanswer(), 409, "nothing_unanswered");
  expect(await shown()).toMatchObject(CLOSED);
  const asked = await says();
  pass(MINUTE);
  await says();
  await become("closed");
  const answer = await unanswer();
  expect(answer.body.chat).toMatchObject({ ...OPEN, unansweredSince: asked.createdAt });
  expect(await listed()).toMatchObject({ ...OPEN, unansweredSince: asked.createdAt });
  await evict();
  expect(await shown()).toMatchObject({ ...OPEN, unansweredSince: asked.createdAt });
  await snooze();
  expect((await unanswer()).body.chat).toMatchObject({ ...OPEN, unansweredSince: asked.createdAt });
  expect((await states()).at(-1)).toEqual({ ...OPEN, by: BY_KEY });
  await become("closed");
  await become("open");
  expect((await unanswer()).body.chat).toMatchObject({ ...OPEN, unansweredSince: asked.createdAt });
  await evict();
  expect(await shown()).toMatchObject({ ...OPEN, unansweredSince: asked.createdAt });
  created(await post());
  await report();
  expect(await conversationSums(channelId)).toMatchObject({ received: 2, sent: 1, newChats: 1 });
  expectError(await unanswer(), 409, "nothing_unanswered");
});

test("with ifSeq, a chat changes only if its newest message is the one that the caller knows", async () => {
  const { api, chatId, says, set, shown, states, become, post } = await statePlace();
  const answered = (body?: object) => api("POST", `/chats/${chatId}/answered`, body);
  await become("closed", { ifSeq: 0 });
  await says();
  const refused = await set({ state: "closed", ifSeq: 0, metadata: { plan: "gold" } });
  expectError(refused, 409, "chat_moved_on");
  expect(refused.body.error).toContain("newest message has the seq 1");
  expectError(await set({ state: "snoozed", snoozedUntil: inFuture(MINUTE), ifSeq: 2 }), 409, "chat_moved_on");
  expectError(await answered({ ifSeq: 0 }), 409, "chat_moved_on");
  expect(await shown()).toMatchObject({ ...OPEN, unansweredSince: expect.any(String), metadata: {} });
  expect((await answered({ ifSeq: 1 })).body.chat.unansweredSince).toBeNull();
  created(await post());
  expect((await answered({ ifSeq: 2 })).status).toBe(200);
  expect((await answered({})).status).toBe(200);
  await become("closed", { ifSeq: 2, metadata: { plan: "gold" } });
  expect(await shown()).toMatchObject({ ...CLOSED, metadata: { plan: "gold" } });
  expect(await states()).toHaveLength(3);
  for (const ifSeq of [-1, 1.5, "1", true]) {
    expectFaults(await answered({ ifSeq }), "ifSeq");
    expectFaults(await set({ state: "open", ifSeq }), "ifSeq");
  }
});

test("of two who close and snooze at once with the same ifSeq, both are done in some order, and after a message none", async () => {
  const { set, says, shown, states } = await statePlace();
  await says();
  const both = () =>
    Promise.all([
      set({ state: "snoozed", snoozedUntil: inFuture(MINUTE), ifSeq: 1 }),
      set({ state: "snoozed", snoozedUntil: inFuture(2 * MINUTE), ifSeq: 1 }),
    ]);
  expect((await both()).map(({ status }) => status)).toEqual([200, 200]);
  const last = (await states()).at(-1);
  expect(last).toMatchObject({ state: "snoozed", snoozedUntil: (await shown()).snoozedUntil });
  expect(await states()).toHaveLength(2);
  await says();
  for (const answer of await both()) expectError(answer, 409, "chat_moved_on");
  expect(await shown()).toMatchObject(OPEN);
});

test("a second call of the service with the same change finds it done, whatever was sent in between", async () => {
  const { chatId, organizationId, post, says, states } = await statePlace();
  const chat = env.CHATS.getByName(chatId);
  await says();
  const by = { type: "key", id: "key_g1", name: "Key" } as const;
  const state = { ...CLOSED, ifSeq: 1, by } as never;
  const call = (isRepeat: boolean) =>
    chat.changeState({ organizationId, knownIdentity: null, isRepeat }, { details: {}, state });
  expect(await call(false)).toEqual({ outcome: "ok" });
  created(await post());
  expect(await call(true)).toEqual({ outcome: "ok" });
  expect(await call(false)).toMatchObject({ outcome: "refused", code: "chat_moved_on" });
  expect(await states()).toHaveLength(1);
});

test("a state changes with the name, the metadata, the assignee and the marketing, all or nothing", async () => {
  const { set, ownerId, shown, events } = await statePlace();
  const before = await shown();
  const all = { contact: { name: "Maya" }, metadata: { a: "1" }, assigneeId: ownerId, marketing: { optedOut: true } };
  expectError(await set({ ...all, state: "closed", ifAssigneeId: ownerId }), 409, "chat_reassigned");
  expectFaults(await set({ ...all, state: "closed", metadata: { a: "x".repeat(501) } }), "metadata.a");
  expectError(await set({ ...all, state: "closed", ifSeq: 9 }), 409, "chat_moved_on");
  expect(await shown()).toEqual(before);
  expect((await set({ ...all, state: "closed" })).body.chat).toMatchObject({
    ...{ ...CLOSED, contact: { name: "Maya" }, metadata: { a: "1" }, assigneeId: ownerId },
    marketing: { optedOut: true, by: "key" },
  });
  const types = ["chat.updated", "chat.assigned", "chat.consent", "chat.state"];
  expect((await events()).slice(-4).map(({ type }) => type)).toEqual(types);
});

test.each([
  [{ state: "snoozed" }, "snoozedUntil"],
  [{ state: "snoozed", snoozedUntil: null }, "snoozedUntil"],
  [{ state: "open", snoozedUntil: "2030-01-01T00:00:00Z" }, "snoozedUntil"],
  [{ state: "closed", snoozedUntil: "2030-01-01T00:00:00Z" }, "snoozedUntil"],
  [{ snoozedUntil: "2030-01-01T00:00:00Z" }, "snoozedUntil"],
  [{ state: "snoozed", snoozedUntil: "2027-02-31T09:00:00Z" }, "snoozedUntil"],
  [{ state: "snoozed", snoozedUntil: "2027-02-01T09:00:00" }, "snoozedUntil"],
  [{ state: "snoozed", snoozedUntil: "tomorrow" }, "snoozedUntil"],
  [{ state: "snoozed", snoozedUntil: 1_800_000_000_000 }, "snoozedUntil"],
  [{ state: "snoozed", snoozedUntil: "2020-01-01T00:00:00Z" }, "snoozedUntil"],
  [{ state: "done" }, "state"],
  [{ state: "" }, "state"],
  [{ state: null, snoozedUntil: "2030-01-01T00:00:00Z" }, "snoozedUntil"],
  [{ state: ["open"] }, "state"],
  [{ ifSeq: 0 }, "ifSeq"],
])("%j is a 400 that names the field, and changes nothing", async (body, path) => {
  const { set, shown, states } = await statePlace();
  const before = await shown();
  expectFaults(await set({ ...body, metadata: { a: "1" } }), path);
  expect(await shown()).toEqual(before);
  expect(await states()).toEqual([]);
});

test("a state of null is the default, as in each PATCH: the chat is open", async () => {
  const { snooze, set, states } = await statePlace();
  await snooze();
  expect((await set({ state: null, snoozedUntil: null })).body.chat).toMatchObject(OPEN);
  expect(await states()).toHaveLength(2);
});

test("a chat is snoozed for 366 days at most, and not until now", async () => {
  const { set, snooze } = await statePlace();
  expectFaults(await set({ state: "snoozed", snoozedUntil: inFuture(366 * DAY + 1) }), "snoozedUntil");
  expectFaults(await set({ state: "snoozed", snoozedUntil: inFuture(0) }), "snoozedUntil");
  await snooze(366 * DAY);
  await snooze(1);
});

test("a key without chats:write changes no state", async () => {
  const { set, organizationId, chatId, shown } = await statePlace();
  const { secret } = await newKey(organizationId, { permissions: ["chats:read", "messages:read", "messages:send"] });
  const reader = client(secret);
  expectError(await set({ state: "closed" }, reader), 403, "permission_denied");
  expectError(await reader("POST", `/chats/${chatId}/answered`, { ifSeq: 0 }), 403, "permission_denied");
  expect(await shown()).toMatchObject(OPEN);
});

test("a state that an object does not know, because it runs an earlier version, is a 503, and nothing changes", async () => {
  const { set, shown } = await statePlace();
  const before = await shown();
  const unknown = new TypeError('The RPC receiver does not implement "changeState".');
  aroundCall("CHATS", "changeState", { before: () => Promise.reject(Object.assign(unknown, { remote: true })) });
  expectError(await set({ state: "closed", metadata: { plan: "gold" } }), 503, "unavailable");
  vi.restoreAllMocks();
  expect(await shown()).toEqual(before);
});
