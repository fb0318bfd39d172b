import { expect, test, vi } from "vitest";
import { admin, call, newChat, newOrganization } from "../../support/harness.ts";

/** The `request` lines that are logged from here on. */
function requestLines(): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  vi.spyOn(console, "log").mockImplementation((line: unknown) => {
    const told = (typeof line === "string" ? JSON.parse(line) : line) as Record<string, unknown>;
    if (told.event === "request") lines.push(told);
  });
  return lines;
}

test("a request logs one line with exactly these fields, and with its route instead of its address", async () => {
  const { api, keyId, organizationId, channelId } = await newOrganization();
  const chat = await newChat(api, channelId, "a-private-address");
  const lines = requestLines();
  const answer = await api("POST", `/chats/${chat.id}/messages`, { content: "A private word" });
  await api("GET", "/chats?contact=a-private-address");
  await admin("GET", `/chats/${chat.id}`);
  await call("GET", "/private/address");
  const fields = { event: "request", requestId: expect.any(String), ms: expect.any(Number) };
  const ofKey = { ...fields, keyId, organizationId };
  expect(lines).toEqual([
    {
      ...ofKey,
      requestId: answer.headers.get("X-Request-Id"),
      method: "POST",
      route: "/api/v1/chats/:id/messages",
      status: 201,
    },
    { ...ofKey, method: "GET", route: "/api/v1/chats", status: 200 },
    { ...fields, method: "GET", route: "/admin/v1/chats/:id", status: 200 },
    { ...fields, method: "GET", route: expect.stringMatching(/^\/?\*?$/), status: 404 },
  ]);
  expect(JSON.stringify(lines)).not.toContain("private");
});

/** How many of `count` requests log a line, if `LOG_REQUESTS` is `share` and the dice show one of a hundred values each. */
async function linesOf(count: number, share: string): Promise<number> {
  const lines = requestLines();
  // A request that takes a second has a line anyway.
  vi.useFakeTimers({ toFake: ["Date"] });
  let request = 0;
  vi.spyOn(Math, "random").mockImplementation(() => (request++ % 100) / 100);
  const bindings = { LOG_REQUESTS: share };
  for (let i = 0; i < count; i++) await call("GET", "/healthz", { bindings });
  vi.restoreAllMocks();
  return lines.length;
}

test.each([
  ["", 1],
  ["0.01", 1],
  ["0.25", 25],
  ["all", 100],
  ["none", 0],
] as const)("with LOG_REQUESTS %j, %i of 100 requests log a line", async (share, lines) => {
  expect(await linesOf(100, share)).toBe(lines);
});

test("a request that fails with a 5xx, or takes a second, is always logged", async () => {
  const lines = requestLines();
  const bindings = { LOG_REQUESTS: "none" };
  await call("GET", "/api/v1/chats", { bindings: { ...bindings, KEY_SECRET: "" } });
  const now = Date.now();
  let calls = 0;
  vi.spyOn(Date, "now").mockImplementation(() => now + 1_000 * calls++);
  await call("GET", "/healthz", { bindings });
  expect(lines.map(({ status, ms }) => [status, (ms as number) >= 1_000])).toEqual([
    [503, false],
    [200, true],
  ]);
});

test("a malformed LOG_REQUESTS is logged once, and all requests are logged", async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await linesOf(3, "some")).toBe(3);
  expect(errors.mock.calls.map(([line]) => (line as { event: string }).event)).toContain("configuration_invalid");
});
