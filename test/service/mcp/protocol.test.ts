import { expect, test } from "vitest";
import { admin, call, expectError, newKey, newOrganization } from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { agent } from "./agent.ts";

stopTheClock();

const place = once(async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, {
    permissions: ["chats:read"],
    rateLimit: { limit: 900, windowSeconds: 60 },
  });
  return { ...agent(secret), keyId: key.id as string, secret: secret as string, organizationId };
});

test("the version with a handshake: no session, and the same answers without it", async () => {
  const { ask, post } = await place();
  const client = { capabilities: {}, clientInfo: { name: "test", version: "1" } };
  for (const protocolVersion of ["2025-11-25", "2024-11-05"]) {
    const { status, headers, body } = await ask("initialize", { protocolVersion, ...client });
    expect(status).toBe(200);
    expect(headers.has("Mcp-Session-Id")).toBe(false);
    expect(body).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "parley" } },
    });
    expect(body.result.instructions).toMatch(/never an instruction/);
  }
  const told = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect([told.status, told.text]).toEqual([202, ""]);
  expect((await ask("ping")).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  expect((await ask("tools/list")).body.result.tools.length).toBeGreaterThan(0);
});

test("the version without a handshake", async () => {
  const { askModern } = await place();
  const found = await askModern("server/discover");
  expect(found.body.result).toMatchObject({
    resultType: "complete",
    supportedVersions: ["2026-07-28", "2025-11-25"],
    capabilities: { tools: {} },
    cacheScope: "public",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "parley" } },
  });
  const { body } = await askModern("tools/list");
  expect(body).toMatchObject({ id: "a", result: { resultType: "complete", cacheScope: "private" } });
  const called = await askModern("tools/call", { name: "list_chats", arguments: {} });
  expect(called.body.result).toMatchObject({ resultType: "complete", content: [{ type: "text" }] });
  for (const method of ["ping", "initialize", "prompts/list"]) {
    const { status, body } = await askModern(method);
    expect([status, body.error.code], method).toEqual([404, -32_601]);
  }
});

test("a version that is not supported, and headers that the body contradicts", async () => {
  const { askModern, post } = await place();
  const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };
  const unknown = await post(list, { "MCP-Protocol-Version": "2024-11-05" });
  expect([unknown.status, unknown.body]).toEqual([
    400,
    {
      jsonrpc: "2.0",
      id: 7,
      error: {
        code: -32_022,
        message: "Unsupported protocol version",
        data: { supported: ["2026-07-28", "2025-11-25"], requested: "2024-11-05" },
      },
    },
  ]);
  const wrong: [Promise<{ status: number; body: { error: { code: number } } }>, number][] = [
    [askModern("tools/list", {}, { "MCP-Protocol-Version": "2025-11-25" }), -32_020],
    [askModern("tools/list", {}, { "Mcp-Method": "tools/call" }), -32_020],
    [askModern("tools/call", { name: "list_chats" }, { "Mcp-Name": "send_message" }), -32_020],
    [askModern("tools/call", { name: "list_chats" }, { "Mcp-Name": "=?base64?!!?=" }), -32_020],
    [post(list, { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list" }), -32_602],
  ];
  for (const [asked, code] of wrong) {
    const { status, body } = await asked;
    expect([status, body.error.code]).toEqual([400, code]);
  }
  const encoded = { "Mcp-Name": `=?base64?${btoa("list_chats")}?=` };
  expect((await askModern("tools/call", { name: "list_chats" }, encoded)).status).toBe(200);
});

test.each<[string, unknown, number, number]>([
  ["nothing", "", 400, -32_700],
  ["no JSON", "{", 400, -32_700],
  ["no UTF-8", new Uint8Array([0xff]), 400, -32_700],
  ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }], 400, -32_600],
  ["no object", "7", 400, -32_600],
  ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "ping" }, 400, -32_600],
  ["no method", { jsonrpc: "2.0", id: 1 }, 400, -32_600],
  ["an answer", { jsonrpc: "2.0", id: 1, result: {} }, 400, -32_600],
  ["null as its id", { jsonrpc: "2.0", id: null, method: "ping" }, 400, -32_600],
  ["a fraction as its id", { jsonrpc: "2.0", id: 1.5, method: "ping" }, 400, -32_600],
  ["a list of params", { jsonrpc: "2.0", id: 1, method: "ping", params: [] }, 400, -32_602],
  ["an unknown method", { jsonrpc: "2.0", id: 1, method: "prompts/list" }, 200, -32_601],
  ["server/discover with a handshake", { jsonrpc: "2.0", id: 1, method: "server/discover" }, 200, -32_601],
  ["a cursor", { jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: "a" } }, 400, -32_602],
  ["no version", { jsonrpc: "2.0", id: 1, method: "initialize" }, 400, -32_602],
  ["an unknown tool", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "toString" } }, 200, -32_602],
  ["no tool", { jsonrpc: "2.0", id: 1, method: "tools/call" }, 200, -32_602],
  [
    "a list of arguments",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_chats", arguments: [] } },
    200,
    -32_602,
  ],
])("a body with %s", async (_, body, status, code) => {
  const { post } = await place();
  const answer = await post(body);
  expect([answer.status, answer.body.error.code], answer.text).toEqual([status, code]);
  expect(answer.body).not.toHaveProperty("result");
});

test("the key, the origin, the address, the size and the rate limit are answered as HTTP", async () => {
  const { post, secret, organizationId } = await place();
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expectError(await call("POST", "/api/v1/mcp", { body: ping }), 401, "missing_authorization");
  expectError(await agent(`${secret}x`).post(ping), 401, "invalid_api_key");
  for (const Origin of ["https://evil.test", "https://parley.test", "null"]) {
    expectError(await post(ping, { Origin }), 403, "cross_site", /Browsers/);
  }
  expectError(await post("x".repeat(66_000)), 413, "body_too_large");
  expectError(await post(ping, { "Content-Encoding": "gzip" }), 415, "media_type");
  const bound = await newKey(organizationId, { ipAllowlist: ["192.0.2.1"] });
  expectError(await agent(bound.secret).post(ping), 403, "ip_not_allowed");
  const slow = agent((await newKey(organizationId, { rateLimit: { limit: 2, windowSeconds: 60 } })).secret);
  expect((await slow.ask("ping")).headers.get("X-RateLimit-Remaining")).toBe("1");
  await slow.use("list_chats");
  expectError(await slow.ask("ping"), 429, "rate_limited");
});

test.each(["GET", "DELETE", "PUT"])("%s is no method of the endpoint", async (method) => {
  const { secret } = await place();
  const answer = await call(method, "/api/v1/mcp", { headers: { Authorization: `Bearer ${secret}` } });
  expectError(answer, 405, "method_not_allowed");
  expect(answer.headers.get("Allow")).toBe("POST");
});

test("a call counts as one request of the key, whatever it calls", async () => {
  const { organizationId } = await place();
  const { key, secret } = await newKey(organizationId, { permissions: ["chats:read", "messages:read"] });
  const { use, ask } = agent(secret);
  await ask("ping");
  await use("list_chats");
  await use("get_chat", { chatId: "cht_gone" });
  await use("send_message");
  expect((await admin("GET", `/keys/${key.id}/usage`)).body.usage).toMatchObject({
    used: 4,
    window: { remaining: 296 },
  });
});

test("a revoked key is refused, and a narrowed one has fewer tools, with the next request", async () => {
  const { organizationId } = await place();
  const { key, secret } = await newKey(organizationId, { permissions: ["chats:read", "templates:read"] });
  const { tools, use, ask } = agent(secret);
  expect(await tools()).toEqual(["list_chats", "find_contact", "get_chat", "list_templates"]);
  await admin("PATCH", `/keys/${key.id}`, { permissions: ["templates:read"] });
  expect(await tools()).toEqual(["list_templates"]);
  expect(await use("list_chats")).toMatchObject({ isError: true, structuredContent: { code: "permission_denied" } });
  await admin("DELETE", `/keys/${key.id}`);
  expectError(await ask("tools/list"), 401, "invalid_api_key");
});

test("a hundred calls at once are each answered with their own id", async () => {
  const { post } = await place();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, id) =>
      post({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "list_chats", arguments: { limit: 1 } } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
  expect(answers.map(({ body }) => body.id)).toEqual(Array.from({ length: 100 }, (_, id) => id));
  expect(answers.every(({ body }) => body.result.isError === undefined)).toBe(true);
});
