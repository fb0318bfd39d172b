import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { renderEvent } from "../../../src/model/event-json.ts";
import { alarmAt, runAlarm, workIsDone } from "../../support/alarms.ts";
import { browser, signInMember } from "../../support/console.ts";
import { breakObjects } from "../../support/faults.ts";
import { admin, client, created, expectError, newKey } from "../../support/harness.ts";
import { accept, fakeNetworks, refuse } from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { conversationSums } from "../management/conversation-sums.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { DAY, inFuture, MINUTE } from "./object/scheduled/fixtures.ts";
import { BY_KEY, CLOSED, OPEN, statePlace } from "./state-fixtures.ts";

stopTheClock();

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
