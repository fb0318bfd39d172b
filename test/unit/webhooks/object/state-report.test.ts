import { expect, test } from "vitest";
import { FakeSubscriptions, FakeWebhook } from "./fake-webhook.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A webhook that has answered one call with a 2xx. */
async function working() {
  const webhook = new FakeWebhook();
  new FakeSubscriptions(webhook).add("first");
  await webhook.run(SECOND);
  return webhook;
}

const reported = (webhook: FakeWebhook) => webhook.stateReports.map(({ state, reason }) => [state, reason]);

test("a webhook that works is not reported", async () => {
  const webhook = await working();
  await webhook.run(MINUTE);
  expect(webhook.stateReports).toEqual([]);
});

test("each state is reported once, also if the object is lost before", async () => {
  const webhook = await working();
  await webhook.permits.disable("customer");
  webhook.evict();
  await webhook.run(MINUTE);
  expect(reported(webhook)).toEqual([["disabled", "customer"]]);
  await webhook.permits.enable("pending");
  await webhook.run(MINUTE);
  webhook.evict();
  await webhook.run(MINUTE);
  expect(reported(webhook)).toEqual([
    ["disabled", "customer"],
    ["ok", null],
  ]);
});

test("a report that the organization does not accept is repeated, each time later, and then only with the last state", async () => {
  const webhook = await working();
  const tried: number[] = [];
  webhook.onStateReport = () => {
    tried.push(webhook.clock.now());
    throw new Error("the organization does not answer");
  };
  await webhook.permits.disable("customer");
  await webhook.run(2 * MINUTE);
  const waits = tried.slice(1).map((at, n) => at - (tried[n] ?? 0));
  expect(waits.slice(0, 2)).toEqual([15 * SECOND, 30 * SECOND]);
  expect(webhook.warnings.every(({ event }) => event === "state_not_reported")).toBe(true);
  await webhook.permits.enable("pending");
  await webhook.run(MINUTE);
  webhook.onStateReport = () => {};
  await webhook.permits.disable("operator");
  await webhook.run(15 * MINUTE);
  expect(reported(webhook)).toEqual([["disabled", "operator"]]);
});
