import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { browser, OWN_PAGE, signIn } from "../../support/console.ts";
import { call, expectError, newOrganization } from "../../support/harness.ts";
import { routesBelow } from "../../support/routes.ts";

let cookie: string;
beforeAll(async () => {
  cookie = await signIn();
});

/** Every route that needs a session, with ids that don't exist. */
const ROUTES = routesBelow("/console/api/").map(([method, path]) => [method, path.replace(/:\w+/g, "none")] as const);

test("the console has the routes of an organization's keys", () => {
  const below = (path: string) => path.replace("/api/v1", "/console/api/organizations/none").replace(/:\w+/g, "none");
  const expected = routesBelow("/api/v1/").map(([method, path]) => `${method} ${below(path)}`);
  const known = ROUTES.map((route) => route.join(" "));
  expect(known.length).toBeGreaterThan(50);
  expect(expected.filter((route) => !known.includes(route))).toEqual([
    "GET /console/api/organizations/none/key",
    "POST /console/api/organizations/none/mcp",
  ]);
});

test.each(ROUTES)("%s %s needs a session", async (method, path) => {
  expectError(await call(method, path, { headers: OWN_PAGE }), 401, "not_signed_in");
  const token = { ...OWN_PAGE, Authorization: `Bearer ${env.ADMIN_TOKEN}` };
  expectError(await call(method, path, { headers: token }), 401, "not_signed_in");
});

test.each(ROUTES)("%s %s refuses the session in a request of another site", async (method, path) => {
  for (const site of ["cross-site", "same-site", "none", "", undefined]) {
    const headers = { Cookie: cookie, ...(site !== undefined && { "Sec-Fetch-Site": site }) };
    expectError(await call(method, path, { headers }), 403, "cross_site");
  }
});

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json"])(
  "another site can't post %s",
  async (type) => {
    const headers = {
      Cookie: cookie,
      "Content-Type": type,
      "Sec-Fetch-Site": "cross-site",
      Origin: "https://evil.test",
    };
    const body = { name: "Evil", owner: { name: "Eve" } };
    expectError(await call("POST", "/console/api/organizations", { body, headers }), 403, "cross_site");
  },
);

test("another site can neither sign a visitor in nor out", async () => {
  for (const site of ["cross-site", "same-site", "none"]) {
    const headers = { Cookie: cookie, "Sec-Fetch-Site": site };
    for (const method of ["POST", "DELETE"]) {
      const answer = await call(method, "/console/session", { body: { token: env.ADMIN_TOKEN }, headers });
      expectError(answer, 403, "cross_site");
      expect(answer.headers.get("Set-Cookie")).toBeNull();
    }
  }
});

test("no route outside the console's API counts the cookie", async () => {
  const { organizationId } = await newOrganization();
  const headers = { ...OWN_PAGE, Cookie: cookie };
  const paths = [
    "/admin/v1/organizations",
    `/admin/v1/organizations/${organizationId}`,
    "/api/v1/chats",
    "/api/v1/key",
  ];
  for (const path of paths) expectError(await call("GET", path, { headers }), 401, "missing_authorization");
  expectError(
    await call("DELETE", `/admin/v1/organizations/${organizationId}`, { headers }),
    401,
    "missing_authorization",
  );
  expect((await browser(cookie)("GET", `/organizations/${organizationId}`)).status).toBe(200);
});

test("an unknown path of the console's API is a 404", async () => {
  expectError(await browser(cookie)("GET", "/nowhere"), 404, "not_found");
  const { organizationId } = await newOrganization();
  expectError(await browser(cookie)("GET", `/organizations/${organizationId}/nowhere`), 404, "not_found");
  expectError(await browser(cookie)("PUT", `/organizations/${organizationId}/chats`), 405, "method_not_allowed");
});
