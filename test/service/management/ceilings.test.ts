import { expect, test, vi } from "vitest";
import { admin, client, created, expectError, expectFaults, newKey } from "../../support/harness.ts";
import { newManager } from "./manager.ts";

test("an organization has no self-service by default, and the operator sets, changes and ends it", async () => {
  const owner = { name: "Ada" };
  const { organization } = created(await admin("POST", "/organizations", { name: "Acme", owner }));
  const path = `/organizations/${organization.id}`;
  const patch = async (selfService: object | null) =>
    (await admin("PATCH", path, { selfService })).body.organization.selfService;
  expect(organization.selfService).toBeNull();
  expect(await patch({})).toEqual({ maxKeys: null, maxPerSecond: null, monthlyQuota: null });
  await patch({ monthlyQuota: 100 });
  await admin("PATCH", path, { name: "Still" });
  expect((await admin("GET", path)).body.organization.selfService.monthlyQuota).toBe(100);
  expect(await patch(null)).toBeNull();
  expectFaults(await admin("PATCH", path, { selfService: { maxKeys: -1 } }), "selfService.maxKeys");
  expectFaults(await admin("PATCH", path, { selfService: { maxPerSecond: 1_001 } }), "selfService.maxPerSecond");
});

test("a key creates as many keys as the ceiling allows, and more after one is revoked", async () => {
  const { api } = await newManager({}, { maxKeys: 2 });
  const { key } = created(await api("POST", "/keys", { name: "Second" }));
  expectError(await api("POST", "/keys", { name: "Third" }), 409, "key_limit", "has 2 keys, and its limit is 2");
  await api("DELETE", `/keys/${key.id}`);
  created(await api("POST", "/keys", { name: "Third" }));
});

test("a rate limit beyond the ceiling is a 400, and the default is lowered to it", async () => {
  const { api } = await newManager({}, { maxPerSecond: 2 });
  const { key } = created(await api("POST", "/keys", { name: "Default" }));
  expect(key.rateLimit).toEqual({ limit: 120, windowSeconds: 60 });
  const most = { limit: 20, windowSeconds: 10 };
  const over = { limit: 21, windowSeconds: 10 };
  expectFaults(await api("POST", "/keys", { name: "Fast", rateLimit: over }), "rateLimit.limit");
  expectFaults(await api("PATCH", `/keys/${key.id}`, { rateLimit: over }), "rateLimit.limit");
  expect((await api("PATCH", `/keys/${key.id}`, { rateLimit: most })).body.key.rateLimit).toEqual(most);
  const reset = await api("PATCH", `/keys/${key.id}`, { rateLimit: null });
  expect(reset.body.key.rateLimit).toEqual({ limit: 120, windowSeconds: 60 });
});

test("under a ceiling of quotas, a key without a quota is a 400", async () => {
  const { api, keyId } = await newManager({}, { monthlyQuota: 100 });
  expectFaults(await api("POST", "/keys", { name: "Endless" }), "monthlyQuota");
  const { key } = created(await api("POST", "/keys", { name: "Ten", monthlyQuota: 10 }));
  expectFaults(await api("PATCH", `/keys/${key.id}`, { monthlyQuota: null }), "monthlyQuota");
  // The operator made this one without a quota.
  expect((await api("PATCH", `/keys/${keyId}`, { name: "Endless" })).status).toBe(200);
});

test("the sum of quotas has the keys that were revoked this month, and the quotas that were lowered", async () => {
  // No alarm runs a month ahead of the platform's clock.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2096, 4, 31, 12) });
  const { api } = await newManager({}, { monthlyQuota: 100 });
  const newQuota = (monthlyQuota: number) => api("POST", "/keys", { name: "More", monthlyQuota });
  const { key } = created(await newQuota(60));
  expectError(await newQuota(41), 409, "key_limit", "would add up to 101, and their limit is 100");
  await api("DELETE", `/keys/${key.id}`);
  expectError(await newQuota(41), 409, "key_limit");
  const lowered = created(await newQuota(40)).key.id;
  const change = (monthlyQuota: number) => api("PATCH", `/keys/${lowered}`, { monthlyQuota });
  expect((await change(1)).status).toBe(200);
  expectError(await newQuota(1), 409, "key_limit");
  expectError(await change(41), 409, "key_limit");
  expect((await change(40)).status).toBe(200);
  expect((await change(5)).status).toBe(200);
  vi.setSystemTime(Date.UTC(2096, 5, 1));
  expectError(await newQuota(96), 409, "key_limit");
  created(await newQuota(95));
});

test("the keys of another organization don't count", async () => {
  const theirs = await newManager({}, { monthlyQuota: 100, maxKeys: 2 });
  const ours = await newManager({}, { monthlyQuota: 100, maxKeys: 2 });
  for (const { api } of [theirs, ours]) created(await api("POST", "/keys", { name: "All", monthlyQuota: 100 }));
});

/** Sets the ceilings that the operator lowers below what is used. */
async function lower(organizationId: string, selfService: object): Promise<void> {
  const answer = await admin("PATCH", `/organizations/${organizationId}`, { selfService });
  expect(answer.body.organization.selfService).toMatchObject(selfService);
}

test("a quota ceiling that is lowered below what is used leaves the keys as they are, and stops raises and new keys", async () => {
  const { api, organizationId, keyId } = await newManager({ monthlyQuota: 10 }, { monthlyQuota: 100 });
  const { key, secret } = created(await api("POST", "/keys", { name: "Shop", monthlyQuota: 50 }));
  await lower(organizationId, { monthlyQuota: 20 });
  expect((await client(secret)("GET", "/key")).body.key).toEqual(key);
  expectError(await api("POST", "/keys", { name: "More", monthlyQuota: 0 }), 409, "key_limit", "their limit is 20");
  expectError(await api("PATCH", `/keys/${key.id}`, { monthlyQuota: 51 }), 409, "key_limit");
  for (const patch of [{ name: "Same" }, { monthlyQuota: 50 }, { monthlyQuota: 5 }]) {
    expect((await api("PATCH", `/keys/${key.id}`, patch)).status).toBe(200);
  }
  expectError(await api("PATCH", `/keys/${keyId}`, { monthlyQuota: 11 }), 409, "key_limit");
});

test("a ceiling of keys that is lowered below their number leaves them as they are, and stops new keys", async () => {
  const { api, organizationId } = await newManager({}, { maxKeys: 3 });
  const { key, secret } = created(await api("POST", "/keys", { name: "Shop" }));
  created(await api("POST", "/keys", { name: "Till" }));
  await lower(organizationId, { maxKeys: 2 });
  expect((await client(secret)("GET", "/key")).body.key).toEqual(key);
  expectError(await api("POST", "/keys", { name: "More" }), 409, "key_limit", "has 3 keys, and its limit is 2");
  expect((await api("PATCH", `/keys/${key.id}`, { name: "Same" })).status).toBe(200);
  created(await api("POST", `/keys/${key.id}/rotate`));
  await api("DELETE", `/keys/${key.id}`);
  expectError(await api("POST", "/keys", { name: "More" }), 409, "key_limit", "has 2 keys, and its limit is 2");
});

test("a rate ceiling that is lowered below a key's rate limit leaves the key as it is, and new keys are below it", async () => {
  const { api, organizationId } = await newManager({}, { maxPerSecond: 10 });
  const rateLimit = { limit: 10, windowSeconds: 1 };
  const { key, secret } = created(await api("POST", "/keys", { name: "Shop", rateLimit }));
  await lower(organizationId, { maxPerSecond: 2 });
  const { body, headers } = await client(secret)("GET", "/key");
  expect([body.key, headers.get("X-RateLimit-Limit")]).toEqual([key, "10"]);
  expect((await api("PATCH", `/keys/${key.id}`, { name: "Same" })).body.key).toEqual({ ...key, name: "Same" });
  expect(created(await api("POST", `/keys/${key.id}/rotate`)).key.rateLimit).toEqual(rateLimit);
  expectFaults(
    await api("POST", "/keys", { name: "Fast", rateLimit: { limit: 3, windowSeconds: 1 } }),
    "rateLimit.limit",
  );
  expectFaults(await api("PATCH", `/keys/${key.id}`, { rateLimit }), "rateLimit.limit");
  expect(created(await api("POST", "/keys", { name: "Default" })).key.rateLimit.limit).toBe(120);
});

test("the operator is not bound by the ceilings", async () => {
  const { organizationId } = await newManager({}, { monthlyQuota: 1, maxKeys: 1, maxPerSecond: 1 });
  const { key } = await newKey(organizationId, { monthlyQuota: 1_000 });
  expect((await admin("PATCH", `/keys/${key.id}`, { monthlyQuota: null })).status).toBe(200);
});

test.each([
  ["quotas", { monthlyQuota: 70 }, 7],
  ["keys", { maxKeys: 6 }, 5],
])("of 50 creations at once against a ceiling of %s, exactly as many succeed as fit", async (_, ceiling, fits) => {
  const { api, organizationId } = await newManager({}, ceiling);
  const body = { name: "At once", monthlyQuota: 10 };
  const answers = await Promise.all(Array.from({ length: 50 }, () => api("POST", "/keys", body)));
  const made = answers.filter(({ status }) => status === 201);
  expect(made).toHaveLength(fits);
  for (const answer of answers.filter(({ status }) => status !== 201)) expectError(answer, 409, "key_limit");
  const listed = (await admin("GET", `/organizations/${organizationId}/keys?limit=100`)).body.keys;
  const live = listed.filter((key: { revokedAt: string | null }) => key.revokedAt === null);
  expect(live).toHaveLength(fits + 1);
});

test("of 10 raises at once, exactly as many succeed as fit", async () => {
  const { api } = await newManager({}, { monthlyQuota: 100 });
  const ids: string[] = [];
  for (let made = 0; made < 10; made++) {
    ids.push(created(await api("POST", "/keys", { name: "Five", monthlyQuota: 5 })).key.id);
  }
  const answers = await Promise.all(ids.map((id) => api("PATCH", `/keys/${id}`, { monthlyQuota: 20 })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  for (const answer of answers.filter(({ status }) => status !== 200)) expectError(answer, 409, "key_limit");
});
