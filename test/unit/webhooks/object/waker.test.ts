import { expect, test } from "vitest";
import { settle } from "../../platform/fake-clock.ts";
import { FakeWebhook } from "./fake-webhook.ts";

test("a subscription that never answers its wake-up is woken again, and holds up no other", async () => {
  const webhook = new FakeWebhook({ concurrency: 1 });
  const woken: string[] = [];
  webhook.onWake = (subscriptionId) => {
    woken.push(subscriptionId);
    return subscriptionId === "silent" ? new Promise(() => {}) : undefined;
  };
  await webhook.permits.disable("customer");
  for (const subscriptionId of ["silent", "other"]) await webhook.permit(subscriptionId);
  await webhook.permits.enable("pending");
  await settle();
  expect(woken).toEqual(["silent"]);
  await webhook.run(20_000);
  expect(woken).toContain("other");
  await webhook.run(40_000);
  const times = () => woken.filter((subscriptionId) => subscriptionId === "silent").length;
  expect(times()).toBeGreaterThanOrEqual(2);
  expect(webhook.warnings).toContainEqual(
    expect.objectContaining({ event: "line_not_woken", lineId: "silent", tries: 2 }),
  );
  // Ever later: a wait of five minutes at most, and of ten seconds for its answer.
  await webhook.run(3_600_000);
  expect(times()).toBeGreaterThan(10);
  expect(times()).toBeLessThan(20);
});

test("within many other calls nobody is woken, but in an alarm at once", async () => {
  const webhook = new FakeWebhook();
  const woken: string[] = [];
  webhook.onWake = (subscriptionId) => void woken.push(subscriptionId);
  await webhook.permits.disable("customer");
  for (const subscriptionId of ["one", "other"]) await webhook.permit(subscriptionId);
  webhook.isDeep = true;
  await webhook.permits.enable("pending");
  await settle();
  expect(woken).toEqual([]);
  expect(webhook.alarmAt).toBe(webhook.clock.now());
  webhook.isDeep = false;
  await webhook.run(0);
  // Until the first answer, one at a time.
  expect(woken).toEqual(["one"]);
});

test("a notice that the organization never takes holds up no other, and is sent again ever later", async () => {
  const webhook = new FakeWebhook();
  const sent: string[] = [];
  webhook.onNotice = (id) => {
    sent.push(id);
    if (id.startsWith("disabled:")) throw new Error("A fault of the organization's object");
  };
  await webhook.permits.disable("operator");
  const act = { id: "act_1" } as never;
  await webhook.permits.enable("now");
  await webhook.permits.disable("customer", act);
  await webhook.run(3_600_000);
  expect(sent.filter((id) => id === "act_1")).toEqual(["act_1"]);
  const [bad = ""] = sent.filter((id) => id.startsWith("disabled:"));
  const times = sent.filter((id) => id === bad).length;
  expect(times).toBeGreaterThan(6);
  expect(times).toBeLessThan(15);
  expect(webhook.warnings).toContainEqual(
    expect.objectContaining({ event: "notice_not_taken", id: bad, tries: times }),
  );
});

test("subscriptions that have nothing to send, such as those of deleted chats, hold up no other", async () => {
  const webhook = new FakeWebhook({ concurrency: 2, perSecond: 1 });
  const woken: string[] = [];
  webhook.onWake = (subscriptionId) => {
    woken.push(subscriptionId);
    return subscriptionId === "other" ? undefined : null;
  };
  await webhook.permits.disable("customer");
  for (let subscription = 0; subscription < 100; subscription++) await webhook.permit(`deleted ${subscription}`);
  await webhook.permit("other");
  await webhook.permits.enable("pending");
  await webhook.run(2_000);
  expect(woken).toHaveLength(101);
  expect(woken).toContain("other");
  expect(webhook.waiting.rows.filter(({ subscriptionId }) => subscriptionId !== "other")).toEqual([]);
  // Nor do they use up starts.
  expect(await webhook.ask("other")).toMatchObject({ outcome: "granted" });
});

test("thousands of subscriptions that can't be reached are tried a few at a time, and woken once they can be", async () => {
  const webhook = new FakeWebhook({ concurrency: 200 });
  const woken = new Set<string>();
  let calls = 0;
  let isReachable = false;
  webhook.onWake = (subscriptionId) => {
    calls++;
    if (!isReachable) throw new Error("Subrequest depth limit exceeded.");
    woken.add(subscriptionId);
    return null;
  };
  await webhook.permits.disable("customer");
  for (let subscription = 0; subscription < 3_000; subscription++) await webhook.permit(`s${subscription}`);
  await webhook.permits.enable("pending");
  await settle();
  expect(calls).toBeLessThanOrEqual(40);
  await webhook.run(60_000);
  expect(calls).toBeGreaterThan(600);
  expect(calls).toBeLessThan(20 * 65);
  isReachable = true;
  await webhook.run(600_000);
  expect(woken.size).toBe(3_000);
});
