import { expect, test } from "vitest";
import { nextTry } from "../../../../src/webhooks/subscription/retry.ts";
import type { FakeClock } from "../../platform/fake-clock.ts";
import { FakeWebhook } from "../object/fake-webhook.ts";
import { DAY, HOOK_URL, MINUTE, SECOND, SubscriptionOwner } from "./owner.ts";

const HOUR = 60 * MINUTE;
const CALL_MS = 100;

/** Chats that send their events to one webhook. Their subscriptions ask the real permits of its object. */
class Place {
  readonly webhook = new FakeWebhook({ url: HOOK_URL });
  readonly #clock: FakeClock = this.webhook.clock;
  readonly #webhookId = this.webhook.config.filter.id;
  readonly #chats = new Map<string, SubscriptionOwner>();
  /** How the receiver answers an event of a chat. */
  status: (subscriptionId: string, number: number) => number = () => 200;

  constructor() {
    this.webhook.onWake = (subscriptionId, number) => {
      const chat = this.chat(subscriptionId);
      chat.subscriptions.wake(this.#webhookId, number);
      void this.#run(chat);
    };
  }

  chat(subscriptionId: string): SubscriptionOwner {
    const known = this.#chats.get(subscriptionId);
    if (known) return known;
    const chat = new SubscriptionOwner({ clock: this.#clock, subscriptionId });
    chat.permit = (request) => this.webhook.permits.permit(request);
    chat.report = (attempt) => this.webhook.permits.report(attempt);
    chat.answer = async ({ body }) => {
      const code = this.status(subscriptionId, body.number);
      await this.#clock.wait(CALL_MS);
      return new Response(null, { status: code });
    };
    chat.configure({ [this.#webhookId]: {} });
    this.#chats.set(subscriptionId, chat);
    return chat;
  }

  /** Something happens in a chat, at a time from now on. */
  append(subscriptionId: string, afterMs = 0): void {
    this.#clock.timer(afterMs, () => {
      const chat = this.chat(subscriptionId);
      chat.append("message.received");
      void this.#run(chat);
    });
  }

  /** The calls for a chat's events: each event's number, and when the call began. */
  calls(subscriptionId: string): [number, number][] {
    return this.chat(subscriptionId).calls.map(({ body, at }) => [body.number, at]);
  }

  /** Lets time pass, with the alarms of the chats and of the webhook's object. */
  async pass(ms: number): Promise<void> {
    const until = this.#clock.now() + ms;
    for (;;) {
      await allSettles();
      const next = Math.min(this.#clock.nextAt ?? until, this.webhook.alarmAt ?? until, until);
      this.#clock.advance(Math.max(0, next - this.#clock.now()));
      await allSettles();
      const { alarmAt } = this.webhook;
      if (alarmAt !== null && alarmAt <= this.#clock.now()) await this.webhook.ring();
      else if (next >= until) return;
    }
  }

  async #run(chat: SubscriptionOwner): Promise<void> {
    await chat.subscriptions.run();
    const at = chat.subscriptions.dueAt(this.#clock.now());
    if (at !== null) this.#clock.timer(Math.max(1, at - this.#clock.now()), () => void this.#run(chat));
  }
}

/** Lets all promises settle that wait for no timer. */
async function allSettles(): Promise<void> {
  for (let turn = 0; turn < 300; turn++) await Promise.resolve();
}

const HEALTHY = ["cht_g1", "cht_g2", "cht_g3", "cht_g4"];
const ILL = "cht_g9";
const TRIES = 15;

/**
 * Four chats have an event each minute, and later each hour. One of them also has an event a second after each try of
 * the first event of a fifth chat, which is `answered`.
 */
async function besides(answered: number): Promise<Place> {
  const place = new Place();
  place.status = (subscriptionId, number) => (subscriptionId === ILL && number === 1 ? answered : 200);
  for (const [index, subscriptionId] of HEALTHY.entries()) {
    const at = (index + 1) * 7_003;
    for (let minute = 0; minute < 60; minute++) place.append(subscriptionId, at + minute * MINUTE);
    for (let hour = 1; hour < 4 * 24; hour++) place.append(subscriptionId, at + hour * HOUR + index * 15 * MINUTE);
  }
  for (const ms of [10 * SECOND, 11 * SECOND]) place.append(ILL, ms);
  for (let [tries, at] = [1, 10 * SECOND]; tries <= TRIES; tries++) {
    at += CALL_MS;
    place.append("cht_g1", at + SECOND);
    at += nextTry(tries, "unavailable", 0.5) ?? 0;
  }
  await place.pass(4 * DAY);
  return place;
}

test("an event that is always answered 500 delays only the events of its own chat", async () => {
  const [ill, well] = [await besides(500), await besides(200)];
  for (const subscriptionId of HEALTHY) {
    expect(ill.calls(subscriptionId).length).toBeGreaterThan(150);
    expect(ill.calls(subscriptionId)).toEqual(well.calls(subscriptionId));
  }
  expect(well.calls(ILL).map(([number]) => number)).toEqual([1, 2]);
  // The second event follows once the first is given up.
  expect(ill.calls(ILL).map(([number]) => number)).toEqual([...Array(TRIES).fill(1), 2]);
  expect(await ill.webhook.permits.describe()).toMatchObject({ state: "ok" });
});

test.each([
  { failures: 4, waitMs: 0 },
  { failures: 5, waitMs: 5 * SECOND },
  { failures: 6, waitMs: 5 * SECOND },
  { failures: 11, waitMs: 5 * SECOND },
  { failures: 14, waitMs: 5 * SECOND },
])(
  "if a webhook gets nothing else, an event that is answered 500 delays another chat by five seconds at most: $failures tries",
  async (given) => {
    const { failures, waitMs } = given;
    const place = new Place();
    place.status = (subscriptionId) => {
      if (subscriptionId !== ILL) return 200;
      if (place.calls(ILL).length === failures) place.append("cht_g1", CALL_MS + SECOND);
      return 500;
    };
    place.append("cht_g1");
    place.append(ILL, SECOND);
    await place.pass(4 * DAY);
    const [, failedAt] = place.calls(ILL)[failures - 1] as [number, number];
    const wait = CALL_MS + Math.max(SECOND, waitMs);
    expect(place.calls("cht_g1").at(-1)).toEqual([2, failedAt + wait]);
  },
);

/** From here on, the webhook's object can't read its configuration. @returns what ends this */
function breakConfiguration({ webhook }: Place): () => void {
  const { read } = webhook;
  webhook.read = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
  return () => {
    webhook.read = read;
  };
}

test("if the configuration can't be read, subscriptions ask again, later each time, and then send each event once", async () => {
  const place = new Place();
  const repair = breakConfiguration(place);
  for (let event = 0; event < 3; event++) place.append("cht_g1", event * SECOND);
  await place.pass(MINUTE);
  expect(place.calls("cht_g1")).toEqual([]);
  // Each wait is twice as long as the one before it.
  expect(place.chat("cht_g1").requests).toHaveLength(4);
  expect([place.webhook.waiting.count(), place.webhook.alarmAt]).toEqual([0, null]);
  repair();
  await place.pass(MINUTE);
  expect(place.calls("cht_g1").map(([number]) => number)).toEqual([1, 2, 3]);
  expect(place.webhook.log.map(({ attempt }) => attempt.number)).toEqual([1, 2, 3]);
});

test("an attempt that ends while the configuration can't be read is reported afterward, once", async () => {
  const place = new Place();
  let repair = () => {};
  place.status = (_subscriptionId, number) => {
    if (number === 1) repair = breakConfiguration(place);
    return 200;
  };
  for (let event = 0; event < 2; event++) place.append("cht_g1");
  await place.pass(MINUTE);
  expect(place.calls("cht_g1").map(([number]) => number)).toEqual([1]);
  expect(place.webhook.log).toEqual([]);
  repair();
  await place.pass(5 * MINUTE);
  expect(place.calls("cht_g1").map(([number]) => number)).toEqual([1, 2]);
  expect(place.webhook.log.map(({ attempt }) => attempt.number)).toEqual([1, 2]);
  expect(await place.webhook.permits.describe()).toMatchObject({ state: "ok" });
});
