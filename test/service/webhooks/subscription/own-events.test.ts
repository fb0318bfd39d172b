import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import { parseEventId } from "../../../../src/model/event.ts";
import { ringAlarm, runAlarm } from "../../../support/alarms.ts";
import { breakObjects } from "../../../support/faults.ts";
import { admin, newChannel, newOrganization, send } from "../../../support/harness.ts";
import { until, untilLength } from "../../../support/until.ts";
import { GOOD, mend } from "../../chats/object/delivery/broken-channel.ts";
import { alarmOf, conversation, crash, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { newListener, pageOf } from "../../events/fixtures.ts";
import { newWebhook, SECRET } from "../object/fixtures.ts";
import { addWebhook, fakeReceiver, type Received } from "../receiver.ts";
import {
  attempted,
  deleteChat,
  numberOf,
  OWN,
  objectOf,
  ownEvents,
  ring,
  SECOND,
  toldOrganization,
} from "./own-event-fixtures.ts";

stopTheClock();

/** Waits until the organization's alarm is due. */
const due = (organizationId: string) =>
  until(
    "the alarm is due",
    () => alarmOf(objectOf(organizationId)),
    (at) => at !== null && at <= Date.now(),
  );

/** Lets a webhook's alarm ring until its receiver has this many calls. */
const replayed = (webhookId: string, calls: Received[], count: number) =>
  until(
    `there are ${count} calls`,
    async () => {
      await runAlarm(env.WEBHOOKS.getByName(webhookId));
      return calls;
    },
    ({ length }) => length === count,
  );

/** The number in the event's id, `previous`, which is null because the event has no number, and the type. */
const factsOf = (call: Received) => [numberOf(call), call.event.previous, call.event.type];
const of = (calls: Received[], webhookId: string) => calls.filter(({ url }) => url.endsWith(webhookId));

test("a channel that breaks and recovers, a deleted chat and a disabled webhook reach a webhook in order, signed", async () => {
  const calls = fakeReceiver(undefined, async (url) =>
    url.includes(GOOD)
      ? Response.json({ ok: true, result: { message_id: 1 } })
      : Response.json({ ok: false, error_code: 401, description: "Unauthorized" }, { status: 401 }),
  );
  const { api, organizationId, channelId, chatId, run } = await conversation("telegram");
  const webhookId = await addWebhook(organizationId, OWN);
  const other = await addWebhook(organizationId, OWN);
  await send(api, chatId);
  await run();
  await attempted(organizationId, webhookId, 1);
  await mend(channelId);
  await attempted(organizationId, webhookId, 2);
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  await attempted(organizationId, webhookId, 3);
  await attempted(organizationId, other, 3);
  expect((await admin("POST", `/webhooks/${other}/disable`)).status).toBe(200);
  await runAlarm(env.WEBHOOKS.getByName(other));
  await attempted(organizationId, webhookId, 4);

  const events = [
    [1, null, "channel.health"],
    [2, null, "channel.health"],
    [3, null, "chat.deleted"],
    [4, null, "webhook.disabled"],
  ];
  expect(of(calls, webhookId).map(factsOf)).toEqual(events);
  const place = { organizationId, channelId, channelKind: "telegram", contactAddress: null, number: null };
  const [broken, recovered, deleted, disabled] = of(calls, webhookId).map(({ event }) => event);
  expect(broken).toMatchObject({ ...place, chatId: null, data: { state: "broken", since: expect.any(String) } });
  expect(recovered).toMatchObject({ ...place, chatId: null, data: { state: "ok", reason: null } });
  expect(deleted).toMatchObject({ ...place, chatId, data: {} });
  expect(disabled).toMatchObject({ chatId: null, channelId: null, data: { webhookId: other, reason: "operator" } });
  for (const { headers, text, event } of of(calls, webhookId)) {
    expect(() => new Webhook(SECRET).verify(text, Object.fromEntries(headers))).not.toThrow();
    expect(headers.get("webhook-id")).toBe(event.id);
  }

  // A webhook that was disabled gets its own notice once it is enabled again.
  expect(of(calls, other)).toHaveLength(3);
  expect((await admin("POST", `/webhooks/${other}/enable`)).status).toBe(200);
  await attempted(organizationId, other, 4);
  expect(of(calls, other).map(factsOf)).toEqual(events);
});

test("deleted chats whose event a receiver does not take hold up no notice of a webhook, and both can be sent again", async () => {
  let isIll = true;
  const calls = fakeReceiver(
    ({ event }) => new Response(null, { status: isIll && event.type === "chat.deleted" ? 503 : 200 }),
  );
  const organization = await newOrganization();
  const { organizationId } = organization;
  const webhookId = await addWebhook(organizationId, OWN);
  const other = await addWebhook(organizationId, { types: ["ping"] });
  for (let chat = 0; chat < 3; chat++) await deleteChat(organization);
  await attempted(organizationId, webhookId, 1);
  expect((await admin("POST", `/webhooks/${other}/disable`)).status).toBe(200);
  await runAlarm(env.WEBHOOKS.getByName(other));
  await attempted(organizationId, webhookId, 2);
  expect(calls.map(factsOf)).toEqual([
    [1, null, "chat.deleted"],
    [4, null, "webhook.disabled"],
  ]);
  isIll = false;
  pass(6 * SECOND);
  await ring(organizationId);
  await attempted(organizationId, webhookId, 5);
  expect(calls.map(numberOf)).toEqual([1, 4, 1, 2, 3]);
  const since = new Date(0).toISOString();
  expect((await admin("POST", `/webhooks/${webhookId}/replays`, { since })).status).toBe(202);
  await replayed(webhookId, calls, 9);
  expect(new Set(calls.slice(5).map(numberOf))).toEqual(new Set([1, 2, 3, 4]));
});

test("a webhook gets the same event as the feed, and those after its creation only", async () => {
  const calls = fakeReceiver();
  const listener = await newListener();
  await deleteChat(listener);
  const webhookId = await addWebhook(listener.organizationId, OWN);
  await deleteChat(listener);
  await attempted(listener.organizationId, webhookId, 1);
  expect(calls.map(factsOf)).toEqual([[2, null, "chat.deleted"]]);
  const { previous: _, ...sent } = calls[0]?.event ?? {};
  expect((await listener.api("GET", `/events/${sent.id}`)).body).toEqual({ event: sent });
});

test("a filter of channels applies to events of the organization that have a channel, in the subscription and in the feed", async () => {
  const calls = fakeReceiver();
  const listener = await newListener();
  const { organizationId, channelId, api } = listener;
  const telegram = await newChannel(organizationId, "telegram");
  const webhookId = await addWebhook(organizationId, { ...OWN, channels: [channelId] });
  const noticed = await addWebhook(organizationId, { types: ["ping"] });
  const health = { number: 1, state: "broken", reason: "No", since: Date.now(), probeAt: null } as const;
  await deleteChat({ api, channelId: telegram });
  await objectOf(organizationId).reportHealth(organizationId, telegram, health);
  const chatId = await deleteChat(listener);
  // Notices of webhooks have an order of their own.
  await attempted(organizationId, webhookId, 1);
  expect((await admin("POST", `/webhooks/${noticed}/disable`)).status).toBe(200);
  await runAlarm(env.WEBHOOKS.getByName(noticed));
  await attempted(organizationId, webhookId, 2);
  expect(calls.map(factsOf)).toEqual([
    [3, null, "chat.deleted"],
    [4, null, "webhook.disabled"],
  ]);
  expect(calls[0]?.event.chatId).toBe(chatId);
  const { events } = await pageOf(api, `channel=${channelId}`);
  expect(events.map(({ id }) => parseEventId(id)?.number)).toEqual([3, 4]);
});

test("an event that fails is tried again by the alarm, and the later ones wait for it", async () => {
  const calls = fakeReceiver((_call, number) => new Response("busy", { status: number <= 2 ? 503 : 200 }));
  const { organization, organizationId, webhookId } = await toldOrganization();
  await deleteChat(organization);
  await attempted(organizationId, webhookId, 1);
  for (const [tries, ms] of [6 * SECOND, 36 * SECOND].entries()) {
    pass(ms);
    await ring(organizationId);
    await attempted(organizationId, webhookId, tries === 0 ? 2 : 4);
  }
  expect(calls.map((call) => [numberOf(call), call.headers.get("parley-attempt")])).toEqual([
    [1, "1"],
    [1, "2"],
    [1, "3"],
    [2, "1"],
  ]);
});

test("attempts that were lost with the organization's object are repeated with the same id", async () => {
  const { promise: hangs } = Promise.withResolvers<Response>();
  const calls = fakeReceiver((_call, number) => (number <= 2 ? hangs : new Response("ok")));
  const organization = await newOrganization();
  const { organizationId } = organization;
  const webhookId = await addWebhook(organizationId, OWN);
  await deleteChat(organization);
  // The second is lost after the alarm that made it.
  for (const count of [1, 2]) {
    await untilLength(calls, count);
    await crash(objectOf(organizationId));
    pass(40 * SECOND);
    await due(organizationId);
    await ringAlarm(objectOf(organizationId));
  }
  await attempted(organizationId, webhookId, 1);
  const { id } = calls[0]?.event ?? {};
  expect(calls.map(({ headers }) => headers.get("webhook-id"))).toEqual([id, id, id]);
});

test("an event is sent although its webhook's object did not answer at first", async () => {
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  const calls = fakeReceiver();
  const organization = await newOrganization();
  const { organizationId } = organization;
  const webhookId = await addWebhook(organizationId, OWN);
  const repair = breakObjects("WEBHOOKS", "permit");
  await deleteChat(organization);
  await until(
    "the webhook's object is away",
    () => warned.mock.calls.map(([{ event }]) => event),
    (events) => events.includes("webhook_away"),
  );
  repair();
  expect(calls).toHaveLength(0);
  pass(40 * SECOND);
  await ring(organizationId);
  await attempted(organizationId, webhookId, 1);
});

test("the notice of a webhook is stored although the organization's object was empty, and only once", async () => {
  const { organizationId, webhookId, object, evict } = await newWebhook();
  await object().disable(webhookId, "customer");
  const repair = breakObjects("ORGANIZATIONS", "webhookEvent");
  await runAlarm(object());
  repair();
  pass(15 * SECOND);
  await runAlarm(object());
  const [notice] = await until(
    "the organization has an event",
    () => ownEvents(organizationId),
    ({ length }) => length === 1,
  );
  expect(notice).toMatchObject({ number: 1, type: "webhook.disabled", note: { webhookId, reason: "customer" } });
  await evict();
  const [type, note] = ["webhook.disabled" as const, { webhookId }];
  const source = await runInDurableObject(objectOf(organizationId), (_object, { storage }) =>
    storage.sql.exec<{ source: string }>("select source from own_events").one(),
  );
  await objectOf(organizationId).webhookEvent(organizationId, type, note, source.source);
  expect(await ownEvents(organizationId)).toHaveLength(1);
});

test("an event of the organization can be sent again", async () => {
  const calls = fakeReceiver();
  const { webhookId } = await toldOrganization();
  const answer = await admin("POST", `/webhooks/${webhookId}/replays`, { eventId: calls[0]?.event.id });
  expect(answer.status, answer.text).toBe(202);
  await replayed(webhookId, calls, 2);
  expect(calls[1]?.event).toEqual({ ...calls[0]?.event, previous: null });
  expect(calls[1]?.headers.get("parley-replay")).toBe(answer.body.replay.id);
});
