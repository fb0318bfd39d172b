import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin, client, created, expectError, expectFaults, newKey, newOrganization } from "../../support/harness.ts";

const ALL = ["chats:read", "chats:write", "messages:read", "messages:send"];
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

async function someKey(body: Record<string, unknown> = {}) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, body);
  const status = async (text = secret) => (await client(text)("GET", "/key")).status;
  const rotate = async (overlap?: object) => created(await admin("POST", `/keys/${key.id}/rotate`, overlap));
  return { organizationId, key, secret, status, rotate };
}

test("a key with only a name has the default permissions, any address, the default limit and no quota", async () => {
  const { organizationId } = await newOrganization();
  const answer = await admin("POST", `/organizations/${organizationId}/keys`, { name: "Shop" });
  const { key } = created(answer);
  expect(answer.body).toEqual({
    key: {
      id: expect.stringMatching(/^key_g[0-9A-Za-z]{15}$/),
      organizationId,
      name: "Shop",
      permissions: ALL,
      ipAllowlist: [],
      rateLimit: { limit: 300, windowSeconds: 60 },
      monthlyQuota: null,
      draftsOnly: false,
      region: null,
      expiresAt: null,
      revokedAt: null,
      previousSecretExpiresAt: null,
      createdBy: "operator",
      createdAt: TIME,
    },
    secret: expect.stringMatching(/^ply_/),
  });
  expect((await admin("GET", `/keys/${key.id}`)).body).toEqual({ key });
  expect((await admin("GET", `/organizations/${organizationId}/keys`)).body.keys).toContainEqual(key);
});

const CHOSEN = {
  name: "Narrow",
  permissions: ["messages:read"],
  ipAllowlist: ["192.0.2.0/24", "2001:db8::1"],
  rateLimit: { limit: 5, windowSeconds: 10 },
  monthlyQuota: 0,
  expiresAt: "2030-01-01T01:00:00+01:00",
};

test("a key is returned with its fields, and its expiry in UTC", async () => {
  const { key } = await someKey(CHOSEN);
  expect(key).toMatchObject({ ...CHOSEN, expiresAt: "2030-01-01T00:00:00.000Z" });
});

test("in a new key, null means absent", async () => {
  const nothing = { permissions: null, ipAllowlist: null, rateLimit: null, monthlyQuota: null, expiresAt: null };
  const { key } = await someKey(nothing);
  expect(key).toMatchObject({
    permissions: ALL,
    ipAllowlist: [],
    rateLimit: { limit: 300, windowSeconds: 60 },
    monthlyQuota: null,
  });
});

test.each<[string, unknown]>([
  ["permissions", ALL],
  ["ipAllowlist", []],
  ["rateLimit", { limit: 300, windowSeconds: 60 }],
  ["monthlyQuota", null],
  ["expiresAt", null],
])("a PATCH with null resets %s and changes nothing else", async (field, cleared) => {
  const { key } = await someKey(CHOSEN);
  const { body } = await admin("PATCH", `/keys/${key.id}`, { [field]: null });
  expect(body).toEqual({ key: { ...key, [field]: cleared } });
  expect((await admin("GET", `/keys/${key.id}`)).body).toEqual(body);
});

test("an empty PATCH, or one with unknown fields, changes nothing", async () => {
  const { key } = await someKey(CHOSEN);
  const empty = await admin("PATCH", `/keys/${key.id}`, {});
  expect([empty.status, empty.body]).toEqual([200, { key }]);
  const unknown = { id: "key_gaaaaaaaaaaaaaaa", hash: "0", organizationId: "org_x", revokedAt: null, unknown: 1 };
  const answer = await admin("PATCH", `/keys/${key.id}`, unknown);
  const warnings = Object.keys(unknown).map((name) => `${name} is not a field`);
  expect([answer.status, answer.body]).toEqual([200, { key, warnings }]);
});

const FAULTS: [object, string][] = [
  [{ name: "x".repeat(257) }, "name"],
  [{ permissions: ["chats:read", "everything"] }, "permissions.1"],
  [{ permissions: "chats:read" }, "permissions"],
  [{ ipAllowlist: ["192.0.2.1", "nowhere"] }, "ipAllowlist.1"],
  [{ ipAllowlist: "192.0.2.1" }, "ipAllowlist"],
  [{ monthlyQuota: -1 }, "monthlyQuota"],
  [{ monthlyQuota: 1.5 }, "monthlyQuota"],
  [{ monthlyQuota: "5" }, "monthlyQuota"],
  [{ expiresAt: "tomorrow" }, "expiresAt"],
  [{ expiresAt: "2030-01-01" }, "expiresAt"],
  [{ expiresAt: 1_900_000_000 }, "expiresAt"],
];

test.each(FAULTS)("a key with %j is a 400 for %s, on creation and on change", async (body, path) => {
  const { organizationId, key } = await someKey();
  const made = await admin("POST", `/organizations/${organizationId}/keys`, { name: "Test", ...body });
  const changed = await admin("PATCH", `/keys/${key.id}`, body);
  for (const answer of [made, changed]) {
    expectError(answer, 400, "validation_failed");
    expect(answer.body.errors).toEqual([{ path, message: expect.any(String) }]);
  }
  expect((await admin("GET", `/keys/${key.id}`)).body).toEqual({ key });
});

test("a new key can't have expired already, but a key can be ended by its expiry", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { organizationId, key } = await someKey();
  for (const expiresAt of ["2020-01-01T00:00:00Z", new Date().toISOString()]) {
    const made = await admin("POST", `/organizations/${organizationId}/keys`, { name: "Test", expiresAt });
    expectFaults(made, "expiresAt");
    expect(made.body.errors[0].message).toBe("must be in the future");
    expect((await admin("PATCH", `/keys/${key.id}`, { expiresAt })).status).toBe(200);
  }
});

test("a key without a name is a 400 with an error", async () => {
  const { organizationId, key } = await someKey();
  const answers = [
    await admin("POST", `/organizations/${organizationId}/keys`, {}),
    await admin("POST", `/organizations/${organizationId}/keys`, { name: " " }),
    await admin("PATCH", `/keys/${key.id}`, { name: null }),
  ];
  for (const answer of answers) {
    expect([answer.status, answer.body]).toEqual([400, { error: "name is required", code: "missing_field" }]);
  }
});

test("a revoked key is returned, and a second time without changes", async () => {
  const { key, status } = await someKey();
  const first = await admin("DELETE", `/keys/${key.id}`);
  expect([first.status, first.body.key]).toEqual([200, { ...key, revokedAt: TIME }]);
  const again = await admin("DELETE", `/keys/${key.id}`);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect(await status()).toBe(401);
  expect((await admin("GET", `/keys/${key.id}/usage`)).status).toBe(200);
});

test("a PATCH does not restore a revoked key", async () => {
  const { key, status } = await someKey();
  await admin("DELETE", `/keys/${key.id}`);
  expect((await admin("PATCH", `/keys/${key.id}`, { revokedAt: null, expiresAt: null })).status).toBe(200);
  expect(await status()).toBe(401);
});

test("a rotated key has the same id and another secret, and the old one is invalid immediately", async () => {
  const { key, secret, status, rotate } = await someKey(CHOSEN);
  const rotated = await rotate();
  expect(rotated).toEqual({ key, secret: expect.stringMatching(/^ply_/) });
  expect(rotated.secret.slice(0, 20)).toBe(secret.slice(0, 20));
  expect(rotated.secret).not.toBe(secret);
  expect(await status()).toBe(401);
});

test("during an overlap both secrets are valid, and the key shows its end", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { key, status, rotate } = await someKey();
  const until = Date.now() + 600_000;
  const rotated = await rotate({ overlapSeconds: 600 });
  expect(rotated.key).toEqual({ ...key, previousSecretExpiresAt: new Date(until).toISOString() });
  expect([await status(), await status(rotated.secret)]).toEqual([200, 200]);
  vi.setSystemTime(until - 1);
  expect([await status(), await status(rotated.secret)]).toEqual([200, 200]);
  vi.setSystemTime(until);
  expect([await status(), await status(rotated.secret)]).toEqual([401, 200]);
  expect((await admin("GET", `/keys/${key.id}`)).body.key.previousSecretExpiresAt).toBeNull();
});

test("at most two secrets are valid: rotating a used secret ends the overlap before it", async () => {
  const { secret, status, rotate } = await someKey();
  const second = (await rotate({ overlapSeconds: 600 })).secret;
  expect(await status(second)).toBe(200);
  const third = (await rotate({ overlapSeconds: 600 })).secret;
  expect([await status(secret), await status(second), await status(third)]).toEqual([401, 200, 200]);
  const fourth = (await rotate({ overlapSeconds: 0 })).secret;
  expect([await status(second), await status(third), await status(fourth)]).toEqual([401, 401, 200]);
});

test("a rotation that is repeated because its response was lost keeps the overlap of the secret in use", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { secret, status, rotate } = await someKey();
  expect(await status()).toBe(200);
  const until = Date.now() + 600_000;
  const lost = [await rotate({ overlapSeconds: 600 })];
  vi.setSystemTime(Date.now() + 10_000);
  lost.push(await rotate({ overlapSeconds: 600 }));
  const { key, secret: last } = await rotate({ overlapSeconds: 600 });
  expect(key.previousSecretExpiresAt).toBe(new Date(until).toISOString());
  const all = [secret, ...lost.map((each) => each.secret), last];
  expect(await Promise.all(all.map(status))).toEqual([200, 401, 401, 200]);
  vi.setSystemTime(until);
  expect(await Promise.all(all.map(status))).toEqual([401, 401, 401, 200]);
});

test.each([0, 60, 6_000])(
  "a repeated rotation with an overlap of %i s keeps the first overlap of the secret in use",
  async (overlapSeconds) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const { status, rotate } = await someKey();
    const first = await rotate({ overlapSeconds: 600 });
    const { key, secret } = await rotate({ overlapSeconds });
    expect(key.previousSecretExpiresAt).toBe(first.key.previousSecretExpiresAt);
    expect([await status(), await status(first.secret), await status(secret)]).toEqual([200, 401, 200]);
  },
);

test("after a rotation without an overlap, a repeated rotation restores no secret, whatever its overlap", async () => {
  const { secret, status, rotate } = await someKey();
  expect(await status()).toBe(200);
  const lost = await rotate();
  const { key, secret: last } = await rotate({ overlapSeconds: 600 });
  expect(key.previousSecretExpiresAt).toBeNull();
  expect([await status(secret), await status(lost.secret), await status(last)]).toEqual([401, 401, 200]);
});

test("the key's object remembers that a secret is in use, after an eviction and many other requests", async () => {
  const { key, secret, status, rotate } = await someKey();
  const second = (await rotate({ overlapSeconds: 600 })).secret;
  // The object has reserved units for the next requests, so it doesn't write for each one.
  for (let n = 0; n < 4; n++) expect(await status(secret)).toBe(200);
  expect(await status(second)).toBe(200);
  expect(await status(secret)).toBe(200);
  await evictDurableObject(env.KEYS.getByName(key.id));
  const third = (await rotate({ overlapSeconds: 600 })).secret;
  expect([await status(secret), await status(second), await status(third)]).toEqual([401, 200, 200]);
});

test("a new secret whose requests were all refused is not in use", async () => {
  const { key, secret, status, rotate } = await someKey({ monthlyQuota: 0 });
  const second = (await rotate({ overlapSeconds: 600 })).secret;
  expect(await status(second)).toBe(403);
  const third = (await rotate({ overlapSeconds: 600 })).secret;
  await admin("PATCH", `/keys/${key.id}`, { monthlyQuota: null });
  expect([await status(secret), await status(second), await status(third)]).toEqual([200, 401, 200]);
});

test("revoking a key ends both of its secrets", async () => {
  const { key, status, rotate } = await someKey();
  const { secret } = await rotate({ overlapSeconds: 600 });
  await admin("DELETE", `/keys/${key.id}`);
  expect([await status(), await status(secret)]).toEqual([401, 401]);
});

test("a rotation keeps the counts, the limits and the expiry", async () => {
  const expiresAt = "2030-01-01T00:00:00.000Z";
  const { key, secret, rotate } = await someKey({
    expiresAt,
    monthlyQuota: 9,
    rateLimit: { limit: 7, windowSeconds: 3_600 },
  });
  await client(secret)("GET", "/key");
  const rotated = await rotate();
  const { body, headers } = await client(rotated.secret)("GET", "/key");
  expect(body).toMatchObject({
    key: { id: key.id, expiresAt },
    usage: { used: 2, quota: 9, window: { limit: 7, remaining: 5 } },
  });
  expect(headers.get("X-RateLimit-Remaining")).toBe("5");
});

test("a revoked or expired key can't be rotated", async () => {
  const revoked = await someKey();
  await admin("DELETE", `/keys/${revoked.key.id}`);
  const expired = await someKey();
  await admin("PATCH", `/keys/${expired.key.id}`, { expiresAt: "2020-01-01T00:00:00Z" });
  for (const { key } of [revoked, expired]) {
    const before = await env.DB.prepare("select * from api_keys where id = ?").bind(key.id).first();
    expectError(await admin("POST", `/keys/${key.id}/rotate`, { overlapSeconds: 60 }), 409, "key_revoked");
    expect(await env.DB.prepare("select * from api_keys where id = ?").bind(key.id).first()).toEqual(before);
  }
});

test.each<[unknown, number]>([
  [undefined, 201],
  [{}, 201],
  [{ overlapSeconds: null }, 201],
  [{ overlapSeconds: 2_592_000 }, 201],
  [{ overlapSeconds: -1 }, 400],
  [{ overlapSeconds: 0.5 }, 400],
  [{ overlapSeconds: "60" }, 400],
  [{ overlapSeconds: 2_592_001 }, 400],
  ["no JSON", 400],
  [[], 400],
])("a rotation with the body %j is %i", async (body, status) => {
  const { key, status: ofOld } = await someKey();
  const answer = await admin("POST", `/keys/${key.id}/rotate`, body);
  expect(answer.status, answer.text).toBe(status);
  if (status === 400) {
    expectError(answer, 400, "validation_failed");
    expect(await ofOld()).toBe(200);
  }
});

test.each(["9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+01:00", "1969-12-31T23:59:59Z"])(
  "a key can't expire at %s, which no response could show",
  async (expiresAt) => {
    const { organizationId } = await newOrganization();
    expectFaults(await admin("POST", `/organizations/${organizationId}/keys`, { name: "K", expiresAt }), "expiresAt");
  },
);
