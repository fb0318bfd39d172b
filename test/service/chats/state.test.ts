import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { renderEvent } from "../../../src/model/event-json.ts";
import { alarmAt, runAlarm, workIsDone } from "../../support/alarms.ts";
import { browser, signInMember } from "../../support/console.ts";
import { aroundCall, breakObjects } from "../../support/faults.ts";
import { admin, client, created, expectError, expectFaults, newKey } from "../../support/harness.ts";
import { accept, fakeNetworks, refuse } from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { conversationSums } from "../management/conversation-sums.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { DAY, inFuture, MINUTE } from "./object/scheduled/fixtures.ts";
import { statePlace } from "./state-fixtures.ts";

stopTheClock();

const OPEN = { state: "open", snoozedUntil: null };
const CLOSED = { state: "closed", snoozedUntil: null };
const BY_KEY = { type: "key", id: expect.stringMatching(/^key_/), name: expect.any(String) };

test("a chat begins open, each change of its state is shown and is one event, and the same again is no change", async () => {
  const { become, snooze, shown, listed, states, events } = await statePlace();
  expect(await shown()).toMatchObject(OPEN);
  expect(await listed()).toMatchObject(OPEN);
  const snoozedUntil = await snooze();
  expect(await listed()).toMatchObject({ state: "snoozed", snoozedUntil });
  await become("snoozed", { snoozedUntil });
  expect(await become("closed")).toMatchObject(CLOSED);
  expect(await listed()).toMatchObject(CLOSED);
  await become("closed", { snoozedUntil: null });
  const opened = await become("open");
  expect(opened).toMatchObject(OPEN);
  await become("open");
  expect(await states()).toEqual([
    { state: "snoozed", snoozedUntil, by: BY_KEY },
    { ...CLOSED, by: BY_KEY },
    { ...OPEN, by: BY_KEY },
  ]);
  expect((await events()).at(-1)).toMatchObject({ type: "chat.state", data: { chat: opened } });
});

test("a snooze to another time is a change, and the event names the member who made it", async () => {
  const { snooze, states, ownerId, chatId, organizationId } = await statePlace();
  const first = await snooze(MINUTE);
  const session = browser(await signInMember(ownerId));
  const until = inFuture(2 * MINUTE);
  const answer = await session("PATCH", `/organizations/${organizationId}/chats/${chatId}`, {
    state: "snoozed",
    snoozedUntil: until,
  });
  expect(answer.status, answer.text).toBe(200);
  expect(await states()).toEqual([
    { state: "snoozed", snoozedUntil: first, by: BY_KEY },
    { state: "snoozed", snoozedUntil: until, by: { type: "member", id: ownerId, name: expect.any(String) } },
  ]);
});

test("a snooze ends by the chat's own alarm: never early, once, and the list shows it", async () => {
  const { snooze, shown, listed, states, object, ringIn, evict } = await statePlace();
  const snoozedUntil = await snooze(DAY);
  await runAlarm(object());
  expect(await alarmAt(object())).toBe(Date.parse(snoozedUntil));
  await evict();
  await ringIn(DAY - 1);
  expect(await shown()).toMatchObject({ state: "snoozed", snoozedUntil });
  await ringIn(1);
  expect(await listed()).toMatchObject(OPEN);
  expect(await shown()).toMatchObject(OPEN);
  await ringIn(DAY);
  expect(await states()).toEqual([
    { state: "snoozed", snoozedUntil, by: BY_KEY },
    { ...OPEN, by: null },
  ]);
});

test("a snooze that was moved, or ended by somebody, does not end at its first time", async () => {
  const { snooze, shown, become, states, ringIn } = await statePlace();
  await snooze(MINUTE);
  const snoozedUntil = await snooze(3 * MINUTE);
  await ringIn(2 * MINUTE);
  expect(await shown()).toMatchObject({ state: "snoozed", snoozedUntil });
  await become("closed");
  await ringIn(2 * MINUTE);
  expect(await shown()).toMatchObject(CLOSED);
  expect((await states()).at(-1)).toEqual({ ...CLOSED, by: BY_KEY });
});

test("a message of the contact opens a snoozed and a closed chat, in the same commit, and a repeated one does not", async () => {
  const { snooze, become, says, states, shown, listed, report, ringIn, events } = await statePlace();
  await snooze();
  const first = await says();
  expect(await shown()).toMatchObject({ ...OPEN, unansweredSince: first.createdAt });
  await ringIn(2 * MINUTE);
  await become("closed");
  expect(await shown()).toMatchObject({ ...CLOSED, unansweredSince: null });
  pass(MINUTE);
  const second = await says();
  expect(await shown()).toMatchObject({ ...OPEN, unansweredSince: second.createdAt });
  await report();
  expect(await listed()).toMatchObject({ ...OPEN, unansweredSince: second.createdAt });
  const opened = { ...OPEN, by: null };
  expect(await states()).toEqual([
    { state: "snoozed", snoozedUntil: expect.any(String), by: BY_KEY },
    opened,
    { ...CLOSED, by: BY_KEY },
    opened,
  ]);
  expect((await events()).slice(-2).map(({ type }) => type)).toEqual(["message.received", "chat.state"]);
});

test("sending changes no state, and a snooze leaves a waiting chat among the unanswered ones", async () => {
  const { api, says, snooze, become, post, shown, states, report } = await statePlace();
  const asked = await says();
  const snoozedUntil = await snooze();
  await report();
  expect((await api("GET", "/chats?unanswered=true")).body.chats).toMatchObject([
    { state: "snoozed", snoozedUntil, unansweredSince: asked.createdAt },
  ]);
  created(await post());
  expect(await shown()).toMatchObject({ state: "snoozed", snoozedUntil, unansweredSince: null });
  await become("closed");
  created(await post());
  expect(await shown()).toMatchObject(CLOSED);
  expect(await states()).toHaveLength(2);
});

test("closing ends a run of response times uncounted, and the next run counts", async () => {
  const { api, says, become, post, channelId, report } = await statePlace();
  await says();
  pass(DAY);
  await become("closed");
  expect((await api("GET", "/chats?unanswered=true")).body.pagination.total).toBe(0);
  created(await post());
  await says();
  pass(MINUTE);
  created(await post());
  await report();
  expect(await conversationSums(channelId)).toMatchObject({ received: 2, sent: 2, answers: 1, within5m: 1 });
});

test("a chat that was closed stays answered though it was lost before it had a report of that", async () => {
  const { says, set, shown, report, post, evict, listed, channelId, object } = await statePlace();
  await says();
  await report();
  const reported = await runInDurableObject(object(), (_object, { storage }) => storage.kv.get("reported"));
  breakObjects("ORGANIZATIONS", "report");
  expectError(await set({ state: "closed" }), 503, "unavailable");
  await runInDurableObject(object(), (_object, { storage }) => storage.kv.put("reported", reported));
  await evict();
  vi.restoreAllMocks();
  expect(await shown()).toMatchObject({ ...CLOSED, unansweredSince: null });
  pass(MINUTE);
  const next = await says();
  await evict();
  expect(await shown()).toMatchObject({ ...OPEN, unansweredSince: next.createdAt });
  await report();
  expect(await listed()).toMatchObject({ ...OPEN, unansweredSince: next.createdAt });
  pass(MINUTE);
  created(await post());
  await report();
  expect(await conversationSums(channelId)).toMatchObject({ received: 2, sent: 1, answers: 1, within5m: 1 });
});

test("a change that the organization does not hear of is a 503 and stays, and the chat tells it later", async () => {
  const { set, shown, listed, states, ringIn, become } = await statePlace();
  breakObjects("ORGANIZATIONS", "report");
  expectError(await set({ state: "closed" }), 503, "unavailable");
  vi.restoreAllMocks();
  expect(await listed()).toMatchObject(OPEN);
  expect(await shown()).toMatchObject(CLOSED);
  await ringIn(10 * MINUTE);
  expect(await listed()).toMatchObject(CLOSED);
  expect(await become("closed")).toMatchObject(CLOSED);
  expect(await states()).toHaveLength(1);
});

test("a snooze ends on time though its organization does not answer for longer", async () => {
  const { set, shown, object, ringIn } = await statePlace();
  breakObjects("ORGANIZATIONS", "report");
  expectError(await set({ metadata: { plan: "gold" } }), 503, "unavailable");
  await ringIn(3_000);
  const snoozedUntil = inFuture(5_000);
  expectError(await set({ state: "snoozed", snoozedUntil }), 503, "unavailable");
  expect(await alarmAt(object())).toBeLessThanOrEqual(Date.parse(snoozedUntil));
  await ringIn(5_000);
  vi.restoreAllMocks();
  expect(await shown()).toMatchObject(OPEN);
});

test("an organization knows when a snooze ends, so that it finds a chat that lost its alarm", async () => {
  const { snooze, object, organizationId, shown } = await statePlace();
  await snooze(10 * MINUTE);
  await runInDurableObject(object(), (_object, { storage }) => storage.deleteAlarm());
  await evictDurableObject(object());
  pass(13 * MINUTE);
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  await organization.checkAlarms();
  await workIsDone(organization);
  await runAlarm(object());
  expect(await shown()).toMatchObject(OPEN);
});

test("an older report, and one of an earlier version that says no state, change none", async () => {
  const { become, listed, organizationId, chatId } = await statePlace();
  await become("closed");
  const row = { depth: 0, oldest: null, attempts: {}, lastMessage: null, readUpTo: null, assigneeId: null };
  const times = { lastMessageAt: null, unansweredSince: null, nextScheduledAt: null, details: null };
  const { life } = (await env.ORGANIZATIONS.getByName(organizationId).identity(chatId)) ?? { life: 0 };
  const report = (number: number, more: object = {}) =>
    env.ORGANIZATIONS.getByName(organizationId).report({
      ...{ chatId, life, number, events: null, webhooks: null },
      ...{ ...row, ...times, ...more },
    });
  await report(0, { work: OPEN });
  expect(await listed()).toMatchObject(CLOSED);
  await report(1_000);
  expect(await listed()).toMatchObject(CLOSED);
});

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

test("a thin event names nobody", async () => {
  const note = { state: "closed", snoozedUntil: null, by: { type: "member", id: "mbr_g1", name: "Maya" } };
  const fact = { number: 1, type: "chat.state", seq: null, note, at: 0 } as const;
  const { data } = renderEvent(fact, { organizationId: "org_g1", chat: null }, "00000000", {}, "thin");
  expect(data).toEqual({ state: "closed", snoozedUntil: null, by: { type: "member", id: "mbr_g1" } });
});

test("closing leaves queued, scheduled and failed messages as they are: they go, wait and can be sent again", async () => {
  const refusal = refuse(400, "Bad Request: chat not found");
  const calls = fakeNetworks((call, number) => (call.text === "Refused" ? refusal(call, number) : accept(call)));
  const { post, schedule, message, become, shown, api, chatId, ringIn } = await statePlace("telegram");
  const failed = created(await post({ content: "Refused" })).message.id;
  /** Alarms ring until a message has this status: its channel may let it wait. */
  const becomes = async (id: string, status: string) => {
    for (let rings = 0; rings < 10 && (await message(id)).status !== status; rings++) await ringIn(1_000);
    expect((await message(id)).status).toBe(status);
  };
  await becomes(failed, "FAILED");
  const later = await schedule(DAY);
  const queued = created(await post({ content: "Queued" })).message.id;
  expect(await become("closed")).toMatchObject({ ...CLOSED, nextScheduledAt: later.scheduledAt });
  await becomes(queued, "SENT");
  expect(await message(later.id)).toMatchObject({ status: "SCHEDULED" });
  expect((await api("POST", `/chats/${chatId}/messages/${failed}/resend`)).status).toBe(201);
  await ringIn(DAY);
  await becomes(later.id, "SENT");
  expect(calls.map(({ text }) => text)).toContain("Queued");
  expect(await shown()).toMatchObject(CLOSED);
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

test("a message to an open chat writes as many rows as to one that was never snoozed", async () => {
  const fresh = await statePlace();
  const used = await statePlace();
  await used.snooze();
  await used.become("closed");
  await used.become("open");
  const cost = async (place: typeof fresh) => {
    const { says, post, object } = place;
    await says();
    created(await post());
    await runAlarm(object());
    return objectWrites(place, async () => {
      await says();
      created(await post());
    });
  };
  expect(await cost(used)).toEqual(await cost(fresh));
});

test("a deleted chat that begins again is open, and its snooze never ends", async () => {
  const { api, snooze, chatId, channelId, address, ringIn } = await statePlace();
  await snooze();
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  await ringIn(2 * MINUTE);
  const again = created(await api("POST", "/chats", { channelId, contact: { address } })).chat;
  expect(again).toMatchObject(OPEN);
});

test("an export has the state of each chat", async () => {
  const { snooze, chatId, organizationId } = await statePlace();
  const snoozedUntil = await snooze();
  const { secret } = await newKey(organizationId, { permissions: ["data:export"] });
  const answer = await client(secret)("GET", `/chats/${chatId}/export`);
  expect(answer.text).toContain(`"state":"snoozed","snoozedUntil":"${snoozedUntil}"`);
});
