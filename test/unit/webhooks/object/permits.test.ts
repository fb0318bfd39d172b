import { expect, test } from "vitest";
import { attemptBy, FakeSubscriptions, FakeWebhook } from "./fake-webhook.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A webhook that has answered one call with a 2xx. */
async function working(config: ConstructorParameters<typeof FakeWebhook>[0] = {}) {
  const webhook = new FakeWebhook(config);
  const subscriptions = new FakeSubscriptions(webhook);
  subscriptions.add("first");
  await webhook.run(SECOND);
  subscriptions.calls.length = 0;
  subscriptions.maxInFlight = 0;
  return { webhook, subscriptions };
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `chat ${n}`);

async function permitOf(webhook: FakeWebhook, subscriptionId: string): Promise<string> {
  const answer = await webhook.ask(subscriptionId);
  if (answer.outcome !== "granted") throw new Error(`the answer is ${JSON.stringify(answer)}`);
  return answer.permit;
}

test("a subscription has one permit until that is reported, given back or 35 seconds old", async () => {
  const { webhook } = await working();
  const first = await permitOf(webhook, "a");
  expect(await webhook.ask("a")).toEqual({ outcome: "later", waitMs: 35 * SECOND - 5, isWaiting: false, number: 0 });
  const second = await webhook.ask("a", { unused: first });
  expect(second).toMatchObject({ outcome: "granted" });
  // The first permit is no longer the subscription's.
  expect(await webhook.ask("a", { unused: first })).toMatchObject({ outcome: "later" });
  await webhook.run(35 * SECOND);
  const third = await permitOf(webhook, "a");
  await webhook.permits.report(attemptBy("a", third, 200, webhook.clock.now()));
  expect(await webhook.ask("a")).toMatchObject({ outcome: "granted" });
});

test("no more calls are under way than the concurrency, and the others start in order as calls end", async () => {
  const { webhook, subscriptions } = await working({ concurrency: 3 });
  subscriptions.callMs = 5 * SECOND;
  for (const name of names(12)) subscriptions.add(name);
  await webhook.run(2 * SECOND);
  expect(subscriptions.inFlight).toBe(3);
  expect(webhook.waiting.count()).toBe(9);
  await webhook.run(MINUTE);
  expect(subscriptions.pending).toBe(0);
  expect(subscriptions.maxInFlight).toBe(3);
  expect(subscriptions.calls.map(({ subscriptionId }) => subscriptionId)).toEqual(names(12));
  // Four rounds of five seconds: no slot waits for an alarm.
  const last = subscriptions.calls.at(-1)?.endedAt ?? 0;
  expect(last - (subscriptions.calls[0]?.startedAt ?? 0)).toBeLessThan(21 * SECOND);
});

test("a call that ends resumes few requests, however many subscriptions wait for its slot", async () => {
  const { webhook, subscriptions } = await working({ concurrency: 20 });
  subscriptions.callMs = 200;
  const before = webhook.reads;
  for (const name of names(500)) subscriptions.add(name, 2);
  await webhook.run(MINUTE);
  expect(subscriptions.pending).toBe(0);
  expect(subscriptions.maxInFlight).toBe(20);
  expect(subscriptions.calls).toHaveLength(1_000);
  expect((webhook.reads - before) / subscriptions.calls.length).toBeLessThan(4);
  // 20 calls at a time of 200 ms each take 10 seconds: no slot stays free for long.
  expect((subscriptions.calls.at(-1)?.endedAt ?? 0) - (subscriptions.calls[0]?.startedAt ?? 0)).toBeLessThan(
    12 * SECOND,
  );
});

test("a freed slot that a subscription does not take, because its start is far ahead, is offered to the next subscription", async () => {
  const { webhook } = await working({ concurrency: 2, perSecond: 1 });
  const busy = await permitOf(webhook, "busy");
  const answers: unknown[] = [];
  // It has the next start, a second from now.
  void webhook.permit("next");
  for (const name of ["a", "b"]) void webhook.permit(name).then((answer) => answers.push(answer));
  await webhook.clock.pass(10);
  expect(answers).toEqual([]);
  await webhook.permits.report(attemptBy("busy", busy, 200, webhook.clock.now()));
  await webhook.clock.pass(10);
  expect(answers).toMatchObject([
    { outcome: "later", isWaiting: false },
    { outcome: "later", isWaiting: false },
  ]);
});

test("subscriptions that wait only for the pace start apart from each other, without a row", async () => {
  const { webhook, subscriptions } = await working({ perSecond: 10 });
  for (const name of names(50)) subscriptions.add(name);
  await webhook.run(500);
  expect(webhook.waiting.count()).toBe(0);
  await webhook.run(10 * SECOND);
  expect(subscriptions.pending).toBe(0);
  const starts = subscriptions.calls.map(({ startedAt }) => startedAt);
  for (const [index, start] of starts.entries()) {
    if (index > 0) expect(start - (starts[index - 1] ?? 0)).toBeGreaterThanOrEqual(100);
  }
  expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThanOrEqual(5_000);
});

test("on trial, one call is under way at a time", async () => {
  const webhook = new FakeWebhook();
  const subscriptions = new FakeSubscriptions(webhook);
  subscriptions.answer = () => 400;
  for (const name of names(4)) subscriptions.add(name);
  await webhook.run(10 * SECOND);
  expect(subscriptions.calls.length).toBeGreaterThan(4);
  expect(subscriptions.maxInFlight).toBe(1);
});

test("a report that comes twice counts once", async () => {
  const { webhook } = await working();
  const permit = await permitOf(webhook, "a");
  for (let time = 0; time < 5; time++) {
    await webhook.permits.report(attemptBy("a", permit, 503, webhook.clock.now()));
  }
  expect(await webhook.permits.describe()).toMatchObject({ state: "ok" });
  expect(webhook.log).toHaveLength(2);
});

test("a dead receiver with 1,000 subscriptions gets the calls of the schedule, each by another subscription", async () => {
  const { webhook, subscriptions } = await working({ concurrency: 5 });
  subscriptions.answer = () => 503;
  for (const name of names(1_000)) subscriptions.add(name);
  await webhook.run(4 * HOUR);
  const before = subscriptions.calls.filter(
    ({ startedAt }) => startedAt - (subscriptions.calls[0]?.startedAt ?? 0) < SECOND,
  );
  // Five failures, and the calls that were under way then.
  expect(before.length).toBeLessThanOrEqual(10);
  const probes = subscriptions.calls.slice(before.length);
  // After 5, 15 s, 1, 5, 15, 30 min, and each hour.
  expect(probes.length).toBe(6 + 3);
  expect(new Set(probes.map(({ subscriptionId }) => subscriptionId)).size).toBe(probes.length);
  expect(webhook.notices.map(({ type }) => type)).toEqual(["webhook.failing"]);
  subscriptions.answer = () => 200;
  await webhook.run(2 * HOUR);
  expect(subscriptions.pending).toBe(0);
  expect(subscriptions.maxInFlight).toBeLessThanOrEqual(5);
  expect(webhook.waiting.count()).toBe(0);
  expect(webhook.alarmAt).toBeNull();
});

test("the subscription of the last probe makes the next one while the only other subscription does not answer", async () => {
  const { webhook, subscriptions } = await working();
  subscriptions.answer = () => 503;
  for (const name of ["a", "silent"]) subscriptions.add(name);
  const { onWake } = webhook;
  webhook.onWake = (subscriptionId, ...given) =>
    subscriptionId === "silent" ? new Promise(() => {}) : onWake(subscriptionId, ...given);
  await webhook.run(HOUR);
  const probes = subscriptions.calls.slice(-3);
  expect(probes.map(({ subscriptionId }) => subscriptionId)).toEqual(["a", "a", "a"]);
  // It is not woken only to be refused.
  expect(webhook.wakes).toBeLessThan(60);
});

test("a webhook that works again wakes its subscriptions in order, at its pace", async () => {
  const { webhook, subscriptions } = await working({ perSecond: 5 });
  await webhook.permits.disable("customer");
  for (const name of names(40)) subscriptions.add(name);
  await webhook.run(MINUTE);
  expect(subscriptions.calls).toEqual([]);
  await webhook.permits.enable("pending");
  await webhook.run(MINUTE);
  expect(subscriptions.calls.map(({ subscriptionId }) => subscriptionId)).toEqual(names(40));
  const [first, last] = [subscriptions.calls[0]?.startedAt ?? 0, subscriptions.calls.at(-1)?.startedAt ?? 0];
  expect(last - first).toBeGreaterThanOrEqual(39 * 200);
  expect(last - first).toBeLessThan(15 * SECOND);
});

test("a subscription that can't be reached keeps its row and delays no other", async () => {
  const { webhook, subscriptions } = await working();
  await webhook.permits.disable("customer");
  subscriptions.add("a");
  await webhook.run(SECOND);
  subscriptions.isDeaf = true;
  await webhook.permits.enable("pending");
  await webhook.run(SECOND);
  expect(webhook.wakes).toBe(1);
  expect(webhook.waiting.rows.map(({ subscriptionId }) => subscriptionId)).toEqual(["a"]);
  subscriptions.add("b");
  await webhook.run(SECOND);
  expect(subscriptions.calls.map(({ subscriptionId }) => subscriptionId)).toEqual(["b"]);
  subscriptions.isDeaf = false;
  await webhook.run(20 * SECOND);
  expect(subscriptions.calls.map(({ subscriptionId }) => subscriptionId)).toEqual(["b", "a"]);
});

test("a subscription that waits is woken, even if an old request of its was granted", async () => {
  const { webhook } = await working();
  await webhook.permits.disable("customer");
  await webhook.ask("a");
  webhook.onWake = () => {
    throw new Error("the subscription does not answer");
  };
  await webhook.permits.enable("pending");
  await permitOf(webhook, "a");
  expect(webhook.waiting.rows.map(({ subscriptionId }) => subscriptionId)).toEqual(["a"]);
  const woken: string[] = [];
  webhook.onWake = (subscriptionId) => woken.push(subscriptionId);
  await webhook.run(MINUTE);
  expect(woken).toEqual(["a"]);
  expect(webhook.waiting.rows).toEqual([]);
});

test("a pause that two subscriptions ask for holds all subscriptions, and a success of another call does not end it", async () => {
  const { webhook, subscriptions } = await working();
  const slow = await permitOf(webhook, "slow");
  const limited = [await permitOf(webhook, "a"), await permitOf(webhook, "b")];
  const now = webhook.clock.now();
  for (const [index, permit] of limited.entries()) {
    const report = attemptBy("ab"[index] ?? "", permit, 429, now);
    await webhook.permits.report({ ...report, retryAfterMs: 2 * MINUTE });
  }
  await webhook.permits.report(attemptBy("slow", slow, 200, now));
  for (const name of names(3)) subscriptions.add(name);
  await webhook.run(2 * MINUTE - 1);
  expect(subscriptions.calls).toEqual([]);
  await webhook.run(2 * SECOND);
  expect(subscriptions.calls).toHaveLength(3);
});

test("an evicted object keeps its state, and wakes its subscriptions when the breaker lets it", async () => {
  const { webhook, subscriptions } = await working();
  subscriptions.answer = () => 503;
  for (const name of names(8)) subscriptions.add(name);
  await webhook.run(2 * SECOND);
  webhook.evict();
  expect(await webhook.permits.describe()).toMatchObject({ state: "failing" });
  subscriptions.answer = () => 200;
  await webhook.run(HOUR);
  expect(subscriptions.pending).toBe(0);
});

test("a subscription that waits for the start of its probe makes no probe if another subscription's probe fails first", async () => {
  const { webhook } = await working({ perSecond: 1 });
  const { clock, permits } = webhook;
  for (let failures = 0; failures < 5; failures++) {
    await clock.pass(SECOND);
    await permits.report(attemptBy("a", await permitOf(webhook, "a"), 503, clock.now()));
  }
  await webhook.ask("b");
  const woken: string[] = [];
  const answers: unknown[] = [];
  webhook.onWake = (subscriptionId) => {
    woken.push(subscriptionId);
    void webhook.permit(subscriptionId).then((answer) => answers.push(answer));
  };
  await clock.pass(5 * SECOND);
  const probe = await permitOf(webhook, "old");
  webhook.evict();
  const unused = await permitOf(webhook, "c");
  await webhook.ask("c", { unused });
  expect(woken).toEqual(["b"]);
  await webhook.permits.report(attemptBy("old", probe, 503, clock.now()));
  await clock.pass(SECOND);
  expect(answers).toMatchObject([{ outcome: "later", isWaiting: true }]);
  // `c` had the permit for the last probe, so `b` is woken again.
  await webhook.run(15 * SECOND);
  expect(woken).toEqual(["b", "b"]);
  expect(answers).toMatchObject([{ outcome: "later" }, { outcome: "granted" }]);
});

test("a healthy webhook's calls store nothing but the attempts", async () => {
  const { webhook, subscriptions } = await working();
  const { writes } = webhook;
  subscriptions.add("a", 100);
  await webhook.run(MINUTE);
  expect(subscriptions.calls).toHaveLength(100);
  expect(webhook.writes).toBe(writes);
  expect(webhook.alarmAt).toBeNull();
});

test("subscriptions that skip events take no slot from the others", async () => {
  const webhook = new FakeWebhook();
  await webhook.permits.disable("customer");
  for (const name of names(30)) await webhook.ask(name);
  webhook.clock.advance(SECOND);
  const before = webhook.clock.now();
  const old = { at: before - SECOND };
  const asked: unknown[] = [];
  webhook.onWake = async (subscriptionId) => asked.push(await webhook.permit(subscriptionId, old));
  await webhook.permits.enable("now");
  await webhook.run(MINUTE);
  expect(asked).toEqual(Array(30).fill({ outcome: "skip", before }));
  expect(webhook.waiting.count()).toBe(0);
  const unused = await permitOf(webhook, "new");
  const replay = { ...old, unused, replayId: "rpl_g000000000000000" };
  expect(await webhook.ask("new", replay)).toMatchObject({ outcome: "granted" });
});

test("a report that could not be stored counts when it is repeated, and only then frees the slot", async () => {
  const { webhook } = await working({ concurrency: 1 });
  for (let failure = 1; failure <= 5; failure++) {
    const report = attemptBy("a", await permitOf(webhook, "a"), 503, webhook.clock.now());
    webhook.logFails = 1;
    await expect(webhook.permits.report(report)).rejects.toThrow("locked");
    expect(await webhook.permits.describe()).toMatchObject({ state: "ok" });
    expect(await webhook.ask("a")).toMatchObject({ outcome: "later" });
    await webhook.permits.report(report);
    await webhook.permits.report(report);
  }
  expect(webhook.log.filter(({ attempt }) => attempt.httpStatus === 503)).toHaveLength(5);
  expect(await webhook.permits.describe()).toMatchObject({ state: "failing" });
});

test("a request that waits for a slot or for its start gets a filter that is set meanwhile, and no call", async () => {
  const { webhook } = await working({ concurrency: 2, perSecond: 1 });
  const held = await permitOf(webhook, "held");
  const answers: unknown[] = [];
  // It has the next start, a second from now.
  for (const name of ["start", "slot"]) void webhook.permit(name).then((answer) => answers.push(answer));
  await webhook.clock.pass(10);
  webhook.config = { ...webhook.config, payload: "thin", filter: { ...webhook.config.filter, version: 2 } };
  await webhook.permits.refresh();
  await webhook.permits.report(attemptBy("held", held, 200, webhook.clock.now()));
  await webhook.clock.pass(1_000);
  expect(answers).toMatchObject([
    { outcome: "changed", filter: { version: 2 } },
    { outcome: "changed", filter: { version: 2 } },
  ]);
});

test("a call whose start comes after a rotation is signed with the new secret", async () => {
  const { webhook } = await working({ perSecond: 1 });
  await permitOf(webhook, "first");
  const answer = webhook.permit("second");
  await webhook.clock.pass(10);
  webhook.config = { ...webhook.config, secrets: ["whsec_2"] };
  await webhook.permits.refresh();
  await webhook.clock.pass(1_000);
  expect(await answer).toMatchObject({ outcome: "granted", secrets: ["whsec_2"] });
});
