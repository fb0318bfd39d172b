import { expect, onTestFinished, test, vi } from "vitest";
import { ParleyError, retryAfterOf } from "../../src/client/error.ts";
import { dataOf } from "../../src/client/parley.ts";
import { clientOf, cut, cutInside, json } from "./server.ts";

/** The client's own waits are a fiftieth: `unit/platform/backoff.test.ts` tests how long they are. */
vi.mock("../../src/platform/backoff.ts", () => {
  const doublingMs = ({ firstMs, maxMs }: { firstMs: number; maxMs: number }, repeats: number) =>
    Math.min(maxMs, firstMs * 2 ** repeats) / 50;
  return { doublingMs, backoffMs: doublingMs };
});

const MESSAGE = { message: { id: "msg_g1", status: "QUEUED" } };
const limitedFor = (seconds: number) =>
  json(429, { message: "Rate limit exceeded", code: "rate_limited" }, { "Retry-After": String(seconds) });
const UNAVAILABLE = json(503, { message: "Service unavailable", code: "unavailable" });

test("a send whose answer is lost is repeated with the same Idempotency-Key", async () => {
  const { parley, asked } = await clientOf([cut, cutInside, UNAVAILABLE, json(201, MESSAGE)]);
  expect(await parley.send("cht_g1", { content: "Hello" })).toEqual(MESSAGE.message);
  expect(asked).toHaveLength(4);
  const keys = new Set(asked.map(({ headers }) => headers["idempotency-key"]));
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  for (const { method, path, body, headers } of asked) {
    expect({ method, path, body: JSON.parse(body) }).toEqual({
      method: "POST",
      path: "/api/v1/chats/cht_g1/messages",
      body: { content: "Hello" },
    });
    expect(headers.authorization).toBe("Bearer ply_test");
  }
});

test("two sends have two keys, and a given key is used as it is", async () => {
  const { parley, asked } = await clientOf([json(201, MESSAGE)]);
  for (const options of [{}, {}, { idempotencyKey: "order-4711" }]) {
    await parley.send("cht_g1", { content: "Hello" }, options);
  }
  const keys = asked.map(({ headers }) => headers["idempotency-key"]);
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe("order-4711");
});

test("an error has the service's message, code, status, request and faults", async () => {
  const errors = [{ path: "type", message: "Must be one of TEXT, IMAGE" }];
  const { parley, asked } = await clientOf([
    json(400, { message: "Validation failed", code: "validation_failed", errors }),
  ]);
  const error = await parley.send("cht_g1", { content: "Hello" }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ParleyError);
  expect(error).toMatchObject({
    message: "Validation failed",
    code: "validation_failed",
    status: 400,
    requestId: "req-1",
    errors,
    retryAfterSeconds: null,
  });
  expect(asked).toHaveLength(1);
});

test("an answer that is not from Parley is an error too", async () => {
  const { parley } = await clientOf([(response) => void response.writeHead(404).end("<html>")]);
  const reads = parley.api.GET("/key").then(dataOf);
  await expect(reads).rejects.toMatchObject({ code: "not_parley", status: 404, requestId: null });
});

test("a redirect is not followed, so that the key stays with the service", async () => {
  const away = await clientOf([json(200, {})]);
  const { parley } = await clientOf([(response) => void response.writeHead(302, { Location: away.url }).end()]);
  await expect(parley.api.GET("/key").then(dataOf)).rejects.toMatchObject({ code: "not_parley" });
  expect(away.asked).toEqual([]);
});

test("the client waits as long as Retry-After says", async () => {
  const limited = limitedFor(1);
  const { parley, asked } = await clientOf([limited, json(200, { key: {}, usage: {} })]);
  const begin = performance.now();
  await parley.api.GET("/key").then(dataOf);
  expect(performance.now() - begin).toBeGreaterThanOrEqual(990);
  expect(asked).toHaveLength(2);
});

test("a longer Retry-After than the client may wait is an error at once", async () => {
  const limited = limitedFor(61);
  const { parley, asked } = await clientOf([limited]);
  const reads = parley.api.GET("/key").then(dataOf);
  await expect(reads).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 61 });
  expect(asked).toHaveLength(1);
});

test("a request is given up after its retries, with the service's error", async () => {
  const { parley, asked } = await clientOf([UNAVAILABLE], { retries: 1 });
  await expect(parley.api.GET("/key").then(dataOf)).rejects.toMatchObject({ code: "unavailable", status: 503 });
  expect(asked).toHaveLength(2);
});

test("a service that does not answer is told by its address, not by the path", async () => {
  const { parley, url, server } = await clientOf([], { retries: 0 });
  server.close();
  await expect(parley.api.GET("/key")).rejects.toMatchObject({
    message: `${url} does not answer: the connection failed`,
    code: "unreachable",
    status: null,
  });
});

test("an attempt that takes too long is given up and repeated", async () => {
  const { parley, asked } = await clientOf([() => {}, json(200, { key: {}, usage: {} })], { timeoutMs: 200 });
  await parley.api.GET("/key").then(dataOf);
  // A machine that stands still for a moment gives up the second one too.
  expect(asked.length).toBeGreaterThanOrEqual(2);
});

test.for([
  ["creating a chat", "POST", "/chats", 2],
  ["a send without an Idempotency-Key", "POST", "/chats/cht_g1/messages", 1],
] as const)("after a 503, %s is asked for this often: %s %s, %i", async ([, , path, times]) => {
  const { parley, asked } = await clientOf([UNAVAILABLE, json(201, {})]);
  const body = { content: "Hello", channelId: "chn_g1", contact: { address: "7" } };
  await parley.api.POST(path as "/chats", { body });
  expect(asked).toHaveLength(times);
});

test("a 429 uses up no repeat, however many come and whatever comes between", async () => {
  const limited = limitedFor(0);
  const answers = [...Array(3).fill(limited), UNAVAILABLE, cut, ...Array(4).fill(limited), UNAVAILABLE, UNAVAILABLE];
  const { parley, asked } = await clientOf([...answers, json(201, MESSAGE)]);
  expect(await parley.send("cht_g1", { content: "Hello" })).toEqual(MESSAGE.message);
  expect(asked).toHaveLength(12);
  const ended = await clientOf([...answers, limited, UNAVAILABLE]);
  await expect(ended.parley.send("cht_g1", { content: "Hello" })).rejects.toMatchObject({ code: "unavailable" });
});

test("a hundred sends at once all go out, however few a window admits", async () => {
  let admitted = 0;
  // The first four of every ten requests.
  const { parley, asked } = await clientOf([
    (...call) => (admitted++ % 10 < 4 ? json(201, MESSAGE) : limitedFor(0))(...call),
  ]);
  const sent = await Promise.all(Array.from({ length: 100 }, () => parley.send("cht_g1", { content: "Hello" })));
  expect(sent).toHaveLength(100);
  expect(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size).toBe(100);
});

test("those that were limited together return at different times, none of them early", async () => {
  onTestFinished(() => void vi.restoreAllMocks());
  const wakes: number[] = [];
  vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(0.5).mockReturnValueOnce(0.999);
  const waited = vi.spyOn(globalThis, "setTimeout");
  const { parley } = await clientOf([limitedFor(1), limitedFor(1), limitedFor(1), json(200, { key: {}, usage: {} })]);
  await Promise.all(Array.from({ length: 3 }, () => parley.api.GET("/key").then(dataOf)));
  for (const [, ms] of waited.mock.calls) if (ms && ms >= 1_000 && ms < 2_000) wakes.push(ms);
  expect(wakes.sort((a, b) => a - b)).toEqual([1_000, 1_005, 1_009.99]);
});

test("a request that is limited again and again ends at its deadline, with the service's error", async () => {
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(Math, "random").mockReturnValue(0);
  let now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  const slowly = (...call: Parameters<ReturnType<typeof limitedFor>>) => {
    now += 50;
    return limitedFor(0)(...call);
  };
  const { parley, asked } = await clientOf([slowly], { deadlineMs: 300 });
  await expect(parley.api.GET("/key").then(dataOf)).rejects.toMatchObject({ code: "rate_limited" });
  expect(asked).toHaveLength(6);
});

test("a wait that would pass the deadline is an error at once", async () => {
  const { parley, asked } = await clientOf([limitedFor(5)], { deadlineMs: 4_000 });
  await expect(parley.api.GET("/key").then(dataOf)).rejects.toMatchObject({ retryAfterSeconds: 5 });
  expect(asked).toHaveLength(1);
});

test("without retries, a 429 is an error at once", async () => {
  const { parley, asked } = await clientOf([limitedFor(0)], { retries: 0 });
  await expect(parley.api.GET("/key").then(dataOf)).rejects.toMatchObject({ code: "rate_limited" });
  expect(asked).toHaveLength(1);
});

test("any request is repeated after a 429, because the service did nothing", async () => {
  const limited = limitedFor(0);
  const { parley, asked } = await clientOf([limited, json(201, MESSAGE)]);
  await parley.api.POST("/chats/{id}/messages", { params: { path: { id: "cht_g1" } }, body: { content: "Hello" } });
  expect(asked).toHaveLength(2);
});

test("an aborted request ends its wait at once", async () => {
  const abort = new AbortController();
  // Longer than a test may take: whoever sat it out would not end.
  const limited = limitedFor(600);
  const answer = (...call: Parameters<typeof limited>) => {
    setTimeout(() => abort.abort(), 50);
    return limited(...call);
  };
  const { parley, asked } = await clientOf([answer], { maxWaitMs: 3_600_000, deadlineMs: 7_200_000 });
  const sent = parley.send("cht_g1", { content: "Hello" }, { signal: abort.signal });
  await expect(sent).rejects.toMatchObject({ name: "AbortError" });
  expect(asked).toHaveLength(1);
});

test.for([
  ["7", 7_000],
  ["Fri, 20 Nov 2026 10:00:30 GMT", 30_000],
  ["Fri, 20 Nov 2026 09:00:00 GMT", 0],
  ["soon", null],
  ["", null],
] as const)("Retry-After %j is %s milliseconds", ([text, ms]) => {
  const response = new Response(null, { headers: { "Retry-After": text } });
  expect(retryAfterOf(response, Date.UTC(2026, 10, 20, 10))).toBe(ms);
});
