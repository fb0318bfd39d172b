import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { admin, call, client, expectError, expectFaults, newKey, newOrganization } from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { routesBelow, withUnknownIds } from "../../support/routes.ts";

const ROUTES = ["/api/v1/", "/admin/v1/"].flatMap((prefix) => routesBelow(prefix));

let secret: string;
let narrow: string;
beforeAll(async () => {
  const { organizationId } = await newOrganization();
  secret = (await newKey(organizationId, { permissions: [...PERMISSIONS] })).secret;
  narrow = (await newKey(organizationId, { permissions: [] })).secret;
});

/** Calls a route without a body, with the key or token that it needs. */
function ask(method: string, path: string) {
  const token = path.startsWith("/admin") ? env.ADMIN_TOKEN : secret;
  return call(method, path, { headers: { Authorization: `Bearer ${token}` } });
}

test("the routes of both APIs are covered", () => {
  expect(ROUTES.length).toBeGreaterThan(35);
});

test.each(ROUTES)("%s %s refuses an unknown query parameter", async (method, route) => {
  const path = withUnknownIds(route);
  expectFaults(await ask(method, `${path}?color=red`), "color");
  expectFaults(
    await ask(method, `${path}?__proto__=1&color=&color=red&constructor`),
    "__proto__",
    "color",
    "constructor",
  );
});

test.each([
  ["/api/v1/chats", "page=", "page"],
  ["/api/v1/chats", "contact=", "contact"],
  ["/api/v1/chats", "channel=", "channel"],
  ["/api/v1/chats", "limit=5&limit=5", "limit"],
  ["/api/v1/chats", "status=FAILED", "status"],
  ["/api/v1/chats/cht_gaaaaaaaaaaaaaaa/messages", "before=", "before"],
  ["/api/v1/events", "wait=31", "wait"],
  ["/api/v1/events", "limit=101", "limit"],
  ["/api/v1/events", "from=yesterday", "from"],
  ["/api/v1/events", "after=wrong", "after"],
  ["/api/v1/events", "types=message.created,message.sent", "types"],
  ["/api/v1/events", "types=ping", "types"],
  ["/api/v1/events", "types=message.*,", "types"],
  ["/api/v1/events", "channel=web", "channel"],
  ["/api/v1/events/stream", "types=*", "types"],
  ["/api/v1/events/stream", "after=", "after"],
  ["/api/v1/events/stream", "from=oldest", "from"],
  ["/api/v1/chats/cht_gaaaaaaaaaaaaaaa/events", "after=one", "after"],
  ["/admin/v1/stats", "organization=", "organization"],
  ["/admin/v1/stats/history", "of=", "of"],
  ["/admin/v1/stats/history", "of=org_gaaaaaaaaaaaaaaa", "of"],
  ["/admin/v1/stats/history", "of=key_gaaaaaaaaaaaaaaa&by=week", "by"],
  ["/admin/v1/organizations", "page=1&page=2", "page"],
  ["/admin/v1/organizations", "limit=101", "limit"],
  ...["members", "channels", "templates", "keys", "chats"].flatMap((list) => [
    [`/admin/v1/organizations/org_gaaaaaaaaaaaaaaa/${list}`, "page=0", "page"],
    [`/admin/v1/organizations/org_gaaaaaaaaaaaaaaa/${list}`, "limit=101", "limit"],
  ]),
])("GET %s?%s is refused for %s", async (path, query, name) => {
  expectFaults(await ask("GET", `${path}?${query}`), name);
});

const shared = once(newOrganization);

test.each(["sms", "WEB", "Whatsapp", "cht_gaaaaaaaaaaaaaaa", "chn_", "' or 1=1 --"])(
  "channel=%s is neither a kind nor a channel's id",
  async (text) => {
    const { organizationId } = await shared();
    const query = `?channel=${encodeURIComponent(text)}`;
    expectFaults(await ask("GET", `/api/v1/chats${query}`), "channel");
    expectFaults(await admin("GET", `/organizations/${organizationId}/chats${query}`), "channel");
  },
);

test("a question mark without parameters is accepted", async () => {
  expect((await ask("GET", "/api/v1/key?")).status).toBe(200);
  expect((await ask("GET", "/api/v1/chats?&")).status).toBe(200);
});

test("the query is checked after the key, the permission, the route and the method", async () => {
  expectError(await call("GET", "/api/v1/chats?color=red"), 401, "missing_authorization");
  expectError(await client(narrow)("GET", "/chats?color=red"), 403, "permission_denied");
  expectError(await ask("GET", "/api/v1/nothing?color=red"), 404, "not_found");
  for (const path of ["/nothing", "/", ""]) {
    expectError(await ask("GET", `/admin/v1${path}?color=red`), 404, "not_found", /^Not found$/);
  }
  expectError(await ask("PUT", "/api/v1/chats?color=red"), 405, "method_not_allowed");
  expectError(await ask("PUT", "/admin/v1/organizations?color=red"), 405, "method_not_allowed");
});
