import { expect, test } from "vitest";
import { attemptBy, FakeLines, FakeWebhook } from "./fake-webhook.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A webhook that has answered one call with a 2xx. */
async function working(config: ConstructorParameters<typeof FakeWebhook>[0] = {}) {
  const webhook = new FakeWebhook(config);
  const lines = new FakeLines(webhook);
  lines.add("first");
  await webhook.run(SECOND);
  lines.calls.length = 0;
  lines.maxInFlight = 0;
  return { webhook, lines };
}

const names = (count: number) => Array.from({ length: count }, (_, line) => `line ${line}`);

async function permitOf(webhook: FakeWebhook, lineId: string): Promise<string> {
  const answer = await webhook.ask(lineId);
  if (answer.outcome !== "granted") throw new Error(`the answer is ${JSON.stringify(answer)}`);
  return answer.permit;
}

test("a line has one permit until that is reported, given back or 35 seconds old", async () => {
  const { webhook } = await working();
  const first = await permitOf(webhook, "a");
  expect(await webhook.ask("a")).toEqual({ outcome: "later", waitMs: 35 * SECOND - 5, isWaiting: false, number: 0 });
  const second = await webhook.ask("a", { unused: first });
  expect(second).toMatchObject({ outcome: "granted" });
  // The first permit is no longer the line's.
  expect(await webhook.ask("a", { unused: first })).toMatchObject({ outcome: "later" });
  await webhook.run(35 * SECOND);
  const third = await permitOf(webhook, "a");
  await webhook.permits.report(attemptBy("a", third, 200, webhook.clock.now()));
  expect(await webhook.ask("a")).toMatchObject({ outcome: "granted" });
});

test("no more calls are under way than the concurrency, and the others start in order as calls end", async () => {
  const { webhook, lines } = await working({ concurrency: 3 });
  lines.callMs = 5 * SECOND;
  for (const name of names(12)) lines.add(name);
  await webhook.run(2 * SECOND);
  expect(lines.inFlight).toBe(3);
  expect(webhook.waiting.count()).toBe(9);
  await webhook.run(MINUTE);
  expect(lines.pending).toBe(0);
  expect(lines.maxInFlight).toBe(3);
  expect(lines.calls.map(({ lineId }) => lineId)).toEqual(names(12));
  // Four rounds of five seconds: no slot waits for an alarm.
  const last = lines.calls.at(-1)?.endedAt ?? 0;
  expect(last - (lines.calls[0]?.startedAt ?? 0)).toBeLessThan(21 * SECOND);
});

test("a call that ends resumes few requests, however many lines wait for its slot", async () => {
  const { webhook, lines } = await working({ concurrency: 20 });
  lines.callMs = 200;
  const before = webhook.reads;
  for (const name of names(500)) lines.add(name, 2);
  await webhook.run(MINUTE);
  expect(lines.pending).toBe(0);
  expect(lines.maxInFlight).toBe(20);
  expect(lines.calls).toHaveLength(1_000);
  expect((webhook.reads - before) / lines.calls.length).toBeLessThan(4);
  // 20 calls at a time of 200 ms each take 10 seconds: no slot stays free for long.
  expect((lines.calls.at(-1)?.endedAt ?? 0) - (lines.calls[0]?.startedAt ?? 0)).toBeLessThan(12 * SECOND);
});

test("a freed slot that a line does not take, because its start is far ahead, is offered to the next line", async () => {
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

test("lines that wait only for the pace start apart from each other, without a row", async () => {
  const { webhook, lines } = await working({ perSecond: 10 });
  for (const name of names(50)) lines.add(name);
  await webhook.run(500);
  expect(webhook.waiting.count()).toBe(0);
  await webhook.run(10 * SECOND);
  expect(lines.pending).toBe(0);
  const starts = lines.calls.map(({ startedAt }) => startedAt);
  for (const [index, start] of starts.entries()) {
    if (index > 0) expect(start - (starts[index - 1] ?? 0)).toBeGreaterThanOrEqual(100);
  }
  expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThanOrEqual(5_000);
});

test("on trial, one call is under way at a time", async () => {
  const webhook = new FakeWebhook();
  const lines = new FakeLines(webhook);
  lines.answer = () => 400;
  for (const name of names(4)) lines.add(name);
  await webhook.run(10 * SECOND);
  expect(lines.calls.length).toBeGreaterThan(4);
  expect(lines.maxInFlight).toBe(1);
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

test("a dead receiver with 1,000 lines gets the calls of the schedule, each by another line", async () => {
  const { webhook, lines } = await working({ concurrency: 5 });
  lines.answer = () => 503;
  for (const name of names(1_000)) lines.add(name);
  await webhook.run(4 * HOUR);
  const before = lines.calls.filter(({ startedAt }) => startedAt - (lines.calls[0]?.startedAt ?? 0) < SECOND);
  // Five failures, and the calls that were under way then.
  expect(before.length).toBeLessThanOrEqual(10);
  const probes = lines.calls.slice(before.length);
  // After 5, 15 s, 1, 5, 15, 30 min, and each hour.
  expect(probes.length).toBe(6 + 3);
  expect(new Set(probes.map(({ lineId }) => lineId)).size).toBe(probes.length);
  expect(webhook.notices.map(({ type }) => type)).toEqual(["webhook.failing"]);
  lines.answer = () => 200;
  await webhook.run(2 * HOUR);
  expect(lines.pending).toBe(0);
  expect(lines.maxInFlight).toBeLessThanOrEqual(5);
  expect(webhook.waiting.count()).toBe(0);
  expect(webhook.alarmAt).toBeNull();
});

test("the line of the last probe makes the next one while the only other line does not answer", async () => {
  const { webhook, lines } = await working();
  lines.answer = () => 503;
  for (const name of ["a", "silent"]) lines.add(name);
  const { onWake } = webhook;
  webhook.onWake = (lineId, ...given) => (lineId === "silent" ? new Promise(() => {}) : onWake(lineId, ...given));
  await webhook.run(HOUR);
  const probes = lines.calls.slice(-3);
  expect(probes.map(({ lineId }) => lineId)).toEqual(["a", "a", "a"]);
  // It is not woken only to be refused.
  expect(webhook.wakes).toBeLessThan(60);
});

test("a webhook that works again wakes its lines in order, at its pace", async () => {
  const { webhook, lines } = await working({ perSecond: 5 });
  await webhook.permits.disable("customer");
  for (const name of names(40)) lines.add(name);
  await webhook.run(MINUTE);
  expect(lines.calls).toEqual([]);
  await webhook.permits.enable("pending");
  await webhook.run(MINUTE);
  expect(lines.calls.map(({ lineId }) => lineId)).toEqual(names(40));
  const [first, last] = [lines.calls[0]?.startedAt ?? 0, lines.calls.at(-1)?.startedAt ?? 0];
  expect(last - first).toBeGreaterThanOrEqual(39 * 200);
  expect(last - first).toBeLessThan(15 * SECOND);
});

test("a line that can't be reached keeps its row and delays no other", async () => {
  const { webhook, lines } = await working();
  await webhook.permits.disable("customer");
  lines.add("a");
  await webhook.run(SECOND);
  lines.isDeaf = true;
  await webhook.permits.enable("pending");
  await webhook.run(SECOND);
  expect(webhook.wakes).toBe(1);
  expect(webhook.waiting.rows.map(({ lineId }) => lineId)).toEqual(["a"]);
  lines.add("b");
  await webhook.run(SECOND);
  expect(lines.calls.map(({ lineId }) => lineId)).toEqual(["b"]);
  lines.isDeaf = false;
  await webhook.run(20 * SECOND);
  expect(lines.calls.map(({ lineId }) => lineId)).toEqual(["b", "a"]);
});

test("a line that waits is woken, even if an old request of its was granted", async () => {
  const { webhook } = await working();
  await webhook.permits.disable("customer");
  await webhook.ask("a");
  webhook.onWake = () => {
    throw new Error("the line does not answer");
  };
  await webhook.permits.enable("pending");
  await permitOf(webhook, "a");
  expect(webhook.waiting.rows.map(({ lineId }) => lineId)).toEqual(["a"]);
  const woken: string[] = [];
  webhook.onWake = (lineId) => woken.push(lineId);
  await webhook.run(MINUTE);
  expect(woken).toEqual(["a"]);
  expect(webhook.waiting.rows).toEqual([]);
});

test("a pause that two lines ask for holds all lines, and a success of another call does not end it", async () => {
  const { webhook, lines } = await working();
  const slow = await permitOf(webhook, "slow");
  const limited = [await permitOf(webhook, "a"), await permitOf(webhook, "b")];
  const now = webhook.clock.now();
  for (const [index, permit] of limited.entries()) {
    const report = attemptBy("ab"[index] ?? "", permit, 429, now);
    await webhook.permits.report({ ...report, retryAfterMs: 2 * MINUTE });
  }
  await webhook.permits.report(attemptBy("slow", slow, 200, now));
  for (const name of names(3)) lines.add(name);
  await webhook.run(2 * MINUTE - 1);
  expect(lines.calls).toEqual([]);
  await webhook.run(2 * SECOND);
  expect(lines.calls).toHaveLength(3);
});

test("an evicted object keeps its state, and wakes its lines when the breaker lets it", async () => {
  const { webhook, lines } = await working();
  lines.answer = () => 503;
  for (const name of names(8)) lines.add(name);
  await webhook.run(2 * SECOND);
  webhook.evict();
  expect(await webhook.permits.describe()).toMatchObject({ state: "failing" });
  lines.answer = () => 200;
  await webhook.run(HOUR);
  expect(lines.pending).toBe(0);
});

test("a line that waits for the start of its probe makes no probe if another line's probe fails first", async () => {
  const { webhook } = await working({ perSecond: 1 });
  const { clock, permits } = webhook;
  for (let failures = 0; failures < 5; failures++) {
    await clock.pass(SECOND);
    await permits.report(attemptBy("a", await permitOf(webhook, "a"), 503, clock.now()));
  }
  await webhook.ask("b");
  const woken: string[] = [];
  const answers: unknown[] = [];
  webhook.onWake = (lineId) => {
    woken.push(lineId);
    void webhook.permit(lineId).then((answer) => answers.push(answer));
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
  const { webhook, lines } = await working();
  const { writes } = webhook;
  lines.add("a", 100);
  await webhook.run(MINUTE);
  expect(lines.calls).toHaveLength(100);
  expect(webhook.writes).toBe(writes);
  expect(webhook.alarmAt).toBeNull();
});

test("lines that skip events take no slot from the others", async () => {
  const webhook = new FakeWebhook();
  await webhook.permits.disable("customer");
  for (const name of names(30)) await webhook.ask(name);
  webhook.clock.advance(SECOND);
  const before = webhook.clock.now();
  const old = { at: before - SECOND };
  const asked: unknown[] = [];
  webhook.onWake = async (lineId) => asked.push(await webhook.permit(lineId, old));
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
