import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { eventId } from "../../../../src/model/event.ts";
import type { ReplayAnswer } from "../../../../src/model/webhook.ts";
import { hurryAlarms, ringAlarm, runAlarm } from "../../../support/alarms.ts";
import { countCalls } from "../../../support/faults.ts";
import { admin, send } from "../../../support/harness.ts";
import { neverRing } from "../../../support/timers.ts";
import { gate, until, untilLength } from "../../../support/until.ts";
import { pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { chatWithWebhook, fakeReceiver } from "../receiver.ts";
import {
  fakeOrganization,
  fakeSubscriptions,
  newWebhook,
  type Replayed,
  subscriptionOf,
  type TestWebhook,
  untilFound,
} from "./fixtures.ts";

stopTheClock();

const SECOND = 1_000;
const MINUTE = 60_000;
const DAY = 86_400_000;
const givenUp = { outcome: "given_up", httpStatus: 400, code: "http_400" } as const;

/** A webhook for which this many chats gave up one event each. */
async function webhookWithFailed(chats: number): Promise<TestWebhook> {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  for (let subscription = 1; subscription <= chats; subscription++)
    await webhook.report(subscription, { ...givenUp, number: 7 });
  return webhook;
}

async function replay({ object, webhookId }: TestWebhook, request = { failed: true } as const): Promise<string> {
  const answer = (await object().replay(webhookId, request)) as ReplayAnswer;
  if (answer.outcome !== "started") throw new Error(`the answer is ${answer.outcome}`);
  return answer.replay.id;
}

const timesOf = (replayed: Replayed[], subscription: number) =>
  replayed.filter(({ subscriptionId }) => subscriptionId === subscriptionOf(subscription)).length;

test("a chat that can't be reached holds up no other in a replay, and is asked again ever later", async () => {
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  const webhook = await webhookWithFailed(5);
  let isAway = true;
  const { replayed } = fakeSubscriptions({
    onReplay: ({ subscriptionId }) => {
      if (isAway && subscriptionId === subscriptionOf(3)) throw new Error("the chat does not answer");
      return undefined;
    },
  });
  const id = await replay(webhook);
  await webhook.alarm();
  await untilLength(replayed, 5);
  for (let waited = 0; waited < 10 * MINUTE; waited += 5 * SECOND) {
    pass(5 * SECOND);
    await webhook.alarm();
  }
  const state = () => webhook.object().replayState(id);
  await untilFound(webhook, id, 4);
  expect(await state()).toEqual({ id, state: "running", found: 4, sent: 0 });
  expect([1, 2, 3, 4, 5].map((subscription) => Math.min(timesOf(replayed, subscription), 3))).toEqual([1, 1, 3, 1, 1]);
  expect(timesOf(replayed, 3)).toBeLessThanOrEqual(8);
  expect(warned).toHaveBeenCalledWith(
    expect.objectContaining({
      event: "replay_not_taken",
      webhookId: webhook.webhookId,
      lineId: subscriptionOf(3),
    }),
  );
  // What is left is stored.
  await webhook.evict();
  isAway = false;
  pass(11 * MINUTE);
  await webhook.alarm();
  await untilFound(webhook, id, 5);
  for (let subscription = 1; subscription <= 5; subscription++)
    await webhook.report(subscription, { number: 7, replayId: id });
  expect(await state()).toEqual({ id, state: "done", found: 5, sent: 5 });
});

test("a chat that never answers delays neither the other chats of a replay nor the alarm", async () => {
  const webhook = await webhookWithFailed(3);
  const { promise: never } = Promise.withResolvers<number>();
  const { replayed } = fakeSubscriptions({
    onReplay: ({ subscriptionId }) => (subscriptionId === subscriptionOf(1) ? never : undefined),
  });
  // The chat's call never ends, so only the alarm's own end is left.
  neverRing(10_000);
  hurryAlarms();
  await replay(webhook);
  expect(await ringAlarm(webhook.object())).toBe(true);
  await untilLength(replayed, 3);
  await webhook.object().disable(webhook.webhookId, "customer");
  expect(await ringAlarm(webhook.object())).toBe(true);
});

test("the events of a chat are handed out in order, although it did not answer at first", async () => {
  vi.spyOn(console, "warn").mockReturnValue();
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  let isAway = true;
  const { replayed } = fakeSubscriptions({
    onReplay: () => {
      if (isAway) throw new Error("the chat does not answer");
      return undefined;
    },
  });
  // One chat has all of them, so each step of the search finds more.
  fakeOrganization({
    pointers: (_since, _until, after) =>
      Array.from({ length: after < 400 ? 200 : 0 }, (_, index) => {
        const position = after + index + 1;
        return {
          position,
          chatId: subscriptionOf(1),
          channelId: null,
          types: [],
          first: 2 * position,
          last: 2 * position,
        };
      }),
  });
  const answer = await webhook.object().replay(webhook.webhookId, { since: 1 });
  const id = answer.outcome === "started" ? answer.replay.id : "";
  await webhook.alarm();
  await untilLength(replayed, 1);
  isAway = false;
  pass(MINUTE);
  await webhook.alarm();
  await untilFound(webhook, id, 400);
  const taken = replayed.slice(1).flatMap(({ ranges }) => ranges.map(([first]) => first));
  expect(taken).toEqual(Array.from({ length: 400 }, (_, index) => 2 * (index + 1)));
});

test("what a chat never took is given up after four days, and another replay can start", async () => {
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  const webhook = await webhookWithFailed(1);
  fakeSubscriptions({
    onReplay: () => {
      throw new Error("the chat does not answer");
    },
  });
  await replay(webhook);
  await webhook.alarm();
  await until("a warning is logged", () => warned.mock.calls.length);
  expect(await webhook.object().replay(webhook.webhookId, { failed: true })).toEqual({ outcome: "replay_running" });
  pass(4 * DAY);
  await webhook.alarm();
  await until(
    "the replay is given up",
    () => warned.mock.calls,
    (calls) => calls.some(([{ event }]) => event === "replay_given_up"),
  );
  expect(warned).toHaveBeenCalledWith(expect.objectContaining({ event: "replay_given_up", lines: 1 }));
  await replay(webhook);
});

test("the given-up events of a chat that was deleted are forgotten when a replay finds that out", async () => {
  const webhook = await webhookWithFailed(3);
  fakeSubscriptions({ onReplay: ({ subscriptionId }) => (subscriptionId === subscriptionOf(2) ? null : undefined) });
  const id = await replay(webhook);
  await webhook.alarm();
  await untilFound(webhook, id, 2);
  expect(await webhook.describe()).toMatchObject({ failed: 2 });
});

test("a replay ends when the chat that has not sent all of its events is deleted", async () => {
  let isUp = true;
  const calls = fakeReceiver(() => new Response(null, { status: isUp ? 200 : 503 }));
  const { api, chatId, webhookId, ring, settled } = await chatWithWebhook({
    types: ["message.*"],
  });
  for (let n = 0; n < 3; n++) await send(api, chatId);
  await settled(3);
  pass(MINUTE);
  await ring();
  isUp = false;
  const webhook = () => env.WEBHOOKS.getByName(webhookId);
  const answer = (await webhook().replay(webhookId, { since: 1 })) as ReplayAnswer;
  const id = answer.outcome === "started" ? answer.replay.id : "";
  await runAlarm(webhook());
  await untilFound({ object: webhook }, id, 3);
  await untilLength(calls, 4);
  expect(await webhook().replayState(id)).toMatchObject({ state: "running" });
  const gone = countCalls("WEBHOOKS", "lineGone");
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  await until(
    "the replay is done",
    async () => await webhook().replayState(id),
    (replayed) => replayed?.state === "done",
  );
  expect(await webhook().replayState(id)).toEqual({ id, state: "done", found: 3, sent: 0 });
  expect(gone()).toBe(1);
  vi.restoreAllMocks();
  await evictDurableObject(webhook());
  expect(await webhook().replayState(id)).toMatchObject({ state: "done" });
  expect(await webhook().replay(webhookId, { since: 1 })).toMatchObject({ outcome: "started" });
});

test("a chat without a subscription answers a replay with null, and the organization with 0", async () => {
  const webhook = await newWebhook();
  const chat = env.CHATS.getByName(subscriptionOf(99));
  expect(await chat.replayEvents(webhook.webhookId, "rpl_1", [[1, 1]])).toBeNull();
  const organization = env.ORGANIZATIONS.getByName(webhook.organizationId);
  expect(await organization.replayEvents(webhook.webhookId, "rpl_1", [[1, 1]], "")).toBe(0);
});

test("a replay is refused while the one before it waits for its chat, so that neither is lost", async () => {
  const webhook = await webhookWithFailed(2);
  const chat = gate("the chat's answer");
  const { replayed } = fakeSubscriptions({
    onReplay: ({ subscriptionId, ranges }) =>
      subscriptionId === subscriptionOf(1) && ranges[0]?.[0] === 9 ? chat.pass().then(() => 1) : undefined,
  });
  const one = webhook.object().replay(webhook.webhookId, { eventId: eventId(subscriptionOf(1), "0AbCdEf1", 9) });
  await chat.reached();
  const other = await webhook.object().replay(webhook.webhookId, { failed: true });
  chat.open();
  const answer = (await one) as ReplayAnswer;
  if (answer.outcome !== "started") throw new Error(`the answer is ${answer.outcome}`);
  expect(other).toEqual({ outcome: "replay_running" });
  expect(await webhook.object().replayState(answer.replay.id)).toMatchObject({ state: "running", found: 1 });
  await webhook.report(1, { number: 9, replayId: answer.replay.id });
  await replay(webhook);
  await webhook.alarm();
  await untilLength(replayed, 3);
});

test("a replay that has ended stays so when the log has forgotten its attempts", async () => {
  const webhook = await webhookWithFailed(1);
  const { replayed } = fakeSubscriptions();
  const id = await replay(webhook);
  await webhook.alarm();
  await untilLength(replayed, 1);
  await untilFound(webhook, id, 1);
  await webhook.report(1, { number: 7, replayId: id });
  // As after 2,000 attempts.
  await runInDurableObject(webhook.object(), (_object, { storage: { sql } }) => {
    for (const table of [0, 1]) sql.exec(`delete from attempts_${table}`);
  });
  await webhook.evict();
  expect(await webhook.object().replayState(id)).toEqual({ id, state: "done", found: 1, sent: 1 });
  expect(await webhook.object().replay(webhook.webhookId, { failed: true })).toMatchObject({ outcome: "started" });
});
