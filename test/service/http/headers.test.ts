import { exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { type Answer, admin, call, client, newChat, newKey, newOrganization, send } from "../../support/harness.ts";
import { upgrade } from "../../support/sockets.ts";
import { place } from "../inbound/fixtures.ts";
import { fromMeta } from "../inbound/webhook-calls.ts";

const LIMIT_HEADERS = [
  "ratelimit",
  "ratelimit-policy",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
];

/** Responses of every kind to requests with a valid key, by what they show. */
async function authenticatedAnswers(): Promise<[string, Answer][]> {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const narrow = client((await newKey(organizationId, { permissions: [], ipAllowlist: ["192.0.2.1"] })).secret);
  const spent = client((await newKey(organizationId, { monthlyQuota: 1 })).secret);
  const limited = client((await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 3_600 } })).secret);
  await Promise.all([spent("GET", "/key"), limited("GET", "/key")]);
  const path = `/chats/${chat.id}/messages`;
  return [
    ["200", await api("GET", "/key")],
    ["200 with chats", await api("GET", "/chats")],
    ["200 with messages", await api("GET", path)],
    ["200 to HEAD", await api("HEAD", path)],
    ["201", await api("POST", path, { content: "Hello" })],
    ["304", await api("GET", path, undefined, { "If-None-Match": "*" })],
    ["400 with a message", await api("GET", `${path}?page=0`)],
    ["400 with an error", await api("POST", path, {})],
    ["403 for the address", await narrow("GET", "/chats")],
    ["403 for the permission", await narrow("GET", "/chats", undefined, { "CF-Connecting-IP": "192.0.2.1" })],
    ["403 for the quota", await spent("GET", "/key")],
    ["404 for a chat", await api("GET", "/chats/cht_1")],
    ["404 for a route", await api("GET", "/nowhere")],
    ["405", await api("OPTIONS", "/chats")],
    ["413", await api("POST", path, "x".repeat(70_000))],
    ["429", await limited("GET", "/key")],
  ];
}

test("every authenticated response, success or error, has the limits and is not cached", async () => {
  for (const [name, { headers, status }] of await authenticatedAnswers()) {
    expect(String(status), name).toBe(name.slice(0, 3));
    expect(headers.get("Cache-Control"), name).toBe("no-store");
    expect([...headers.keys()].filter((header) => header.includes("ratelimit")).sort(), name).toEqual(LIMIT_HEADERS);
  }
});

const SAFE = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
};

test("no response except a page can be cached, sniffed or framed", async () => {
  const { channel } = await place("whatsapp");
  const { verifyToken } = channel.webhook;
  const shake = `hub.mode=subscribe&hub.challenge=1&hub.verify_token=${verifyToken}`;
  const answers: [string, Answer][] = [
    ["health", await call("GET", "/healthz")],
    ["405", await call("POST", "/healthz")],
    ["404", await call("GET", "/nowhere")],
    ["401", await call("GET", "/api/v1/chats")],
    ["401 for a key", await client("ply_wrong")("GET", "/chats")],
    ["operator", await admin("GET", "/organizations")],
    ["operator's 400", await admin("GET", "/organizations?page=0")],
    ["operator's 401", await call("GET", "/admin/v1/organizations")],
    ["handshake", await call("GET", `/hooks/whatsapp/${channel.id}?${shake}`)],
    ["forged webhook", await call("POST", `/hooks/whatsapp/${channel.id}`, { body: {} })],
    ["webhook", await fromMeta(channel, [])],
    ["no page", await call("GET", "/web/chn_1")],
    ["no socket", await call("GET", `/web/${channel.id}/socket`)],
    ...(await authenticatedAnswers()),
  ];
  for (const [name, { headers }] of answers) expect(Object.fromEntries(headers), name).toMatchObject(SAFE);
});

test("a page sets its own rules for framing and scripts, and a socket has the default headers", async () => {
  const { channelId } = await newOrganization();
  const page = await call("GET", `/web/${channelId}`);
  expect(page.headers.get("Content-Security-Policy")).toMatch(
    /^default-src 'none'; script-src 'self'; .*trusted-types/,
  );
  expect(Object.fromEntries(page.headers)).toMatchObject({
    ...SAFE,
    "cache-control": "no-cache",
    "content-security-policy": expect.stringContaining("frame-ancestors *"),
  });
  const { status, headers, webSocket } = await upgrade(channelId);
  webSocket?.accept();
  webSocket?.close();
  expect(status).toBe(101);
  expect(headers.get("Strict-Transport-Security")).toBe("max-age=31536000");
});

test("a response over http has no header about https", async () => {
  const answer = await exports.default.fetch("http://parley.test/healthz");
  expect([answer.status, answer.headers.get("Strict-Transport-Security")]).toEqual([200, null]);
});

test("every response has its own request id, whatever the client sends", async () => {
  const answers = await Promise.all([
    call("GET", "/healthz", { headers: { "X-Request-Id": "mine" } }),
    call("POST", "/healthz"),
    call("GET", "/nowhere"),
    call("GET", "/api/v1/chats"),
    call("OPTIONS", "/api/v1/chats"),
    client("ply_wrong")("GET", "/chats", undefined, { "X-Request-Id": "mine" }),
    call("GET", "/admin/v1/organizations"),
    admin("GET", "/organizations?page=0"),
  ]);
  for (const [, answer] of await authenticatedAnswers()) answers.push(answer);
  const ids = answers.map((answer) => answer.headers.get("X-Request-Id"));
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ["a page", "/chats/:chat/messages", 200],
  ["a key", "/key", 200],
  ["a 400", "/chats?page=0", 400],
  ["a 404", "/chats/cht_1", 404],
  ["the operator", "/organizations", 200],
])("HEAD responds like GET to %s, without the body", async (_, path, status) => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id);
  const ask = path === "/organizations" ? admin : api;
  const [head, get] = [
    await ask("HEAD", path.replace(":chat", chat.id)),
    await ask("GET", path.replace(":chat", chat.id)),
  ];
  expect([head.status, head.text, get.status]).toEqual([status, "", status]);
  expect([...head.headers.keys()]).toEqual([...get.headers.keys()]);
  expect(head.headers.get("Content-Type")).toBe(get.headers.get("Content-Type"));
});

test("no response lets another site read it", async () => {
  const { api } = await newOrganization();
  const headers = { Origin: "https://evil.test", "Access-Control-Request-Method": "GET" };
  for (const method of ["GET", "OPTIONS"]) {
    const answer = await api(method, "/chats", undefined, headers);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});
