import { expect, test, vi } from "vitest";
import { EVENT_TYPES } from "../../../../src/model/event.ts";
import { signatureHeaders } from "../../../../src/model/webhook-signature.ts";
import { expectError } from "../../../support/harness.ts";
import { untilLength } from "../../../support/until.ts";
import { pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { newConfigurer } from "../configured.ts";
import { expectState, newWebhook, SECRET, type TestWebhook } from "./fixtures.ts";

const SECOND = 1_000;

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

test.each([
  ["message.edited", {}, { direction: "INBOUND", editedAt: expect.any(String) }],
  ["message.reaction", { by: "contact" }, { reactions: [{ by: "contact", emoji: "👍", at: expect.any(String) }] }],
  ["message.redacted", { by: "contact" }, { direction: "INBOUND", text: "", deletedAt: expect.any(String) }],
] as const)("the sample of %s shows what the contact did, and a thin one who did it", async (type, facts, message) => {
  for (const payload of ["full", "thin"] as const) {
    const webhook = await newWebhook({ payload });
    const calls = receive(() => new Response());
    await webhook.object().ping(webhook.webhookId, type);
    const { data } = JSON.parse(calls[0]?.body ?? "");
    const shown = payload === "full" ? { message: expect.objectContaining(message) } : {};
    expect(data).toEqual({ messageId: expect.any(String), seq: 1, sample: true, ...facts, ...shown });
  }
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

/** What waits for its start in memory does so for a millisecond. @returns the waits, in milliseconds */
function startsAtOnce(): number[] {
  const waits: number[] = [];
  const wait = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, "wait").mockImplementation((ms) => {
    waits.push(ms);
    return wait(1);
  });
  return waits;
}

/** Pings one after the other. @returns what came of each */
async function pings(webhook: TestWebhook, count: number) {
  const answers: unknown[] = [];
  for (let ping = 0; ping < count; ping++) answers.push(await webhook.object().ping(webhook.webhookId, null));
  return answers;
}

test("pings keep to the webhook's pace, together with its other calls", async () => {
  const webhook = await newWebhook({ perSecond: 4 });
  const calls = receive(() => new Response());
  await webhook.attempt(1, 200);
  const waits = startsAtOnce();
  // The first pings wait for their start in memory, which the clock that stands still does not count.
  const answers = await pings(webhook, 100);
  expect(waits.filter((ms) => ms >= 250)).toEqual([250, 500, 750, 1_000]);
  expect(calls).toHaveLength(4);
  expect(answers.slice(4)).toEqual(Array(96).fill({ retryAfterMs: 1_250 }));
  expect(await webhook.permit(2)).toMatchObject({ outcome: "later", waitMs: 1_250 });
  pass(SECOND);
  expect(await pings(webhook, 100)).toContainEqual({ retryAfterMs: 1_250 });
  expect(calls).toHaveLength(8);
});

test.each(["trial", "disabled"] as const)("a webhook that is %s is pinged once a second", async (state) => {
  const webhook = await newWebhook();
  const calls = receive(() => new Response());
  if (state === "disabled") await webhook.object().disable(webhook.webhookId, "customer");
  const waits = startsAtOnce();
  const answers = await pings(webhook, 20);
  expect(waits).toContain(SECOND);
  expect(calls).toHaveLength(2);
  expect(answers.at(-1)).toEqual({ retryAfterMs: 2 * SECOND });
});

test("one ping of a webhook is under way at a time, and a receiver that hangs can be pinged", async () => {
  const webhook = await newWebhook({ concurrency: 1 });
  await webhook.attempt(1, 200);
  await webhook.granted(1);
  const hanging = Promise.withResolvers<Response>();
  const calls = receive(() => hanging.promise);
  const first = webhook.object().ping(webhook.webhookId, null);
  await untilLength(calls, 1);
  expect(await pings(webhook, 3)).toEqual(Array(3).fill({ retryAfterMs: SECOND }));
  hanging.resolve(new Response());
  expect(await first).toMatchObject({ outcome: "accepted" });
  expect(calls).toHaveLength(1);
});

test("a ping that is refused is a 503 that says when to try again", async () => {
  const { api, newWebhook: create } = await newConfigurer();
  const { webhook } = await create({ perSecond: 1 });
  const hanging = Promise.withResolvers<Response>();
  const calls = receive(() => hanging.promise);
  const ping = () => api("POST", `/webhooks/${webhook.id}/ping`);
  const first = ping();
  await untilLength(calls, 1);
  const refused = await ping();
  expect(refused.status).toBe(503);
  expect(refused.headers.get("Retry-After")).toBe("1");
  expect(refused.body).toEqual({
    message: "Another ping is under way, or the webhook's pace allows none now. Try again later",
    code: "unavailable",
  });
  hanging.resolve(new Response());
  expect(await first).toMatchObject({ status: 200, body: { attempt: { outcome: "accepted" } } });
});

test("a ping of a webhook that is deleted while it waits for its start calls nobody", async () => {
  const { api, newWebhook: create } = await newConfigurer();
  const { webhook } = await create({ perSecond: 1 });
  const calls = receive(() => new Response());
  const ping = () => api("POST", `/webhooks/${webhook.id}/ping`);
  expect((await ping()).status).toBe(200);
  const held = Promise.withResolvers<void>();
  const wait = vi.spyOn(scheduler, "wait").mockImplementation(() => held.promise);
  const late = ping();
  await untilLength(wait.mock.calls, 1);
  expect((await api("DELETE", `/webhooks/${webhook.id}`)).status).toBe(200);
  held.resolve();
  expectError(await late, 404, "webhook_not_found");
  expect(calls).toHaveLength(1);
});

test("a ping of a webhook that is deleted before it answers is answered, and leaves nothing", async () => {
  const { api, newWebhook: create } = await newConfigurer();
  const { webhook } = await create({});
  const hanging = Promise.withResolvers<Response>();
  const calls = receive(() => hanging.promise);
  const late = api("POST", `/webhooks/${webhook.id}/ping`);
  await untilLength(calls, 1);
  expect((await api("DELETE", `/webhooks/${webhook.id}`)).status).toBe(200);
  hanging.resolve(new Response());
  expect(await late).toMatchObject({ status: 200, body: { attempt: { outcome: "accepted" } } });
});
