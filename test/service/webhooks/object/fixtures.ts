import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { directory } from "../../../../src/db/client.ts";
import { webhooks } from "../../../../src/db/schema.ts";
import { eventId } from "../../../../src/model/event.ts";
import { newId } from "../../../../src/model/id.ts";
import type { WebhookAttempt, WebhookPermitAnswer, WebhookPermitRequest } from "../../../../src/model/webhook.ts";
import { seal, sealingKeys } from "../../../../src/secrets/sealing.ts";
import { judgeAnswer } from "../../../../src/webhooks/subscription/retry.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { newOrganization } from "../../../support/harness.ts";
import { until } from "../../../support/until.ts";

export const SECRET = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ=";

type Row = Partial<typeof webhooks.$inferInsert>;

/** Adds a webhook's row to the directory. Its URL has its id. */
export async function insertWebhook(organizationId: string, settings: Row = {}): Promise<string> {
  const id = newId("whk", null);
  await directory(env)
    .insert(webhooks)
    .values({
      id,
      organizationId,
      url: `https://customer.test/${id}`,
      secret: await seal(sealingKeys(env), { id, column: "secret" }, SECRET),
      types: null,
      channels: null,
      payload: "full",
      perSecond: 500,
      concurrency: 20,
      version: 1,
      createdBy: "operator",
      createdAt: Date.now(),
      ...settings,
    });
  return id;
}

/** A webhook in the directory, and its object. A stub is of no use after an eviction, so each call has its own. */
export async function newWebhook(settings: Row = {}) {
  const { organizationId } = await newOrganization();
  const webhookId = await insertWebhook(organizationId, { url: "https://customer.test/hook", ...settings });
  const object = () => env.WEBHOOKS.getByName(webhookId);
  const permit = (subscription: number, rest: Partial<WebhookPermitRequest> = {}): Promise<WebhookPermitAnswer> =>
    object().permit({
      webhookId,
      lineId: subscriptionOf(subscription),
      number: 1,
      at: Date.now(),
      version: 1,
      replayId: null,
      report: null,
      ...rest,
    });
  const granted = async (subscription: number, rest: Partial<WebhookPermitRequest> = {}) => {
    const answer = await permit(subscription, rest);
    if (answer.outcome !== "granted") throw new Error(`the answer is ${JSON.stringify(answer)}`);
    return answer;
  };
  const report = (subscription: number, given: Partial<WebhookAttempt>) =>
    object().report(webhookId, attemptOf(subscription, given)) as Promise<void>;
  /** A subscription gets a permit, calls the webhook and reports its answer. */
  const attempt = async (subscription: number, httpStatus: number | null, given: Partial<WebhookAttempt> = {}) => {
    const { permit: used } = await granted(subscription);
    await report(subscription, { ...answered(httpStatus), permit: used, ...given });
  };
  const describe = async () => {
    const description = await object().describe(webhookId);
    if (!description) throw new Error("the webhook is gone");
    return description;
  };
  const evict = () => evictDurableObject(object());
  const alarm = () => runAlarm(object());
  return { organizationId, webhookId, object, permit, granted, report, attempt, describe, evict, alarm };
}

export type TestWebhook = Awaited<ReturnType<typeof newWebhook>>;

export function subscriptionOf(subscription: number): string {
  return `cht_g${String(subscription).padStart(15, "0")}`;
}

function answered(httpStatus: number | null): Partial<WebhookAttempt> {
  const judged = judgeAnswer(httpStatus);
  return {
    httpStatus,
    code: judged.code,
    message: judged.message,
    outcome: judged.class === "accepted" ? "accepted" : "retry",
  };
}

/** How an attempt of a subscription ended: with a 200 unless told otherwise. */
export function attemptOf(subscription: number, given: Partial<WebhookAttempt>): WebhookAttempt {
  const number = given.number ?? 1;
  return {
    permit: "",
    lineId: subscriptionOf(subscription),
    number,
    eventId: eventId(subscriptionOf(subscription), "0AbCdEf1", number),
    eventType: "message.received",
    replayId: null,
    startedAt: Date.now(),
    durationMs: 12,
    retryAfterMs: null,
    outcome: "accepted",
    httpStatus: 200,
    code: "ok",
    message: "The webhook answered 200",
    ...given,
  };
}

/** Makes a webhook fail: five subscriptions get a 503. */
export async function breakWebhook({ attempt }: TestWebhook): Promise<void> {
  for (let subscription = 1; subscription <= 5; subscription++) await attempt(subscription, 503);
}

/** What a chat is asked to send again. */
export interface Replayed {
  subscriptionId: string;
  replayId: string;
  ranges: [number, number][];
}

/**
 * Replaces the chats by ones that record when they are woken and what they must send again. `onReplay` says how many
 * events they find; undefined for all.
 */
export function fakeSubscriptions({
  onWake,
  onReplay,
}: {
  onWake?: (subscriptionId: string, number: number, startedAt: number) => unknown;
  onReplay?: (asked: Replayed) => number | null | undefined | Promise<number | null | undefined>;
} = {}) {
  const woken: string[] = [];
  const replayed: Replayed[] = [];
  vi.spyOn(env.CHATS, "getByName").mockImplementation(
    (subscriptionId) =>
      ({
        wakeWebhook: async (_webhookId: string, number: number, startedAt: number) => {
          woken.push(subscriptionId);
          await onWake?.(subscriptionId, number, startedAt);
        },
        replayEvents: async (_webhookId: string, replayId: string, ranges: [number, number][]) => {
          const asked = { subscriptionId, replayId, ranges };
          replayed.push(asked);
          const found = await onReplay?.(asked);
          if (found !== undefined) return found;
          return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
        },
      }) as unknown as ReturnType<typeof env.CHATS.getByName>,
  );
  return { woken, replayed };
}

/**
 * Records the events of the organization that webhooks cause. `fails`: the organization does not answer. `pointers`:
 * its feed.
 */
export function fakeOrganization({
  fails = () => false,
  pointers = () => [],
}: {
  fails?: () => boolean;
  pointers?: (since: number, until: number, after: number) => unknown[];
} = {}) {
  const events: { type: string; note: Record<string, unknown>; source: string }[] = [];
  vi.spyOn(env.ORGANIZATIONS, "getByName").mockImplementation(
    () =>
      ({
        webhookEvent: async (_id: string, type: string, note: Record<string, unknown>, source: string) => {
          if (fails()) throw new Error("the organization does not answer");
          events.push({ type, note, source });
        },
        reportWebhook: async () => {
          if (fails()) throw new Error("the organization does not answer");
        },
        pointersBetween: async (since: number, until: number, after: number) => pointers(since, until, after),
        // The organization's own subscription.
        replayEvents: async () => 0,
      }) as unknown as ReturnType<typeof env.ORGANIZATIONS.getByName>,
  );
  return events;
}

/** Waits until this many events of a replay were found. */
export async function untilFound({ object }: Pick<TestWebhook, "object">, id: string, found: number): Promise<void> {
  await until(
    `the replay has found ${found}`,
    async () => await object().replayState(id),
    (state) => state?.found === found,
  );
}

/** The subscriptions that wait, in order. */
export function waitingSubscriptions(object: DurableObjectStub): Promise<string[]> {
  return runInDurableObject(object, (_object, { storage }) =>
    storage.sql
      .exec<{ line: string }>("select line from waiting order by place")
      .toArray()
      .map(({ line }) => line),
  );
}

export async function expectState(webhook: TestWebhook, state: Record<string, unknown>): Promise<void> {
  expect(await webhook.describe()).toMatchObject(state);
}
