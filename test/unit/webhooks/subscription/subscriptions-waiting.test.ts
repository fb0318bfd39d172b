import { expect, test } from "vitest";
import { DAY, NOW, newOwner, SECOND } from "./owner.ts";

test("a subscription that waits asks nothing until it is woken or a day has passed", async () => {
  const chat = newOwner(1);
  chat.permit = () => ({ outcome: "later", waitMs: 5 * SECOND, isWaiting: true, number: chat.requests.length });
  await chat.subscriptions.run();
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + DAY);
  chat.evict();
  chat.append("message.received");
  await chat.subscriptions.run();
  expect(chat.requests).toHaveLength(1);
  await chat.pass(DAY);
  expect(chat.requests).toHaveLength(2);
});

test("a wake-up that comes before the refusal that it answers is not lost", async () => {
  const chat = newOwner(1);
  chat.permit = () => {
    if (chat.requests.length > 1) return null;
    chat.subscriptions.wake("w", 7);
    return { outcome: "later", waitMs: DAY, isWaiting: true, number: 7 };
  };
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1]);
});

test("a wake-up for an earlier refusal changes nothing", async () => {
  const chat = newOwner(1);
  chat.permit = () => ({ outcome: "later", waitMs: DAY, isWaiting: true, number: 7 });
  await chat.subscriptions.run();
  expect(chat.subscriptions.wake("w", 6)).toBeNull();
  await chat.subscriptions.run();
  expect(chat.requests).toHaveLength(1);
});

test("a short wait is not stored", async () => {
  const chat = newOwner(1);
  const before = chat.puts;
  chat.permit = () => ({ outcome: "later", waitMs: 200, isWaiting: false, number: 0 });
  await chat.subscriptions.run();
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + 200);
  expect(chat.puts).toBe(before);
});

test("a subscription's wait for its next try is known outside if it takes longer than a minute, until it ends", async () => {
  const chat = newOwner(1);
  chat.answer = () => new Response("", { status: 500 });
  const ends: (number | null)[] = [];
  for (let tries = 0; tries < 3; tries++) {
    await chat.subscriptions.run();
    const at = chat.subscriptions.dueAt(chat.clock.now()) ?? 0;
    ends.push(chat.subscriptions.longWaitEnd(chat.clock.now()));
    if (tries < 2) chat.clock.advance(at - chat.clock.now());
  }
  expect(ends).toEqual([null, null, chat.clock.now() + 120 * SECOND]);
  expect(chat.waitChanges).toBe(1);
  // It depends on nothing but what is stored.
  chat.evict();
  chat.clock.advance(60 * SECOND);
  expect(chat.subscriptions.longWaitEnd(chat.clock.now())).toBe(ends[2]);
  chat.answer = () => new Response("ok");
  await chat.pass(120 * SECOND);
  expect(chat.subscriptions.longWaitEnd(chat.clock.now())).toBeNull();
  expect(chat.waitChanges).toBe(2);
});

test("a webhook's object that does not answer is asked again, later each time", async () => {
  const chat = newOwner(1);
  chat.permit = () => Promise.reject(new Error("away"));
  const waits: number[] = [];
  for (let n = 0; n < 4; n++) {
    await chat.subscriptions.run();
    waits.push((chat.subscriptions.dueAt(chat.clock.now()) ?? 0) - chat.clock.now());
    chat.clock.advance(waits.at(-1) ?? 0);
  }
  expect(waits).toEqual([5, 10, 20, 40].map((seconds) => seconds * SECOND));
});

test("a wake-up from before the question does not answer its refusal, whatever its number", async () => {
  const chat = newOwner(1);
  chat.permit = () => ({ outcome: "later", waitMs: DAY, isWaiting: true, number: 3 });
  chat.subscriptions.wake("w", 9);
  await chat.subscriptions.run();
  expect(chat.requests).toHaveLength(1);
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + DAY);
});

test("a webhook's object that does not answer is asked less often once a question, also while a report waits", async () => {
  const chat = newOwner(2);
  chat.permit = ({ number }) => (number === 2 ? Promise.reject(new Error("away")) : null);
  chat.report = () => Promise.reject(new Error("away"));
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1]);
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + 5 * SECOND);
});

test("subscriptions of many chats whose webhook's object did not answer ask again at different times", async () => {
  const waits = [0, 0.5, 1].map(async (random) => {
    const chat = newOwner(1);
    chat.clock.random = () => random;
    chat.permit = () => Promise.reject(new Error("away"));
    await chat.subscriptions.run();
    return (chat.subscriptions.dueAt(NOW) ?? 0) - NOW;
  });
  expect(await Promise.all(waits)).toEqual([4_000, 5_000, 6_000]);
});

test("a fresh start of the webhook brings a next try forward that was planned before, and none that was planned since", async () => {
  const chat = newOwner(1);
  chat.answer = () => new Response("", { status: 503 });
  await chat.subscriptions.run();
  await chat.pass(10 * SECOND);
  const planned = chat.subscriptions.dueAt(chat.clock.now()) ?? 0;
  expect([chat.calls.length, planned]).toEqual([2, chat.clock.now() - 5 * SECOND + 30 * SECOND]);
  chat.subscriptions.wake("w", 1, chat.clock.now() - 6 * SECOND);
  expect(chat.subscriptions.dueAt(chat.clock.now())).toBe(planned);
  chat.subscriptions.wake("w", 1, chat.clock.now());
  await chat.subscriptions.run();
  expect(chat.calls.at(-1)?.headers.get("parley-attempt")).toBe("3");
});

test("a fresh start of the webhook brings the next try forward after a call that was under way then", async () => {
  const chat = newOwner(1);
  let pressedAt = 0;
  chat.answer = () => {
    chat.clock.advance(SECOND);
    pressedAt = chat.clock.now();
    chat.clock.advance(SECOND);
    return new Response("", { status: 503 });
  };
  await chat.subscriptions.run();
  chat.subscriptions.wake("w", 1, pressedAt);
  expect(chat.subscriptions.dueAt(chat.clock.now())).toBe(chat.clock.now());
});

test("a fresh start of the webhook during a call brings the next try forward, and no later one", async () => {
  const chat = newOwner(1);
  chat.answer = () => {
    chat.clock.advance(SECOND);
    if (chat.calls.length === 1) chat.subscriptions.wake("w", 1, chat.clock.now());
    return new Response("", { status: 503 });
  };
  await chat.subscriptions.run();
  expect(chat.calls.map(({ headers }) => headers.get("parley-attempt"))).toEqual(["1", "2"]);
  expect(chat.subscriptions.dueAt(chat.clock.now())).toBe(chat.clock.now() + 30 * SECOND);
});

test("a fresh start by a clock that is ahead brings no try forward that begins after the wake-up", async () => {
  const chat = newOwner(1);
  chat.answer = () => new Response("", { status: 422 });
  chat.subscriptions.wake("w", 1, chat.clock.now() + 2 * SECOND);
  await chat.subscriptions.run();
  expect(chat.calls).toHaveLength(1);
  expect(chat.subscriptions.dueAt(chat.clock.now())).toBeGreaterThan(chat.clock.now());
});

test("a wake-up that overtakes the answer to wait lets the subscription ask again", async () => {
  const chat = newOwner(1);
  let asked = 0;
  chat.permit = () => {
    if (++asked > 1) return null;
    chat.subscriptions.wake("w", 1);
    return { outcome: "later", waitMs: 60 * SECOND, isWaiting: false, number: 1 };
  };
  await chat.subscriptions.run();
  expect([asked, chat.calls.length]).toEqual([2, 1]);
});

test("a fresh start of the webhook brings the next try of a replay forward too", async () => {
  const chat = newOwner(2);
  await chat.subscriptions.run();
  chat.answer = () => new Response("", { status: 503 });
  await chat.subscriptions.replay("w", "rpl_1", [[1, 2]]);
  await chat.subscriptions.run();
  chat.clock.advance(SECOND);
  chat.subscriptions.wake("w", 1, chat.clock.now());
  await chat.subscriptions.run();
  expect(chat.calls.slice(2).map(({ headers }) => headers.get("parley-attempt"))).toEqual(["1", "2"]);
});

test("a wake-up says whether the subscription has anything to send", async () => {
  const chat = newOwner(1);
  chat.permit = () => ({ outcome: "later", waitMs: DAY, isWaiting: true, number: 3 });
  await chat.subscriptions.run();
  expect(chat.subscriptions.wake("w", 3)).toBe(3);
  expect(chat.subscriptions.wake("another webhook", 3)).toBeNull();
  chat.exists = false;
  chat.subscriptions.forget();
  expect(chat.subscriptions.wake("w", 3)).toBeNull();
  const idle = newOwner(0);
  expect(idle.subscriptions.wake("w", 3)).toBeNull();
});

test("a permit that comes after the chat's deletion is given back, so that others need not wait for it", async () => {
  const chat = newOwner(1);
  chat.permit = () => {
    chat.exists = false;
    return null;
  };
  await chat.subscriptions.run();
  expect(chat.calls).toEqual([]);
  expect(chat.givenBack).toEqual(["permit 1"]);
});

test("a permit whose event was skipped before the call is given back", async () => {
  const chat = newOwner(1);
  chat.beforeSign = () => {
    chat.subscriptions.skip("w", 1);
  };
  await chat.subscriptions.run();
  expect(chat.calls).toEqual([]);
  expect(chat.givenBack).toEqual(["permit 1"]);
});
