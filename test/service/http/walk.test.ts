import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { app } from "../../../src/app.ts";
import { requestLog } from "../../../src/http/request-log.ts";
import { authenticate } from "../../../src/keys/guard.ts";
import { newKeyText } from "../../../src/keys/key-text.ts";
import { newId } from "../../../src/model/id.ts";
import { neededPermissions, needsOnlyOne, PERMISSIONS, type Permission } from "../../../src/model/permission.ts";
import { needOf } from "../../../src/openapi/permissions.ts";
import { admin, call, client, expectError, newKey, newOrganization } from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { withOtherEnd } from "../../support/other-end.ts";

/** The routes that need no key or token. Any other route without one is a fault. */
const PUBLIC = [
  "GET /",
  "GET /healthz",
  // A page of the console sends the token in the body.
  "POST /console/session",
  "DELETE /console/session",
  // Cloudflare Access says who asks. Where it does not stand before the console, nobody is vouched for.
  // A one-time link says whom it signs in.
  "POST /console/link",
  // A challenge for whoever has a passkey.
  "GET /console/passkey",
  "GET /console/access",
  "GET /console/preview",
  // The page. It has nothing of anybody.
  "GET /console",
  "GET /console/*",
  "ALL /hooks/*",
  "GET /hooks/whatsapp/:channelId",
  "GET /web/:channelId",
  "GET /web/:channelId/availability",
  "GET /web/:channelId/socket",
  // Its link is signed.
  "GET /web/:channelId/media/:chatId/:messageId",
  // A page of another site asks before it uploads.
  "OPTIONS /web/:channelId/media",
];

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Every registered route once, such as `GET /chats/:id`, without middleware. */
const ROUTES = [...new Set(app.routes.map(({ method, path }) => `${method} ${path}`))].filter(
  (route) => route !== "ALL /*",
);

/** A request that matches the route, with well-formed ids that don't exist. */
function requestOf(route: string): { method: string; path: string } {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern
    .replace(":messageId", newId("msg", null))
    .replace(/:\w+/g, newId("cht", null))
    .replace("*", "nowhere");
  return { method: method === "ALL" ? "GET" : method, path };
}

/** The routes that don't respond with a 401 to these headers. */
async function routesOpenTo(headers: Record<string, string>, routes = ROUTES): Promise<string[]> {
  const open: string[] = [];
  for (const route of routes) {
    const { method, path } = requestOf(route);
    const { status, body } = await call(method, path, { headers });
    if (status !== 401 || typeof body.message !== "string" || "error" in body) open.push(route);
  }
  return open;
}

const organization = once(newOrganization);

/** A new key of an organization that all tests share. */
async function newSecret(settings: Record<string, unknown> = {}) {
  return (await newKey((await organization()).organizationId, settings)).secret;
}

/** A key with these permissions, which the tests that only ask share. */
function secretOf(permissions: readonly Permission[]): Promise<string> {
  const name = permissions.join();
  const make = secrets.get(name) ?? once(() => newSecret({ permissions }));
  secrets.set(name, make);
  return make();
}
const secrets = new Map<string, () => Promise<string>>();

test("both prefixes have routes", () => {
  expect(ROUTES).toEqual(expect.arrayContaining(["GET /api/v1/chats", "POST /admin/v1/organizations"]));
  expect(ROUTES.length).toBeGreaterThan(40);
});

test("every route needs a key or a token", async () => {
  expect(await routesOpenTo({})).toEqual(PUBLIC);
});

test.each([
  ["another scheme", async () => `Basic ${await newSecret()}`],
  ["no scheme", () => newSecret()],
  ["a key whose check is wrong", async () => `Bearer ${withOtherEnd(await newSecret())}`],
  ["a key that was never made", () => newKeyText(newId("key", null), secretBytes()).then((text) => `Bearer ${text}`)],
  ["a key's text in another case", async () => `Bearer ${(await newSecret()).toUpperCase()}`],
  ["a wrong token", async () => `Bearer ${withOtherEnd(env.ADMIN_TOKEN)}`],
  ["a token with one character more", async () => `Bearer ${env.ADMIN_TOKEN}x`],
  ["a token with one character less", async () => `Bearer ${env.ADMIN_TOKEN.slice(0, -1)}`],
  ["a token in another case", async () => `Bearer ${env.ADMIN_TOKEN.toLowerCase()}`],
  ["an empty token", async () => "Bearer "],
  ["undefined", async () => "Bearer undefined"],
])("no route accepts %s", async (_, authorization) => {
  expect(await routesOpenTo({ Authorization: await authorization() })).toEqual(PUBLIC);
});

test("no route accepts a revoked key", async () => {
  const { key, secret } = await newKey((await newOrganization()).organizationId);
  await admin("DELETE", `/keys/${key.id}`);
  expect(await routesOpenTo({ Authorization: `Bearer ${secret}` })).toEqual(PUBLIC);
});

test.each<[string, (id: string, organizationId: string) => Promise<unknown>]>([
  ["expired", (id) => admin("PATCH", `/keys/${id}`, { expiresAt: "2020-01-01T00:00:00Z" })],
  ["rotated away", (id) => admin("POST", `/keys/${id}/rotate`)],
  ["gone with its organization", (_id, organizationId) => admin("DELETE", `/organizations/${organizationId}`)],
])("no route accepts a key that is %s", async (_, end) => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  expect((await client(secret)("GET", "/key")).status).toBe(200);
  await end(key.id, organizationId);
  expect(await routesOpenTo({ Authorization: `Bearer ${secret}` })).toEqual(PUBLIC);
});

test("the operator's routes accept no API key, and the public routes don't accept the operator's token", async () => {
  const key = { Authorization: `Bearer ${await newSecret({ permissions: [...PERMISSIONS] })}` };
  const operators = ROUTES.filter((route) => route.includes(" /admin/"));
  expect(await routesOpenTo(key, operators)).toEqual([]);
  const byToken = await routesOpenTo({ Authorization: `Bearer ${env.ADMIN_TOKEN}` });
  expect(byToken.filter((route) => route.includes(" /api/") && !PUBLIC.includes(route))).toEqual([]);
});

test("a key in a query, a cookie or another header is not accepted", async () => {
  const [secret, path] = [await newSecret(), "/api/v1/chats"];
  for (const name of ["Cookie", "X-API-Key", "Proxy-Authorization", "X-Authorization"]) {
    const value = name === "Cookie" ? `Authorization=Bearer ${secret}` : `Bearer ${secret}`;
    expectError(await call("GET", path, { headers: { [name]: value } }), 401, "missing_authorization");
  }
  expectError(await call("GET", `${path}?Authorization=Bearer%20${secret}`), 401, "missing_authorization");
});

test("under both prefixes, every method on any path needs a key or a token", async () => {
  const guarded = ROUTES.filter((route) => /\/(api|admin)\/v1|\/console\/api/.test(route));
  const paths = new Set(guarded.map((route) => requestOf(route).path));
  const open: string[] = [];
  for (const path of [...paths, "/api/v1", "/api/v1/", "/admin/v1", "/admin/v1/", "/api/v1//chats"]) {
    for (const method of METHODS) {
      if ((await call(method, path)).status !== 401) open.push(`${method} ${path}`);
    }
  }
  expect(open).toEqual([]);
});

/** The statuses of every method on the routes without a key, with ids that don't exist. 101 is a socket. */
const STRANGE: Record<string, Record<string, number>> = {
  "/": { GET: 200, HEAD: 200 },
  "/healthz": { GET: 200, HEAD: 200 },
  "/console": { GET: 200, HEAD: 200 },
  "/console/*": { GET: 200, HEAD: 200 },
  "/console/access": { GET: 403, HEAD: 403 },
  "/console/passkey": { GET: 403, HEAD: 403 },
  "/console/preview": { GET: 200, HEAD: 200 },
  "/console/link": { GET: 200, HEAD: 200, POST: 403 },
  "/console/session": { GET: 200, HEAD: 200, POST: 403, DELETE: 403 },
  "/hooks/telegram/:channelId": { POST: 401 },
  "/hooks/whatsapp/:channelId": { GET: 403, HEAD: 403, POST: 401 },
  "/web/:channelId": { GET: 404, HEAD: 404 },
  "/web/:channelId/availability": { GET: 200, HEAD: 200 },
  "/web/:channelId/media/:chatId/:messageId": { GET: 404, HEAD: 404 },
  "/web/:channelId/media": { OPTIONS: 204, POST: 401 },
  "/web/:channelId/socket": { GET: 101, HEAD: 400 },
};

test("the routes without a key have only the methods that they need, and HEAD and OPTIONS cause no 500", async () => {
  const open = ROUTES.filter((route) => !/\/(api|admin)\/v1|\/console\/api|^ALL /.test(route)).map((route) =>
    route.slice(route.indexOf(" ") + 1),
  );
  expect([...new Set(open)].sort()).toEqual(Object.keys(STRANGE).sort());
  for (const [pattern, statuses] of Object.entries(STRANGE)) {
    for (const method of METHODS) {
      const path = pattern.replace(":channelId", newId("chn", null));
      // Calls the app directly, because the tests' runtime turns every upgrade request into a GET.
      const asked = { headers: { Upgrade: "websocket" }, bindings: {} };
      const { status, headers, text } = await call(method, path, asked);
      expect([method, pattern, status]).toEqual([method, pattern, statuses[method] ?? 405]);
      expect(headers.get("X-Request-Id"), `${method} ${pattern}`).not.toBeNull();
      if (method === "HEAD") expect(text).toBe("");
    }
  }
});

/** The routes that need all of some permissions, by their permission lines. `guides.test.ts` has these by hand. */
const NEED_ALL = ROUTES.filter((route) => !route.startsWith("ALL ")).flatMap(
  (route): [string, readonly Permission[]][] => {
    const [method = "", path] = route.replace(/:(\w+)/g, "{$1}").split(" /api/v1");
    const need = path === undefined ? null : needOf(method.toLowerCase(), path);
    // A stream would not end, so its cursor is wrong.
    const asked = path === "/events/stream" ? `${route}?after=wrong` : route;
    return need === null || needsOnlyOne(need) ? [] : [[asked, neededPermissions(need)]];
  },
);

test("several routes need all of some permissions", () => {
  expect(NEED_ALL.length).toBeGreaterThan(5);
});

test.each(NEED_ALL)(
  "%s refuses a key that lacks one of %s, and accepts a key with only these",
  async (route, needed) => {
    const { method, path } = requestOf(route);
    for (const permission of needed) {
      const others = PERMISSIONS.filter((each) => each !== permission);
      const without = { Authorization: `Bearer ${await secretOf(others)}` };
      expectError(await call(method, path, { headers: without }), 403, "permission_denied", permission);
    }
    const alone = { Authorization: `Bearer ${await secretOf(needed)}` };
    const { status, body } = await call(method, path, { headers: alone });
    // Keys that manage keys need the operator's consent too.
    // An export has no JSON body, and these requests have no length.
    if (body?.code === "self_service_off") expect(needed).toEqual(["keys:write"]);
    else expect([200, 400, 404, 411]).toContain(status);
  },
);

test("a note is deleted with either of two permissions, and with none of them not", async () => {
  const { method, path } = requestOf("DELETE /api/v1/chats/:id/notes/:noteId");
  const needed = neededPermissions("notes:delete");
  expect(needed).toEqual(["notes:write", "chats:erase"]);
  const ask = async (permissions: Permission[]) =>
    call(method, path, { headers: { Authorization: `Bearer ${await newSecret({ permissions })}` } });
  const others = PERMISSIONS.filter((each) => !needed.includes(each));
  expectError(await ask(others), 403, "permission_denied", /notes:write and chats:erase. Use a key that has one/);
  for (const one of needed) expectError(await ask([one]), 404, "chat_not_found");
});

test("a key without permissions can read itself", async () => {
  expect((await client(await newSecret({ permissions: [] }))("GET", "/key")).status).toBe(200);
});

test("a route that responds without `requirePermission` returns an error", async () => {
  const forgetful = new Hono<{ Bindings: Env }>()
    .use(requestLog(), authenticate())
    .get("/forgotten", (c) => c.text("everyone's secrets"));
  forgetful.onError((error, c) => c.text(error.message, 500));
  const headers = { Authorization: `Bearer ${await newSecret()}` };
  const response = await forgetful.request("/forgotten", { headers }, env);
  expect([response.status, await response.text()]).toEqual([500, "GET /forgotten answered without a permission line"]);
});

function secretBytes(): Uint8Array {
  return Uint8Array.fromBase64(env.KEY_SECRET);
}
