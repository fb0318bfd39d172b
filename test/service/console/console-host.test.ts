import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { subscriptionPorts } from "../../../src/webhooks/subscription/ports.ts";
import { codeOf, cookieOf, OWN_PAGE } from "../../support/console.ts";
import { admin, type Call, call, created, expectError, expectFaults, newOrganization } from "../../support/harness.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";

const OWN_HOST: Partial<Env> = { CONSOLE_HOST: "console.test", PUBLIC_HOST: "parley.test" };
const OPERATOR = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };

/** A request to the console's own host. */
function onConsoleHost(method: string, path: string, options: Call = {}) {
  return call(method, path, { bindings: OWN_HOST, host: "console.test", ...options });
}

async function signInThere(body: object = { token: env.ADMIN_TOKEN }): Promise<string> {
  const answer = await onConsoleHost("POST", "/console/session", { body, headers: OWN_PAGE });
  expect(answer.status, answer.text).toBe(204);
  return cookieOf(answer);
}

test("the console's own host serves the console", async () => {
  const { organizationId } = await newOrganization();
  expect((await onConsoleHost("GET", `/console/o/${organizationId}/inbox`)).text).toContain('id="console"');
  const headers = { ...OWN_PAGE, Cookie: await signInThere() };
  const path = `/console/api/organizations/${organizationId}/chats`;
  expect((await onConsoleHost("GET", path, { headers })).status).toBe(200);
  expect((await onConsoleHost("GET", "/healthz")).status).toBe(200);
});

test("the root of the console's own host leads to the console", async () => {
  const answer = await onConsoleHost("GET", "/");
  expect([answer.status, answer.headers.get("Location")]).toEqual([302, "/console"]);
});

test("the console's own host has no API, no webhooks and no visitors' pages", async () => {
  const { channelId } = await newOrganization();
  for (const path of ["/api/v1/chats", "/admin/v1/organizations", "/consoles", `/web/${channelId}`]) {
    expectError(await onConsoleHost("GET", path, { headers: OPERATOR }), 404, "not_found");
  }
  expectError(await onConsoleHost("POST", `/hooks/telegram/${channelId}`, { body: {} }), 404, "not_found");
  expectError(await onConsoleHost("DELETE", "/api/v1/chats"), 404, "not_found");
});

test("other hosts have no console, and the rest works there", async () => {
  const { channelId, organizationId } = await newOrganization();
  const there = (method: string, path: string, options: Call = {}) =>
    call(method, path, { bindings: OWN_HOST, ...options });
  for (const path of ["/console", "/console/", "/console/api/session", `/console/o/${organizationId}`]) {
    expectError(await there("GET", path, { headers: OWN_PAGE }), 404, "not_found");
  }
  const signIn = await there("POST", "/console/session", { body: { token: env.ADMIN_TOKEN }, headers: OWN_PAGE });
  expectError(signIn, 404, "not_found");
  expect((await there("GET", "/admin/v1/organizations", { headers: OPERATOR })).status).toBe(200);
  expect((await there("GET", `/web/${channelId}`)).status).toBe(200);
  expect((await there("GET", "/healthz")).status).toBe(200);
});

test("a sign-in link leads to the console's own host", async () => {
  const { ownerId } = await newOrganization();
  const link = created(await admin("POST", `/members/${ownerId}/sign-in-link`, undefined, OWN_HOST));
  expect(link.url).toMatch(/^https:\/\/console\.test\/console#code=/);
  await signInThere({ code: codeOf(link) });
});

test("the console knows where visitors' pages are, if it has a host of its own", async () => {
  expect((await onConsoleHost("GET", "/console")).text).toContain(' data-host="parley.test"');
  expect((await call("GET", "/console")).text).not.toContain("data-host");
});

test("the console shows webhooks at the public host", async () => {
  const { organizationId } = await newOrganization();
  const headers = { ...OWN_PAGE, Cookie: await signInThere() };
  const at = `/console/api/organizations/${organizationId}`;
  const body = { kind: "telegram", name: "Bot", credentials: CREDENTIALS.telegram };
  const { channel } = created(await onConsoleHost("POST", `${at}/channels`, { body, headers }));
  expect(channel.webhook.url).toBe(`https://parley.test/hooks/telegram/${channel.id}`);
  const webhook = { url: "https://parley.test/api/v1/chats" };
  const refused = await onConsoleHost("POST", `${at}/webhooks`, { body: webhook, headers });
  expectError(refused, 400, "validation_failed");
  const without = { CONSOLE_HOST: "console.test" };
  expectError(await onConsoleHost("GET", `${at}/channels`, { headers, bindings: without }), 503, "unavailable");
});

test("no webhook leads to a host of the service, whichever host the request came to, and none is called there", async () => {
  const { organizationId } = await newOrganization();
  const path = `/admin/v1/organizations/${organizationId}/webhooks`;
  for (const own of ["parley.test", "console.test", "other.parley.test"]) {
    const body = { url: `https://${own}/api/v1/chats` };
    const host = "other.parley.test";
    expectFaults(await call("POST", path, { body, headers: OPERATOR, host, bindings: OWN_HOST }), "url");
  }
  const { checkUrl } = subscriptionPorts({ ...env, ...OWN_HOST }, { depth: 0 });
  for (const own of ["parley.test", "console.test"]) {
    expect(checkUrl(`https://${own}/api/v1/chats`)).toMatch(/address of this service/);
  }
  expect(checkUrl("https://receiver.test/hook")).toBeNull();
});
