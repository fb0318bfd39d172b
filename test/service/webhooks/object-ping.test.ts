import { expect, test, vi } from "vitest";
import { EVENT_TYPES } from "../../../src/events/event.ts";
import { signatureHeaders } from "../../../src/webhooks/signature.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { expectState, newWebhook, SECRET } from "./object-place.ts";

stopTheClock();

/** Answers the webhook's calls, and records them. */
function receive(answer: () => Response | Promise<Response>) {
  const calls: { url: string; headers: Headers; body: string }[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
    calls.push({ url: url as string, headers: new Headers(init?.headers), body: init?.body as string });
    return answer();
  });
  return calls;
}

test("a ping is signed, waited for and logged, and does not change the state", async () => {
  const webhook = await newWebhook();
  const calls = receive(() => new Response("Thanks"));
  const attempt = await webhook.object().ping(webhook.webhookId, null);
  expect(attempt).toMatchObject({ eventType: "ping", outcome: "accepted", httpStatus: 200, code: "ok" });
  const [{ url, headers, body } = { url: "", headers: new Headers(), body: "" }] = calls;
  expect(url).toBe("https://customer.test/hook");
  const event = JSON.parse(body);
  const { organizationId } = webhook;
  expect(event).toMatchObject({ type: "ping", organizationId, number: null, previous: null, data: {} });
  expect(Object.fromEntries(headers)).toMatchObject(await signatureHeaders([SECRET], event.id, Date.now(), body));
  expect(headers.get("parley-webhook")).toBe(webhook.webhookId);
  await expectState(webhook, { state: "trial" });
  expect(await webhook.object().attempts({}, { before: null, limit: 10 })).toEqual({
    attempts: [attempt],
    cursor: null,
  });
});

test.each(EVENT_TYPES.filter((type) => type !== "ping"))("a sample of %s says that it is one", async (type) => {
  const webhook = await newWebhook();
  const calls = receive(() => new Response());
  await webhook.object().ping(webhook.webhookId, type);
  expect(JSON.parse(calls[0]?.body ?? "")).toMatchObject({ type, previous: null, data: { sample: true } });
});

test("the sample of a redaction has no text", async () => {
  const webhook = await newWebhook();
  const calls = receive(() => new Response());
  await webhook.object().ping(webhook.webhookId, "message.redacted");
  const message = { content: "", text: "", variables: null, mediaUrl: null, metadata: {} };
  expect(JSON.parse(calls[0]?.body ?? "")).toMatchObject({ data: { message } });
});

test.each([
  ["a redirect", () => new Response(null, { status: 302 }), { httpStatus: 302, code: "redirect" }],
  ["an error", () => new Response(null, { status: 500 }), { httpStatus: 500, code: "http_500" }],
  ["no answer", () => Promise.reject(new Error("refused")), { httpStatus: null, code: "connection" }],
] as const)("a ping shows %s", async (_title, answer, expected) => {
  const webhook = await newWebhook();
  receive(answer);
  expect(await webhook.object().ping(webhook.webhookId, null)).toMatchObject({ outcome: "given_up", ...expected });
  await expectState(webhook, { state: "trial", failed: 0 });
});

test("a URL that may not be called is not called", async () => {
  const webhook = await newWebhook({ url: "https://10.0.0.1/hook" });
  const calls = receive(() => new Response());
  expect(await webhook.object().ping(webhook.webhookId, null)).toMatchObject({ code: "url_refused" });
  expect(calls).toEqual([]);
});
