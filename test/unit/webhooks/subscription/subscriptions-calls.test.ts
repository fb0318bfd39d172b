import { expect, test } from "vitest";
import { NOW, newOwner, SECOND, SubscriptionOwner, settle, status } from "./owner.ts";

test("a receiver that hangs is given up after 30 seconds, and delays no other webhook", async () => {
  const chat = new SubscriptionOwner();
  chat.configure({ w: {}, x: {} });
  chat.append("message.received", "message.received");
  chat.answer = ({ webhookId }) => (webhookId === "w" ? "hang" : status(200));
  const run = chat.subscriptions.run();
  await settle();
  expect(chat.numbers("x")).toEqual([1, 2]);
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + 35 * SECOND);
  chat.clock.advance(30 * SECOND);
  await run;
  expect(chat.reports.filter(({ outcome }) => outcome === "retry")).toMatchObject([
    { number: 1, code: "timeout", httpStatus: null, durationMs: 30 * SECOND },
  ]);
  expect(chat.clock.pending).toBe(0);
});

test("at most 1 KB of an endless answer is kept", async () => {
  const chat = newOwner(1);
  let canceled = false;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("é".repeat(100))),
    cancel: () => {
      canceled = true;
    },
  });
  chat.answer = () => new Response(endless);
  await chat.subscriptions.run();
  const [attempt] = (await chat.subscriptions.describe("w"))?.attempts ?? [];
  expect(attempt).toMatchObject({ outcome: "accepted", response: "é".repeat(512) });
  expect(canceled).toBe(true);
});

test("a 2xx counts even if its body never ends", async () => {
  const chat = newOwner(1);
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("half")) });
  chat.answer = () => new Response(body);
  const run = chat.subscriptions.run();
  await settle();
  chat.clock.advance(30 * SECOND);
  await run;
  expect((await chat.subscriptions.describe("w"))?.attempts).toMatchObject([{ outcome: "accepted", response: "half" }]);
});

test("redirects are not followed", async () => {
  const chat = newOwner(1);
  chat.answer = () => status(302, { location: "https://elsewhere.example.com" });
  await chat.subscriptions.run();
  expect(chat.reports).toMatchObject([{ outcome: "retry", code: "redirect", httpStatus: 302 }]);
});

test("a URL that may not be called is not called", async () => {
  const chat = newOwner(1);
  chat.permit = () => ({
    outcome: "granted",
    permit: "p",
    url: "http://10.0.0.1/",
    secrets: [],
    payload: "full",
  });
  await chat.subscriptions.run();
  expect(chat.calls).toEqual([]);
  expect(chat.reports).toMatchObject([{ outcome: "retry", code: "url_refused", permit: "p" }]);
});

test("after a redaction between two attempts the second has no text, and the answer's text is forgotten", async () => {
  const chat = newOwner(1);
  chat.answer = () => status(500);
  await chat.subscriptions.run();
  expect((await chat.subscriptions.describe("w"))?.attempts[0]?.response).toBe("no");
  chat.text = "";
  chat.redactionCount++;
  chat.subscriptions.forgetResponses();
  expect((await chat.subscriptions.describe("w"))?.attempts[0]?.response).toBeNull();
  await chat.pass(5 * SECOND);
  expect(chat.calls.map(({ body }) => body.text)).toEqual(["Hello", ""]);
});

test("a redaction while an attempt is signed keeps the text from leaving", async () => {
  const chat = newOwner(1);
  chat.beforeSign = () => {
    if (chat.redactionCount++ > 0) chat.redactionCount = 1;
    chat.text = "";
  };
  await chat.subscriptions.run();
  expect(chat.calls.map(({ body }) => body.text)).toEqual([""]);
});

test("the answer to an attempt that began before a redaction is kept without its body", async () => {
  const chat = newOwner(1);
  chat.answer = () => {
    chat.redactionCount++;
    return new Response("You wrote: Hello");
  };
  await chat.subscriptions.run();
  expect((await chat.subscriptions.describe("w"))?.attempts).toMatchObject([{ outcome: "accepted", response: null }]);
});

test("an owner that is erased while an attempt is signed starts no call", async () => {
  const chat = newOwner(1);
  chat.beforeSign = () => {
    chat.exists = false;
    chat.subscriptions.forget();
  };
  await chat.subscriptions.run();
  expect(chat.calls).toEqual([]);
});

test("the answer to an attempt of an erased owner stores nothing, but is reported", async () => {
  const chat = newOwner(2);
  chat.answer = () => {
    chat.exists = false;
    chat.subscriptions.forget();
    chat.rows.clear();
    return status(200);
  };
  await chat.subscriptions.run();
  expect(chat.numbers()).toEqual([1]);
  expect([...chat.rows]).toEqual([]);
  expect(chat.reports).toMatchObject([{ number: 1, outcome: "accepted" }]);
});

test("a call that the platform refuses is no failure of the receiver, and is made half a minute later", async () => {
  const chat = newOwner(1);
  const errors: unknown[] = [];
  chat.onError = (line) => errors.push(line);
  chat.answer = () => Promise.reject(new Error("Too many subrequests by single Worker invocation."));
  await chat.subscriptions.run();
  expect(chat.reports).toEqual([]);
  expect(await chat.subscriptions.describe("w")).toMatchObject({ head: { tries: 0 }, attempts: [] });
  expect(errors).toMatchObject([{ event: "line_interrupted" }]);
  expect(chat.subscriptions.dueAt(NOW)).toBe(NOW + 30 * SECOND);
  chat.answer = () => status(200);
  await chat.pass(30 * SECOND);
  expect(chat.requests.at(-1)).toMatchObject({ unused: "permit 1" });
  expect(chat.reports).toMatchObject([{ outcome: "accepted" }]);
  expect(chat.calls.at(-1)?.headers.get("parley-attempt")).toBe("1");
});
