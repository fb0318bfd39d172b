import { expect, test } from "vitest";
import type { EventRange } from "../../../../src/model/webhook.ts";
import { DAY, newOwner, SECOND, SubscriptionOwner, settle, status } from "./owner.ts";

test("a replay sends events again, without the number before them", async () => {
  const chat = newOwner(4);
  await chat.subscriptions.run();
  expect(await chat.subscriptions.replay("w", "rpl_1", [[2, 3]])).toBe(2);
  expect(await chat.subscriptions.replay("w", "rpl_1", [[2, 3]])).toBe(2);
  await chat.subscriptions.run();
  const again = chat.calls
    .slice(4)
    .map(({ body, headers }) => [body.number, body.previous, headers.get("parley-replay")]);
  expect(again).toEqual([
    [2, null, "rpl_1"],
    [3, null, "rpl_1"],
  ]);
  expect(chat.reports.slice(4)).toMatchObject([{ replayId: "rpl_1" }, { replayId: "rpl_1" }]);
  expect(chat.rows.get("line w")).toMatchObject({ replays: [], cursor: 4, previous: 4 });
});

test("a replay whose events come in several calls sends each of them once", async () => {
  const chat = newOwner(6);
  await chat.subscriptions.run();
  await chat.subscriptions.replay("w", "rpl_1", [[1, 2]]);
  await chat.subscriptions.replay("w", "rpl_1", [
    [1, 2],
    [4, 5],
  ]);
  await chat.subscriptions.run();
  expect(chat.numbers().slice(6)).toEqual([1, 2, 4, 5]);
});

test("a replay sends only what the filter lets through", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { types: ["message.received"] } });
  chat.append("message.received", "message.status", "message.received");
  await chat.subscriptions.run();
  expect(await chat.subscriptions.replay("w", "rpl_1", [[1, 3]])).toBe(2);
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1, 3, 1, 3]);
  expect(await chat.subscriptions.replay("w", "rpl_2", [[2, 2]])).toBe(0);
});

test("a replay has tries of its own and never delays new events", async () => {
  const chat = newOwner(1);
  await chat.subscriptions.run();
  chat.answer = ({ headers }) => status(headers.has("parley-replay") ? 500 : 200);
  await chat.subscriptions.replay("w", "rpl_1", [[1, 1]]);
  await chat.subscriptions.run();
  chat.append("message.received");
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1, 1, 2]);
  await chat.pass(5 * SECOND);
  expect(chat.calls.at(-1)?.headers.get("parley-attempt")).toBe("2");
});

test("a replay goes on while the first event waits for its next try", async () => {
  const chat = newOwner(2);
  chat.answer = ({ body, headers }) => status(body.number === 2 && !headers.has("parley-replay") ? 500 : 200);
  await chat.subscriptions.run();
  await chat.subscriptions.replay("w", "rpl_1", [[1, 1]]);
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1, 2, 1]);
});

test("a repeat of a replay's call sends nothing again, even after its events were sent", async () => {
  const chat = newOwner(4);
  await chat.subscriptions.run();
  await chat.subscriptions.replay("w", "rpl_1", [[1, 2]]);
  await chat.subscriptions.run();
  chat.evict();
  expect(await chat.subscriptions.replay("w", "rpl_1", [[1, 2]])).toBe(2);
  await chat.subscriptions.run();
  expect(await chat.subscriptions.replay("w", "rpl_1", [[1, 3]])).toBe(3);
  await chat.subscriptions.run();
  expect(chat.numbers().slice(4)).toEqual([1, 2, 3]);
  await chat.subscriptions.replay("w", "rpl_2", [[1, 1]]);
  await chat.subscriptions.run();
  expect(chat.numbers().slice(7)).toEqual([1]);
});

test("a replay sends no event that happened after it was asked for", async () => {
  const chat = newOwner(2);
  await chat.subscriptions.run();
  expect(await chat.subscriptions.replay("w", "rpl_1", [[2, 9]])).toBe(1);
  await chat.subscriptions.run();
  chat.append("message.received");
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1, 2, 2, 3]);
});

/** Ends the steps of some work. */
async function inSteps<T>({ clock }: SubscriptionOwner, work: Promise<T>, most = 100): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  for (let steps = 0; !isOver; steps++) {
    expect(steps).toBeLessThan(most);
    await settle();
    clock.advance(0);
  }
  return work;
}

test("a replay takes no more than 1,000 ranges at a time, and those that it did not take later", async () => {
  const chat = newOwner(2_100);
  await chat.subscriptions.run();
  chat.permit = () => ({ outcome: "later", waitMs: DAY, isWaiting: true, number: 1 });
  const apart = Array.from({ length: 1_050 }, (_, index): EventRange => [2 * index + 1, 2 * index + 1]);
  const [first, second] = [apart.slice(0, 1_000), apart.slice(1_000)];
  expect(await inSteps(chat, chat.subscriptions.replay("w", "rpl_1", first))).toBe(1_000);
  await expect(chat.subscriptions.replay("w", "rpl_1", second)).rejects.toThrow("1050 ranges");
  expect(await inSteps(chat, chat.subscriptions.replay("w", "rpl_1", first))).toBe(1_000);
  chat.permit = () => null;
  await chat.subscriptions.run();
  chat.subscriptions.wake("w", 1);
  await chat.subscriptions.run();
  expect(await chat.subscriptions.replay("w", "rpl_1", second)).toBe(50);
  await chat.subscriptions.run();
  expect(chat.numbers().slice(2_100)).toEqual(apart.map(([number]) => number));
});

test("the tries of a replay's event outlast the instance, also behind events that do not match", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { types: ["message.received"] } });
  chat.append("message.status", "message.status", "message.received");
  await chat.subscriptions.run();
  chat.answer = () => status(500);
  await chat.subscriptions.replay("w", "rpl_1", [[1, 3]]);
  await chat.subscriptions.run();
  chat.evict();
  await chat.pass(5 * SECOND);
  expect(chat.calls.slice(1).map(({ headers }) => headers.get("parley-attempt"))).toEqual(["1", "2"]);
});

test("no step of a subscription looks at more than 10,000 events, and other events happen in between", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { types: ["chat.updated"] } });
  for (let n = 0; n < 45_000; n++) chat.append("message.status");
  chat.append("chat.updated", "chat.updated");
  await inSteps(chat, chat.subscriptions.run(), 20);
  expect(chat.numbers()).toEqual([45_001, 45_002]);
  expect(chat.longestRange).toBeLessThanOrEqual(10_000);
  expect(await inSteps(chat, chat.subscriptions.replay("w", "rpl_1", [[1, 45_002]]), 20)).toBe(2);
  expect(chat.longestRange).toBeLessThanOrEqual(10_000);
});
