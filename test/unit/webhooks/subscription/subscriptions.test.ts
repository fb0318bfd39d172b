import { expect, test } from "vitest";
import { DAY, MINUTE, NOW, newOwner, SECOND, SubscriptionOwner, settle, status } from "./owner.ts";

test("a subscription sends its events in order, each with the number before it", async () => {
  const chat = newOwner(3);
  await chat.subscriptions.run();
  expect(chat.calls.map(({ body }) => [body.number, body.previous])).toEqual([
    [1, null],
    [2, 1],
    [3, 2],
  ]);
  expect(chat.subscriptions.dueAt(chat.clock.now())).toBeNull();
});

test("a call has the headers of its event and its attempt", async () => {
  const chat = newOwner(1);
  await chat.subscriptions.run();
  expect(Object.fromEntries(chat.calls[0]?.headers ?? [])).toEqual({
    "content-type": "application/json",
    "parley-attempt": "1",
    "parley-webhook": "w",
    "user-agent": "Parley-Webhooks/1",
    "webhook-id": "evt_1",
    "webhook-signature": "secret of w",
  });
});

test("a delivery writes one row, and its outcome is part of the next question", async () => {
  const chat = newOwner(5);
  const before = chat.puts;
  await chat.subscriptions.run();
  expect(chat.puts - before).toBe(5);
  expect(chat.requests.map(({ report }) => report?.number ?? null)).toEqual([null, 1, 2, 3, 4]);
  expect(chat.reports.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
});

test("a webhook begins after the events that were reported before it", async () => {
  const chat = new SubscriptionOwner();
  chat.append("message.received", "message.received", "message.received");
  chat.configure({ w: {} }, 2);
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([3]);
});

test("an event that fails is tried by the schedule, then given up, and later ones follow", async () => {
  const chat = newOwner(2);
  chat.answer = ({ body }) => (body.number === 1 ? status(500) : status(200));
  await chat.pass(4 * DAY);
  const waits = chat.calls.slice(0, 15).map(({ at }, n) => Math.round((at - (chat.calls[n - 1]?.at ?? NOW)) / SECOND));
  const hours = [1, 2, 4, 8, 12, 12, 12, 12, 8].map((each) => each * 3_600);
  expect(waits).toEqual([0, 5, 30, 120, 600, 1_800, ...hours]);
  expect(chat.calls.slice(0, 15).map(({ headers }) => headers.get("parley-attempt"))).toEqual(
    Array.from({ length: 15 }, (_, n) => String(n + 1)),
  );
  expect(chat.numbers().slice(15)).toEqual([2]);
  expect(chat.calls[15]?.body.previous).toBe(1);
  expect(chat.reports.filter(({ outcome }) => outcome === "given_up")).toMatchObject([{ number: 1, code: "http_500" }]);
});

test("an event that the receiver refuses is given up after five tries", async () => {
  const chat = newOwner(2);
  chat.answer = ({ body }) => (body.number === 1 ? status(422) : status(200));
  await chat.pass(DAY);
  expect(chat.numbers()).toEqual([1, 1, 1, 1, 1, 2]);
});

test("a repeat has the same id", async () => {
  const chat = newOwner(1);
  chat.answer = () => (chat.calls.length < 3 ? status(503) : status(200));
  await chat.pass(MINUTE);
  expect(chat.calls.map(({ headers }) => headers.get("webhook-id"))).toEqual(["evt_1", "evt_1", "evt_1"]);
});

test("the subscription waits as long as the receiver asks by Retry-After", async () => {
  const chat = newOwner(1);
  chat.answer = () => (chat.calls.length < 2 ? status(429, { "retry-after": "600" }) : status(200));
  await chat.pass(DAY);
  expect(chat.calls.map(({ at }) => at - NOW)).toEqual([0, 600 * SECOND]);
});

test("an answer without a success is reported at once, before the wait", async () => {
  const chat = newOwner(1);
  chat.answer = () => status(500);
  await chat.subscriptions.run();
  expect(chat.reports).toMatchObject([{ number: 1, outcome: "retry", code: "http_500", httpStatus: 500 }]);
});

test("after a 410 the event stays, and the webhook's object decides", async () => {
  const chat = newOwner(2);
  chat.answer = () => status(410);
  chat.permit = ({ report }) =>
    report?.code === "http_410" ? { outcome: "later", waitMs: DAY, isWaiting: true, number: 1 } : null;
  await chat.pass(DAY - 1);
  expect(chat.numbers()).toEqual([1]);
  chat.permit = () => null;
  chat.answer = () => status(200);
  chat.subscriptions.wake("w", 1);
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1, 1, 2]);
});

test("a deleted webhook's subscription is removed, and other subscriptions go on", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: {}, x: {} });
  chat.append("message.received");
  chat.permit = ({ webhookId }) => (webhookId === "w" ? { outcome: "gone" } : null);
  await chat.subscriptions.run();
  expect(await chat.subscriptions.describe("w")).toBeNull();
  expect(chat.rows.has("line w")).toBe(false);
  expect(chat.numbers("x")).toEqual([1]);
});

test("at most three attempts are under way, one for each subscription, and subscriptions take turns", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ a: {}, b: {}, c: {}, d: {}, e: {} });
  chat.append("message.received", "message.received");
  const open: (() => void)[] = [];
  chat.answer = () => new Promise((resolve) => open.push(() => resolve(status(200))));
  const run = chat.subscriptions.run();
  await settle();
  expect(chat.calls.map(({ webhookId }) => webhookId)).toEqual(["a", "b", "c"]);
  // The other two need no alarm of their own: they take their turns after these.
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + 35 * SECOND);
  while (open.length > 0) {
    open.shift()?.();
    await settle();
  }
  await run;
  expect(chat.most).toBe(3);
  expect(chat.calls.map(({ webhookId }) => webhookId)).toEqual(["a", "b", "c", "d", "e", "a", "b", "c", "d", "e"]);
});

test("events older than 30 days are given up together, without a call", async () => {
  const chat = newOwner(3);
  chat.clock.advance(30 * DAY + 1);
  chat.append("message.received");
  await chat.subscriptions.run();
  expect(chat.calls.map(({ body }) => [body.number, body.previous])).toEqual([[4, 3]]);
  expect(chat.reports[0]).toMatchObject({ first: 1, number: 3, outcome: "given_up", code: "expired", permit: "" });
});

test("an event of which nothing is left is given up", async () => {
  const chat = newOwner(2);
  chat.isGone = (number) => number === 1;
  await chat.subscriptions.run();
  expect(chat.calls.map(({ body }) => [body.number, body.previous])).toEqual([[2, 1]]);
  expect(chat.reports[0]).toMatchObject({ number: 1, outcome: "given_up", code: "gone", permit: "permit 1" });
});

test("only the first event that waits can be skipped", async () => {
  const chat = newOwner(2);
  chat.answer = ({ body }) => status(body.number === 1 ? 500 : 200);
  await chat.subscriptions.run();
  expect(chat.subscriptions.skip("w", 2)).toBe("not_head");
  expect(chat.subscriptions.skip("x", 1)).toBe("no_line");
  expect(chat.subscriptions.skip("w", 1)).toBe("skipped");
  await chat.subscriptions.run();
  expect(chat.calls.map(({ body }) => [body.number, body.previous])).toEqual([
    [1, null],
    [2, 1],
  ]);
  expect(chat.reports.map(({ number, code }) => [number, code])).toEqual([
    [1, "http_500"],
    [1, "skipped"],
    [2, "ok"],
  ]);
});

test("an event that is skipped during its attempt stays skipped, whatever the answer", async () => {
  const chat = newOwner(2);
  chat.answer = ({ body }) => {
    if (body.number !== 1) return status(200);
    chat.subscriptions.skip("w", 1);
    return status(500);
  };
  await chat.pass(DAY);
  expect(chat.numbers()).toEqual([1, 2]);
});

test("an event that is skipped while its permit is asked for is not sent, and the permit is given back", async () => {
  const chat = newOwner(2);
  chat.permit = ({ number }) => {
    if (number === 1) chat.subscriptions.skip("w", 1);
    return null;
  };
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([2]);
  expect(chat.requests[1]?.unused).toBe("permit 1");
});

test("a permit that is older than five seconds is given back", async () => {
  const chat = newOwner(1);
  chat.beforeSign = () => {
    if (chat.requests.length === 1) chat.clock.advance(5 * SECOND);
  };
  await chat.subscriptions.run();
  expect(chat.calls).toHaveLength(1);
  expect(chat.requests.map(({ unused }) => unused)).toEqual([undefined, "permit 1"]);
});

test("after the webhook was enabled without its pending events, they are skipped", async () => {
  const chat = newOwner(3);
  chat.clock.advance(MINUTE);
  const before = chat.clock.now();
  chat.append("message.received");
  chat.permit = ({ at }) => (at < before ? { outcome: "skip", before } : null);
  await chat.subscriptions.run();
  expect(chat.requests.map(({ number }) => number)).toEqual([1, 4]);
  expect(chat.numbers()).toEqual([4]);
});

test("an attempt that is lost with its object is repeated with the same id", async () => {
  const chat = newOwner(1);
  chat.answer = () => "hang";
  void chat.subscriptions.run();
  await settle();
  expect(chat.alarm).toBe(NOW + 35 * SECOND);
  chat.evict();
  chat.answer = () => status(200);
  await chat.subscriptions.run();
  expect(chat.calls.map(({ headers }) => headers.get("webhook-id"))).toEqual(["evt_1", "evt_1"]);
});

test("given-up events are reported again until the webhook's object knows", async () => {
  const chat = newOwner(1);
  chat.isGone = () => true;
  chat.report = () => Promise.reject(new Error("away"));
  await chat.subscriptions.run();
  chat.evict();
  chat.report = () => {};
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW);
  await chat.subscriptions.run();
  expect(chat.reports).toMatchObject([{ number: 1, code: "gone" }]);
  expect(chat.rows.get("line w")).toMatchObject({ unreported: [] });
});

test("a subscription that can't render its event tries again later, and gives its permit back", async () => {
  const chat = newOwner(1);
  const errors: unknown[] = [];
  chat.onError = (line) => errors.push(line);
  chat.beforeSign = () => {
    if (chat.requests.length === 1) throw new Error("no key");
  };
  await chat.pass(30 * SECOND);
  expect(errors).toMatchObject([{ event: "line_interrupted" }]);
  expect(chat.requests.map(({ unused }) => unused)).toEqual([undefined, "permit 1"]);
  expect(chat.numbers()).toEqual([1]);
});

test("a subscription that always fails holds up no other, is changed with no other, and tries again ever later", async () => {
  const chat = newOwner(3);
  chat.configure({ w: {}, bad: {}, x: {} });
  const errors: { event: string; webhookId: string; times?: number }[] = [];
  chat.onError = (line) => errors.push(line as (typeof errors)[number]);
  let isBad = true;
  chat.beforeMatching = (webhookId) => {
    if (isBad && webhookId === "bad") throw new Error("A row can't be read");
  };
  await chat.pass(60 * MINUTE);
  expect([chat.numbers("w"), chat.numbers("bad"), chat.numbers("x")]).toEqual([[1, 2, 3], [], [1, 2, 3]]);
  expect(errors.map(({ event, webhookId }) => `${event} ${webhookId}`)).toContain("line_interrupted bad");
  expect(errors.length).toBeGreaterThan(5);
  expect(errors.length).toBeLessThan(13);
  // A change of all filters reaches the others, and the owner gets the list again.
  chat.configure(
    { bad: { types: ["message.received"], version: 2 }, x: { types: ["message.received"], version: 2 } },
    0,
    "v2",
  );
  expect(errors.at(-1)).toMatchObject({ event: "line_not_changed", webhookId: "bad" });
  expect(chat.subscriptions.version).toBe("v1");
  chat.append("message.created", "message.received");
  await chat.pass(MINUTE);
  expect([chat.numbers("w"), chat.numbers("x")]).toEqual([
    [1, 2, 3, 4, 5],
    [1, 2, 3, 5],
  ]);
  isBad = false;
  await chat.pass(60 * MINUTE);
  expect(chat.numbers("bad")).toEqual([1, 2, 3, 4, 5]);
});

test("the description of a subscription has what waits and its last attempts, newest first", async () => {
  const chat = newOwner(25);
  await chat.subscriptions.run();
  chat.append("message.received", "message.received");
  chat.answer = () => status(500);
  await chat.subscriptions.run();
  const subscription = await chat.subscriptions.describe("w");
  expect(subscription).toMatchObject({
    pending: 2,
    head: { eventId: "evt_26", number: 26, eventType: "message.received", tries: 1 },
    nextAttemptAt: NOW + 5 * SECOND,
  });
  expect(subscription?.attempts.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, n) => 26 - n));
});

test("a webhook whose events were given up is told when the owner is erased, and no other is", async () => {
  const warnings: unknown[] = [];
  const chat = newOwner(1);
  chat.onWarning = (line) => void warnings.push(line);
  chat.isGone = () => true;
  await chat.subscriptions.ownerDeleted();
  expect(chat.gone).toEqual([]);
  await chat.subscriptions.run();
  chat.evict();
  await chat.subscriptions.ownerDeleted();
  expect(chat.gone).toEqual([NOW]);
  chat.forgets = () => Promise.reject(new Error("away"));
  await chat.subscriptions.ownerDeleted();
  expect(warnings).toMatchObject([{ event: "webhook_not_told", webhookId: "w" }]);
  chat.exists = false;
  chat.subscriptions.forget();
  await chat.subscriptions.ownerDeleted();
  expect(chat.gone).toEqual([NOW]);
});
