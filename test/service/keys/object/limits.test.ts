import { beforeEach, expect, test, vi } from "vitest";
import { type Answer, admin, client, expectError, newKey, newOrganization } from "../../../support/harness.ts";

/** A year to come: no alarm rings on its own, whenever this runs. */
const YEAR = new Date().getUTCFullYear() + 1;
const START = Date.parse(`${YEAR}-11-15T12:00:00.250Z`);
const SECOND = 1_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
});

const at = (seconds: number) => vi.setSystemTime(START + seconds * SECOND);

/** A new key of a new organization. */
async function keyWith({ expiresAt, ...body }: Record<string, unknown> = {}) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, body);
  // A key can't begin with an end in the past.
  if (expiresAt) expect((await admin("PATCH", `/keys/${key.id}`, { expiresAt })).status).toBe(200);
  const usage = async () => (await admin("GET", `/keys/${key.id}/usage`)).body.usage;
  return { id: key.id, api: client(secret), usage };
}

function limitHeaders({ headers }: Answer) {
  const names = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
    "Retry-After",
  ];
  return names.map((name) => headers.get(name));
}

test("every response has the key's limits, counted down, and is not cached", async () => {
  const { api } = await keyWith({ rateLimit: { limit: 3, windowSeconds: 60 } });
  const reset = String(Math.ceil((START + 60 * SECOND) / SECOND));
  const answer = await api("GET", "/key");
  expect(limitHeaders(answer)).toEqual(["3", "2", reset, '"default";q=3;w=60', '"default";r=2;t=60', null]);
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
  at(10.5);
  expect(limitHeaders(await api("GET", "/key"))).toEqual([
    "3",
    "1",
    reset,
    '"default";q=3;w=60',
    '"default";r=1;t=50',
    null,
  ]);
});

test("a request over the limit is a 429 with Retry-After, rounded up", async () => {
  const { api } = await keyWith({ rateLimit: { limit: 1, windowSeconds: 10 } });
  await api("GET", "/key");
  at(3.5);
  const answer = await api("GET", "/key");
  expectError(answer, 429, "rate_limited", /^Rate limit exceeded$/);
  const reset = String(Math.ceil((START + 10 * SECOND) / SECOND));
  expect(limitHeaders(answer)).toEqual(["1", "0", reset, '"default";q=1;w=10', '"default";r=0;t=7', "7"]);
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
});

test("the answer of a remembered 429 counts down within a second of the clock", async () => {
  const { api } = await keyWith({ rateLimit: { limit: 1, windowSeconds: 10 } });
  await api("GET", "/key");
  const waits: (string | null)[] = [];
  for (const seconds of [3.8, 3.9, 4.1]) {
    at(seconds);
    waits.push((await api("GET", "/key")).headers.get("Retry-After"));
  }
  expect(waits).toEqual(["7", "7", "6"]);
});

test.each<[string, number, Parameters<ReturnType<typeof client>>]>([
  ["a 400", 400, ["GET", "/chats?limit=0"]],
  ["a 400 for a body", 400, ["POST", "/chats", "no JSON"]],
  ["a 404 for a chat", 404, ["GET", "/chats/cht_gaaaaaaaaaaaaaaa"]],
  ["a 404 for a route", 404, ["GET", "/no-such-route"]],
  ["a 405", 405, ["PUT", "/chats"]],
  ["a 413", 413, ["POST", "/chats", "x".repeat(70_000)]],
])("%s counts, and has the rate limit headers", async (_name, status, request) => {
  const { api, usage } = await keyWith({ rateLimit: { limit: 5, windowSeconds: 60 } });
  const answer = await api(...request);
  expect(answer.status, answer.text).toBe(status);
  expect(limitHeaders(answer).slice(0, 2)).toEqual(["5", "4"]);
  expect(answer.headers.get("RateLimit")).toBe('"default";r=4;t=60');
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
  expect(await usage()).toMatchObject({ used: 1, window: { remaining: 4 } });
});

test.each<[string, number, Record<string, unknown>, string]>([
  ["a missing permission", 403, { permissions: ["messages:send"] }, "permission_denied"],
  ["a refused address", 403, { ipAllowlist: ["192.0.2.1"] }, "ip_not_allowed"],
  ["a used-up quota", 403, { monthlyQuota: 0 }, "quota_exceeded"],
  ["an expired key", 401, { expiresAt: `${YEAR}-11-01T00:00:00Z` }, "invalid_api_key"],
])("%s does not count and starts no window", async (_name, status, body, code) => {
  const { api, usage } = await keyWith({ ...body, rateLimit: { limit: 5, windowSeconds: 60 } });
  for (let i = 0; i < 3; i++) {
    const answer = await api("GET", "/chats");
    expectError(answer, status, code);
    if (status === 403) expect(limitHeaders(answer).slice(0, 2)).toEqual(["5", "5"]);
  }
  expect(await usage()).toMatchObject({ used: 0, window: { limit: 5, remaining: 5, reset: null } });
});

const BOUNDS: [unknown, string | null][] = [
  [{ limit: 1, windowSeconds: 1 }, null],
  [{ limit: 1_000, windowSeconds: 1 }, null],
  [{ limit: 3_600_000, windowSeconds: 3_600 }, null],
  [{ limit: 1_001, windowSeconds: 1 }, "rateLimit.limit"],
  [{ limit: 3_600_001, windowSeconds: 3_600 }, "rateLimit.limit"],
  [{ limit: 0, windowSeconds: 60 }, "rateLimit.limit"],
  [{ limit: -1, windowSeconds: 60 }, "rateLimit.limit"],
  [{ limit: 1.5, windowSeconds: 60 }, "rateLimit.limit"],
  [{ limit: "1", windowSeconds: 60 }, "rateLimit.limit"],
  [{ limit: 1, windowSeconds: 0 }, "rateLimit.windowSeconds"],
  [{ limit: 1, windowSeconds: 3_601 }, "rateLimit.windowSeconds"],
  [{ limit: 1, windowSeconds: 0.5 }, "rateLimit.windowSeconds"],
  [300, "rateLimit"],
];

test.each(BOUNDS)("a rate limit of %j is accepted, or is a 400 for the field: %j", async (rateLimit, path) => {
  const { organizationId } = await newOrganization();
  const { key } = await newKey(organizationId);
  const made = await admin("POST", `/organizations/${organizationId}/keys`, { name: "Bounds", rateLimit });
  const changed = await admin("PATCH", `/keys/${key.id}`, { rateLimit });
  expect([made.status, changed.status]).toEqual(path ? [400, 400] : [201, 200]);
  for (const { body } of [made, changed]) {
    if (path) expect(body.errors).toContainEqual({ path, message: expect.any(String) });
    else expect(body.key.rateLimit).toEqual(rateLimit);
  }
});

test("GET /key returns the key, its permissions and its usage, including itself", async () => {
  const rateLimit = { limit: 7, windowSeconds: 30 };
  const { id, api } = await keyWith({ name: "Shop", permissions: [], rateLimit, monthlyQuota: 1_000 });
  const answer = await api("GET", "/key");
  expect(answer.body).toEqual({
    key: (await admin("GET", `/keys/${id}`)).body.key,
    usage: {
      month: `${YEAR}-11`,
      used: 1,
      quota: 1_000,
      window: { limit: 7, remaining: 6, reset: new Date(START + 30 * SECOND).toISOString() },
    },
  });
});

test("a key's usage comes from its object, and reading it does not count", async () => {
  const { id, api } = await keyWith({ rateLimit: { limit: 7, windowSeconds: 30 } });
  const unused = { month: `${YEAR}-11`, used: 0, quota: null, window: { limit: 7, remaining: 7, reset: null } };
  expect((await admin("GET", `/keys/${id}/usage`)).body).toEqual({ usage: unused });
  await api("GET", "/chats");
  const used = {
    ...unused,
    used: 1,
    window: { limit: 7, remaining: 6, reset: new Date(START + 30 * SECOND).toISOString() },
  };
  expect((await admin("GET", `/keys/${id}/usage`)).body).toEqual({ usage: used });
  expect((await admin("GET", `/keys/${id}/usage`)).body).toEqual({ usage: used });
});
