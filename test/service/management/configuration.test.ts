import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { type Answer, admin, call, expectError, newChannel, newOrganization } from "../../support/harness.ts";
import { ALL_VARIABLES } from "../../support/variables.ts";

const bearer = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
const ID = "gaaaaaaaaaaaaaaa";
const SHORT = btoa("31 bytes are one too few, as is");

const ADMIN_KEYS = [
  ["POST", `/admin/v1/organizations/org_${ID}/keys`],
  ["POST", `/admin/v1/keys/key_${ID}/rotate`],
];
const PUBLIC = [
  ["GET", "/api/v1/key"],
  ["GET", "/api/v1/chats"],
  ["POST", `/api/v1/chats/cht_${ID}/messages`],
  ["GET", "/api/v1/no-such-route"],
];
const CHANNELS = [
  ["POST", `/admin/v1/organizations/org_${ID}/channels`],
  ["GET", `/admin/v1/organizations/org_${ID}/channels`],
  ["GET", `/admin/v1/channels/chn_${ID}`],
  ["PATCH", `/admin/v1/channels/chn_${ID}`],
  ["POST", `/admin/v1/channels/chn_${ID}/identity-secret`],
  ["POST", "/admin/v1/reseal"],
  ["GET", "/api/v1/channels"],
  ["GET", `/api/v1/channels/chn_${ID}`],
];
const ANY_ADMIN = [
  ["GET", "/admin/v1/organizations"],
  ["POST", "/admin/v1/organizations"],
  ["DELETE", `/admin/v1/organizations/org_${ID}`],
  ["GET", "/admin/v1/no-such-route"],
];

type Variable = "ADMIN_TOKEN" | "KEY_SECRET" | "KEY_SECRET_PREVIOUS" | "CREDENTIALS_KEY" | "CREDENTIALS_KEY_PREVIOUS";

const CASES: { variable: Variable; fault: string; value: string | undefined; routes: string[][] }[] = [
  { variable: "ADMIN_TOKEN", fault: "missing", value: undefined, routes: ANY_ADMIN },
  { variable: "KEY_SECRET", fault: "missing", value: undefined, routes: [...PUBLIC, ...ADMIN_KEYS] },
  { variable: "KEY_SECRET", fault: "too short", value: SHORT, routes: [...PUBLIC, ...ADMIN_KEYS] },
  { variable: "KEY_SECRET_PREVIOUS", fault: "too short", value: SHORT, routes: PUBLIC },
  { variable: "CREDENTIALS_KEY", fault: "missing", value: undefined, routes: CHANNELS },
  { variable: "CREDENTIALS_KEY", fault: "too short", value: SHORT, routes: CHANNELS },
  { variable: "CREDENTIALS_KEY_PREVIOUS", fault: "too short", value: SHORT, routes: CHANNELS },
];

function expectUnavailable(answer: Answer): void {
  expectError(answer, 503, "unavailable", /^Service unavailable$/);
  expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
}

test.each(CASES)(
  "with $variable $fault, the routes that need it are 503 before they authenticate",
  async ({ variable, value, routes }) => {
    const bindings = { [variable]: value };
    const errors = vi.spyOn(console, "error");
    for (const [method = "", path = ""] of routes) {
      for (const headers of [{}, bearer, { Authorization: "Bearer nobody" }]) {
        expectUnavailable(await call(method, path, { headers, bindings }));
      }
    }
    expect(errors).toHaveBeenCalledTimes(routes.length * 3);
    for (const [line] of errors.mock.calls)
      expect(JSON.stringify(line)).toMatch(new RegExp(`configuration: ${variable} `));
    if (value) expect(JSON.stringify(errors.mock.calls)).not.toContain(value);
  },
);

test("a missing secret doesn't affect routes that don't need it", async () => {
  const { organizationId, channelId, api } = await newOrganization();
  const { key } = (await api("GET", "/key")).body;
  const without = (variable: Variable, path: string) => admin("GET", path, undefined, { [variable]: undefined });
  expect((await without("KEY_SECRET", `/keys/${key.id}`)).status).toBe(200);
  expect((await without("KEY_SECRET", `/channels/${channelId}`)).status).toBe(200);
  expect((await without("CREDENTIALS_KEY", `/organizations/${organizationId}/keys`)).status).toBe(200);
  expect((await without("CREDENTIALS_KEY", `/organizations/${organizationId}/chats`)).status).toBe(200);
  for (const variable of ["ADMIN_TOKEN", "KEY_SECRET", "CREDENTIALS_KEY"] as const) {
    const { body } = await call("GET", "/healthz", { bindings: { [variable]: undefined } });
    expect(body.ok).toBe(true);
  }
});

test("the public API works without the operator's token and without the sealing key", async () => {
  const bindings = { ADMIN_TOKEN: "", CREDENTIALS_KEY: "" };
  expectError(await call("GET", "/api/v1/key", { bindings }), 401, "missing_authorization");
});

test("an empty previous secret counts as unset", async () => {
  const bindings = { KEY_SECRET_PREVIOUS: "", CREDENTIALS_KEY_PREVIOUS: "" };
  expectError(await call("GET", "/api/v1/key", { bindings }), 401, "missing_authorization");
  expect((await admin("POST", "/reseal", undefined, bindings)).status).toBe(200);
});

test.each([
  ["RATE_LIMIT", "many"],
  ["RATE_LIMIT_WINDOW_SECONDS", "0"],
] as const)(
  "with %s=%s, creating a key with the default limit is a 503, and the log names the variable",
  async (variable, value) => {
    const { organizationId, keyId } = await newOrganization();
    const bindings = { [variable]: value };
    const errors = vi.spyOn(console, "error");
    expectUnavailable(await admin("POST", `/organizations/${organizationId}/keys`, { name: "Key" }, bindings));
    expectUnavailable(await admin("PATCH", `/keys/${keyId}`, { rateLimit: null }, bindings));
    for (const [line] of errors.mock.calls)
      expect(JSON.stringify(line)).toMatch(new RegExp(`configuration: ${variable} `));
    const own = { name: "Key", rateLimit: { limit: 5, windowSeconds: 5 } };
    expect((await admin("POST", `/organizations/${organizationId}/keys`, own, bindings)).status).toBe(201);
  },
);

test.each(["ftp://telegram.test"])(
  "with a network at %s, a call to it is a 503, and the log names the variable",
  async (value) => {
    const id = await newChannel((await newOrganization()).organizationId, "telegram");
    const errors = vi.spyOn(console, "error");
    expectUnavailable(await admin("POST", `/channels/${id}/webhook`, undefined, { TELEGRAM_API_BASE: value }));
    expect(JSON.stringify(errors.mock.calls)).toMatch(/configuration: TELEGRAM_API_BASE /);
    expect(JSON.stringify(errors.mock.calls)).not.toContain(value);
  },
);

test("the configured rate limit is the default for new keys, and for keys without their own", async () => {
  const { organizationId, keyId } = await newOrganization();
  const bindings = { RATE_LIMIT: "7", RATE_LIMIT_WINDOW_SECONDS: "9" };
  const made = await admin("POST", `/organizations/${organizationId}/keys`, { name: "Key" }, bindings);
  const cleared = await admin("PATCH", `/keys/${keyId}`, { rateLimit: null }, bindings);
  for (const { body } of [made, cleared]) expect(body.key.rateLimit).toEqual({ limit: 7, windowSeconds: 9 });
});

test("without a configured rate limit, the default is 300 in 60 seconds", async () => {
  const { organizationId } = await newOrganization();
  const bindings = { RATE_LIMIT: "", RATE_LIMIT_WINDOW_SECONDS: "" };
  const { body } = await admin("POST", `/organizations/${organizationId}/keys`, { name: "Key" }, bindings);
  expect(body.key.rateLimit).toEqual({ limit: 300, windowSeconds: 60 });
});

test.each(ALL_VARIABLES)("the tests' configuration sets %s, whatever .dev.vars contains", (name) => {
  expect(env[name]).toBeTypeOf("string");
  expect(env[name]).not.toContain("of a developer");
});
