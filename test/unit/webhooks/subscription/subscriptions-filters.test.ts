import { expect, test } from "vitest";
import { filterOf, NOW, newOwner, SECOND, SubscriptionOwner, status } from "./owner.ts";

test("events that the filter skips are not sent, and the next one names the last that was", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { types: ["message.received"] } });
  chat.append("message.received", "message.status", "chat.updated", "message.received");
  await chat.subscriptions.run();
  expect(chat.calls.map(({ body }) => [body.number, body.previous])).toEqual([
    [1, null],
    [4, 1],
  ]);
});

test("a new filter applies to later events only", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { types: ["message.received"] } });
  chat.append("message.status", "message.status");
  chat.configure({ w: { version: 2 } }, 0, "v2");
  chat.append("message.status");
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([3]);
});

test("a new filter does not skip an event that the old one let through", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { types: ["message.received"] } });
  chat.append("message.status", "message.received", "message.status");
  chat.configure({ w: { version: 2 } }, 0, "v2");
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([2, 3]);
});

test("a new filter keeps the tries of an event that lies far behind, also in a new instance", async () => {
  const chat = new SubscriptionOwner();
  chat.answer = () => status(500);
  chat.configure({ w: { types: ["message.received"] } });
  chat.append("message.status", "message.received");
  await chat.pass(SECOND);
  for (let more = 0; more < 10_000; more++) chat.append("message.received");
  chat.evict();
  chat.configure({ w: { version: 2 } }, 0, "v2");
  await chat.pass(10 * SECOND);
  expect(chat.numbers()).toEqual([2, 2]);
  expect(chat.calls.map(({ headers }) => headers.get("parley-attempt"))).toEqual(["1", "2"]);
});

test("an old list does not bring an old filter back", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { version: 2 } });
  chat.configure({ w: { version: 1, types: ["chat.*"] } }, 0, "v0");
  chat.append("message.received");
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1]);
});

test("a subscription learns a new filter with its permit", async () => {
  const chat = newOwner(1);
  chat.permit = ({ version }) =>
    version === 1 ? { outcome: "changed", filter: filterOf("w", { version: 2, types: ["chat.*"] }) } : null;
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([]);
  expect(chat.subscriptions.dueAt(NOW)).toBeNull();
});

test("a webhook's object with an older filter is asked again later", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: { version: 3 } });
  chat.append("message.received");
  chat.permit = () => ({ outcome: "changed", filter: filterOf("w", { version: 2 }) });
  await chat.subscriptions.run();
  expect(chat.requests).toHaveLength(1);
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + 30 * SECOND);
});
