import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { app } from "../../../src/app.ts";
import { newId } from "../../../src/ids.ts";
import { authenticate } from "../../../src/keys/guard.ts";
import { newKeyText } from "../../../src/keys/key-text.ts";
import { PERMISSIONS } from "../../../src/keys/permissions.ts";
import { admin, call, client, expectError, newKey, newOrganization } from "../../support/harness.ts";

/** The routes that answer without a key or a token. What else does not demand one is a fault by existing. */
const PUBLIC = [
  "GET /",
  "GET /healthz",
  "ALL /hooks/*",
  "GET /hooks/whatsapp/:channelId",
  "GET /web/:channelId",
  "GET /web/:channelId/availability",
  "GET /web/:channelId/socket",
];

/** What each route of the public API demands; null where any valid key will do. */
const NEEDS: Record<string, string | null> = {
  "GET /api/v1/chats": "chats:read",
  "POST /api/v1/chats": "chats:write",
  "GET /api/v1/chats/:id": "chats:read",
  "GET /api/v1/chats/:id/messages": "messages:read",
  "GET /api/v1/chats/:id/messages/:messageId": "messages:read",
  "GET /api/v1/chats/:id/messages/:messageId/media": "messages:read",
  "POST /api/v1/chats/:id/messages": "messages:send",
  "GET /api/v1/key": null,
};

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Every registered route once, `GET /chats/:id`; what stands before all of them and answers nothing is left out. */
const ROUTES = [...new Set(app.routes.map(({ method, path }) => `${method} ${path}`))].filter(
  (route) => route !== "ALL /*",
);

/** A request that the route matches, with ids that are well-formed and nobody's. */
function requestOf(route: string): { method: string; path: string } {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern
    .replace(":messageId", newId("msg", null))
    .replace(/:\w+/g, newId("cht", null))
    .replace("*", "nowhere");
  return { method: method === "ALL" ? "GET" : method, path };
}

/** The routes that do not answer a 401 of shape A to these headers. */
async function routesOpenTo(headers: Record<string, string>): Promise<string[]> {
  const open: string[] = [];
  for (const route of ROUTES) {
    const { method, path } = requestOf(route);
    const { status, body } = await call(method, path, { headers });
    if (status !== 401 || typeof body.message !== "string" || "error" in body) open.push(route);
  }
  return open;
}

async function newSecret(settings: Record<string, unknown> = {}) {
  return (await newKey((await newOrganization()).organizationId, settings)).secret;
}

/** `text` with another last character. */
function altered(text: string): string {
  return text.slice(0, -1) + (text.endsWith("A") ? "B" : "A");
}

test("both prefixes have routes to walk", () => {
  expect(ROUTES).toEqual(expect.arrayContaining(["GET /api/v1/chats", "POST /admin/v1/organizations"]));
  expect(ROUTES.length).toBeGreaterThan(40);
});

test("every route demands a key or a token", async () => {
  expect(await routesOpenTo({})).toEqual(PUBLIC);
});

test.each([
  ["another scheme", async () => `Basic ${await newSecret()}`],
  ["no scheme", () => newSecret()],
  ["a key whose check is wrong", async () => `Bearer ${altered(await newSecret())}`],
  ["a key that was never made", () => newKeyText(newId("key", null), secretBytes()).then((text) => `Bearer ${text}`)],
  ["a key's text in another case", async () => `Bearer ${(await newSecret()).toUpperCase()}`],
  ["a wrong token", async () => `Bearer ${altered(env.ADMIN_TOKEN)}`],
  ["an empty token", async () => "Bearer "],
  ["undefined", async () => "Bearer undefined"],
])("no route opens to %s", async (_, authorization) => {
  expect(await routesOpenTo({ Authorization: await authorization() })).toEqual(PUBLIC);
});

test("a revoked key opens no route", async () => {
  const { key, secret } = await newKey((await newOrganization()).organizationId);
  await admin("DELETE", `/keys/${key.id}`);
  expect(await routesOpenTo({ Authorization: `Bearer ${secret}` })).toEqual(PUBLIC);
});

test.each<[string, (id: string, organizationId: string) => Promise<unknown>]>([
  ["expired", (id) => admin("PATCH", `/keys/${id}`, { expiresAt: "2020-01-01T00:00:00Z" })],
  ["rotated away", (id) => admin("POST", `/keys/${id}/rotate`)],
  ["gone with its organization", (_id, organizationId) => admin("DELETE", `/organizations/${organizationId}`)],
])("a key that is %s opens no route", async (_, end) => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  expect((await client(secret)("GET", "/key")).status).toBe(200);
  await end(key.id, organizationId);
  expect(await routesOpenTo({ Authorization: `Bearer ${secret}` })).toEqual(PUBLIC);
});

test("an API key opens no operator's route, and the operator's token none of the API", async () => {
  const byKey = await routesOpenTo({ Authorization: `Bearer ${await newSecret()}` });
  expect(byKey.filter((route) => route.includes(" /admin/"))).toEqual([]);
  const byToken = await routesOpenTo({ Authorization: `Bearer ${env.ADMIN_TOKEN}` });
  expect(byToken.filter((route) => route.includes(" /api/") && !PUBLIC.includes(route))).toEqual([]);
});

test("no key comes in a query, a cookie or another header", async () => {
  const [secret, path] = [await newSecret(), "/api/v1/chats"];
  for (const name of ["Cookie", "X-API-Key", "Proxy-Authorization", "X-Authorization"]) {
    const value = name === "Cookie" ? `Authorization=Bearer ${secret}` : `Bearer ${secret}`;
    expectError(await call("GET", path, { headers: { [name]: value } }), 401, "missing_authorization");
  }
  expectError(await call("GET", `${path}?Authorization=Bearer%20${secret}`), 401, "missing_authorization");
});

test("under both prefixes every method, on a route or on none, demands a key or a token", async () => {
  const guarded = ROUTES.filter((route) => /\/(api|admin)\/v1/.test(route));
  const paths = new Set(guarded.map((route) => requestOf(route).path));
  const open: string[] = [];
  for (const path of [...paths, "/api/v1", "/api/v1/", "/admin/v1", "/admin/v1/", "/api/v1//chats"]) {
    for (const method of METHODS) {
      if ((await call(method, path)).status !== 401) open.push(`${method} ${path}`);
    }
  }
  expect(open).toEqual([]);
});

/** The statuses of every method on what needs no key, of which none has an id that anyone has; 101 is a socket. */
const STRANGE: Record<string, Record<string, number>> = {
  "/": { GET: 200, HEAD: 200 },
  "/healthz": { GET: 200, HEAD: 200 },
  "/hooks/telegram/:channelId": { POST: 401 },
  "/hooks/whatsapp/:channelId": { GET: 403, HEAD: 403, POST: 401 },
  "/web/:channelId": { GET: 404, HEAD: 404 },
  "/web/:channelId/availability": { GET: 200, HEAD: 200 },
  "/web/:channelId/socket": { GET: 101, HEAD: 400 },
};

test("what needs no key has no more methods than it needs, and no HEAD or OPTIONS is met with a fault", async () => {
  const open = ROUTES.filter((route) => !/\/(api|admin)\/v1|^ALL /.test(route)).map((route) =>
    route.slice(route.indexOf(" ") + 1),
  );
  expect([...new Set(open)].sort()).toEqual(Object.keys(STRANGE).sort());
  for (const [pattern, statuses] of Object.entries(STRANGE)) {
    for (const method of METHODS) {
      const path = pattern.replace(":channelId", newId("chn", null));
      // Through the app itself: the tests' runtime makes a GET of whatever asks for a socket.
      const asked = { headers: { Upgrade: "websocket" }, bindings: {} };
      const { status, headers, text } = await call(method, path, asked);
      expect([method, pattern, status]).toEqual([method, pattern, statuses[method] ?? 405]);
      expect(headers.get("X-Request-Id"), `${method} ${pattern}`).not.toBeNull();
      if (method === "HEAD") expect(text).toBe("");
    }
  }
});

test("every route of the API stands in the table of permissions", () => {
  const routes = ROUTES.filter((route) => route.includes(" /api/") && !/^ALL /.test(route) && !PUBLIC.includes(route));
  expect(routes.sort()).toEqual(Object.keys(NEEDS).sort());
});

test.each(Object.entries(NEEDS).filter(([, permission]) => permission !== null))(
  "%s is refused to a key with every permission but %s, and not to one with it alone",
  async (route, permission) => {
    const { method, path } = requestOf(route);
    const others = PERMISSIONS.filter((each) => each !== permission);
    const without = { Authorization: `Bearer ${await newSecret({ permissions: others })}` };
    expectError(await call(method, path, { headers: without }), 403, "permission_denied", permission ?? "");
    const alone = { Authorization: `Bearer ${await newSecret({ permissions: [permission] })}` };
    expect([200, 400, 404]).toContain((await call(method, path, { headers: alone })).status);
  },
);

test("a key without any permission reads itself", async () => {
  expect((await client(await newSecret({ permissions: [] }))("GET", "/key")).status).toBe(200);
});

test("a route that answers without a permission line answers with an error", async () => {
  const forgetful = new Hono<{ Bindings: Env }>()
    .use(authenticate())
    .get("/forgotten", (c) => c.text("everyone's secrets"));
  forgetful.onError((error, c) => c.text(error.message, 500));
  const headers = { Authorization: `Bearer ${await newSecret()}` };
  const response = await forgetful.request("/forgotten", { headers }, env);
  expect([response.status, await response.text()]).toEqual([500, "GET /forgotten answered without a permission line"]);
});

function secretBytes(): Uint8Array {
  return Uint8Array.fromBase64(env.KEY_SECRET);
}
