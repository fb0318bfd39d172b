import { expect, test } from "vitest";
import { admin, call, client, created, expectError, newKey } from "../../support/harness.ts";
import { heldDatabase } from "../../support/held-database.ts";
import { newManager } from "./manager.ts";

const FAR = "2100-01-01T00:00:00.000Z";
const NEAR = "2099-01-01T00:00:00.000Z";
const HERE = { "CF-Connecting-IP": "192.0.2.1" };

/** What goes beyond a key with these permissions, an end and an allow-list. */
const OWN = {
  permissions: ["keys:read", "keys:write", "chats:read"],
  expiresAt: NEAR,
  ipAllowlist: ["192.0.2.0/24"],
  draftsOnly: true,
};
const BEYOND: [string, object, RegExp][] = [
  ["a permission", { permissions: ["chats:read", "messages:read"] }, /permission messages:read of/],
  ["the default permissions", { permissions: null }, /permissions chats:write, messages:read, messages:send of/],
  ["a later end", { expiresAt: FAR }, /expire after/],
  ["no end", { expiresAt: null }, /expire after/],
  ["another address", { ipAllowlist: ["192.0.2.1", "198.51.100.1"] }, /addresses/],
  ["a wider range", { ipAllowlist: ["192.0.0.0/16"] }, /addresses/],
  ["any address", { ipAllowlist: [] }, /addresses/],
  ["sending", { draftsOnly: false }, /draftsOnly/],
  ["sending by default", { draftsOnly: null }, /draftsOnly/],
];
const WITHIN = { permissions: ["chats:read"], expiresAt: NEAR, ipAllowlist: ["192.0.2.1"], draftsOnly: true };

async function newRestricted() {
  const manager = await newManager(OWN);
  const api = (method: string, path: string, body?: unknown) => manager.api(method, path, body, HERE);
  return { ...manager, api };
}

test.each(BEYOND)("a key can't create a key with %s beyond its own", async (_, more, text) => {
  const { organizationId, api } = await newRestricted();
  expectError(await api("POST", "/keys", { name: "More", ...WITHIN, ...more }), 403, "permission_denied", text);
  expect((await admin("GET", `/organizations/${organizationId}/keys`)).body.pagination.total).toBe(2);
});

test.each(BEYOND)("a key can't give another key, or itself, %s beyond its own", async (_, more, text) => {
  const { api, keyId } = await newRestricted();
  const { key } = created(await api("POST", "/keys", { name: "Within", ...WITHIN }));
  for (const id of [key.id, keyId]) {
    const before = (await api("GET", `/keys/${id}`)).body;
    expectError(await api("PATCH", `/keys/${id}`, more), 403, "permission_denied", text);
    expect((await api("GET", `/keys/${id}`)).body).toEqual(before);
  }
});

test.each(BEYOND)("a key can't rotate a key with %s beyond its own, and can revoke it", async (_, more, text) => {
  const { organizationId, api } = await newRestricted();
  const body = { ...WITHIN, ...more };
  const { key, secret } = await newKey(organizationId, body);
  expectError(await api("POST", `/keys/${key.id}/rotate`), 403, "permission_denied", text);
  expect((await client(secret)("GET", "/key", undefined, { "CF-Connecting-IP": "192.0.2.1" })).status).toBe(200);
  expect((await api("DELETE", `/keys/${key.id}`)).status).toBe(200);
  expectError(await client(secret)("GET", "/key"), 401, "invalid_api_key");
});

test("a key can't change a key that has a permission which it lacks, not even to take it away", async () => {
  const { organizationId, api } = await newRestricted();
  const { key } = await newKey(organizationId, { ...WITHIN, permissions: ["messages:read"] });
  for (const patch of [{ name: "Mine" }, { permissions: [] }, { monthlyQuota: 1 }, {}]) {
    expectError(await api("PATCH", `/keys/${key.id}`, patch), 403, "permission_denied", /messages:read/);
  }
});

test("a key creates, changes and rotates a key within its own power, and is shown as its maker", async () => {
  const { api, keyId } = await newRestricted();
  const { key, secret } = created(await api("POST", "/keys", { name: "Within", ...WITHIN, monthlyQuota: 5 }));
  expect(key).toMatchObject({ ...WITHIN, monthlyQuota: 5, createdBy: keyId });
  const patched = await api("PATCH", `/keys/${key.id}`, { permissions: ["chats:read", "keys:read"], monthlyQuota: 9 });
  expect(patched.body.key).toEqual({ ...key, permissions: ["chats:read", "keys:read"], monthlyQuota: 9 });
  const rotated = created(await api("POST", `/keys/${key.id}/rotate`));
  const own = (text: string) => client(text)("GET", "/key", undefined, { "CF-Connecting-IP": "192.0.2.1" });
  expect([(await own(secret)).status, (await own(rotated.secret)).status]).toEqual([401, 200]);
  expect((await own(rotated.secret)).body.key.createdBy).toBe(keyId);
  expect((await api("GET", `/keys/${keyId}`)).body.key.createdBy).toBe("operator");
});

test("the operator gives any power, with or without self-service", async () => {
  const { organizationId } = await newManager({}, null);
  const { key } = await newKey(organizationId, { permissions: ["keys:write"], expiresAt: FAR });
  expect((await admin("PATCH", `/keys/${key.id}`, { permissions: null, expiresAt: null })).status).toBe(200);
  created(await admin("POST", `/keys/${key.id}/rotate`));
});

test("without self-service a key can't create, change or rotate a key, and can revoke one", async () => {
  const { organizationId, api, keyId } = await newManager({}, null);
  const { key } = await newKey(organizationId);
  expectError(await api("POST", "/keys", { name: "More" }), 403, "self_service_off", /operator/);
  expectError(await api("PATCH", `/keys/${key.id}`, { name: "Mine" }), 403, "self_service_off");
  expectError(await api("POST", `/keys/${key.id}/rotate`), 403, "self_service_off");
  expect((await api("GET", "/keys")).status).toBe(200);
  expect((await api("DELETE", `/keys/${key.id}`)).status).toBe(200);
  // A leaked key can be stopped, even if nobody but the operator can then manage keys.
  expect((await api("DELETE", `/keys/${keyId}`)).status).toBe(200);
});

test("the last key that manages keys can't be revoked or lose keys:write, until there is another", async () => {
  const { organizationId, api, keyId } = await newManager();
  const ended = await newKey(organizationId, { permissions: ["keys:write"] });
  await admin("PATCH", `/keys/${ended.key.id}`, { expiresAt: "2020-01-01T00:00:00Z" });
  await newKey(organizationId);
  const ends = [
    () => api("DELETE", `/keys/${keyId}`),
    () => api("PATCH", `/keys/${keyId}`, { permissions: ["keys:read"] }),
    () => api("PATCH", `/keys/${keyId}`, { expiresAt: "2020-01-01T00:00:00Z" }),
  ];
  for (const end of ends) expectError(await end(), 409, "last_manager");
  expect((await api("PATCH", `/keys/${keyId}`, { name: "Still there", expiresAt: FAR })).status).toBe(200);
  const other = created(await api("POST", "/keys", { name: "Other", permissions: ["keys:write"], expiresAt: FAR }));
  expect((await api("DELETE", `/keys/${keyId}`)).status).toBe(200);
  expectError(await client(other.secret)("DELETE", `/keys/${other.key.id}`), 409, "last_manager");
  expect((await admin("DELETE", `/keys/${other.key.id}`)).status).toBe(200);
});

test("a key can't leave the organization with managers that expire within an hour", async () => {
  const { api, organizationId, keyId } = await newManager();
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const short = await newKey(organizationId, { permissions: ["keys:write"], expiresAt: inMinutes(50) });
  const expire = (minutes: number) => api("PATCH", `/keys/${keyId}`, { expiresAt: inMinutes(minutes) });
  for (const minutes of [0, 30, 59]) expectError(await expire(minutes), 409, "last_manager");
  expectError(await api("DELETE", `/keys/${keyId}`), 409, "last_manager");
  expect((await expire(61)).status).toBe(200);
  // The other key can be revoked, and so can the one that would expire first anyway.
  expect((await client(short.secret)("DELETE", `/keys/${short.key.id}`)).status).toBe(200);
  expect((await expire(90)).status).toBe(403);
  expect((await admin("PATCH", `/keys/${keyId}`, { expiresAt: inMinutes(30) })).status).toBe(200);
  expect((await api("PATCH", `/keys/${keyId}`, { name: "Still there" })).status).toBe(200);
  expectError(await expire(20), 409, "last_manager");
});

test.each([
  ["revoke", "DELETE", undefined],
  ["shorten", "PATCH", { expiresAt: new Date(Date.now() + 60_000).toISOString() }],
  ["narrow", "PATCH", { permissions: ["keys:read"] }],
])("of two last managers that %s themselves at once, one stays", async (_, method, body) => {
  const { organizationId, api, keyId } = await newManager();
  const other = await newKey(organizationId, { permissions: ["keys:write", "keys:read"] });
  const answers = await Promise.all([
    api(method, `/keys/${keyId}`, body),
    client(other.secret)(method, `/keys/${other.key.id}`, body),
  ]);
  expect(answers.map(({ status }) => status).toSorted((one, two) => one - two)).toEqual([200, 409]);
});

test("of two last managers that revoke each other at once, one stays", async () => {
  const { organizationId, api, keyId } = await newManager();
  const other = await newKey(organizationId, { permissions: ["keys:write"] });
  const answers = await Promise.all([
    api("DELETE", `/keys/${other.key.id}`),
    client(other.secret)("DELETE", `/keys/${keyId}`),
  ]);
  const { keys } = (await admin("GET", `/organizations/${organizationId}/keys`)).body;
  const live = keys.filter((key: { revokedAt: string | null; permissions: string[] }) => {
    return key.revokedAt === null && key.permissions.includes("keys:write");
  });
  expect(live, answers.map(({ text }) => text).join("\n")).toHaveLength(1);
});

const CHANGES = {
  "is revoked": { end: (id: string) => admin("DELETE", `/keys/${id}`), status: 401, code: "invalid_api_key" },
  "loses a permission": {
    end: (id: string) => admin("PATCH", `/keys/${id}`, { permissions: ["keys:write"] }),
    status: 403,
    code: "permission_denied",
  },
  "gets an end": {
    end: (id: string) => admin("PATCH", `/keys/${id}`, { expiresAt: NEAR }),
    status: 403,
    code: "permission_denied",
  },
};

test.each(Object.entries(CHANGES))(
  "a key that %s while it creates or rotates a key leaves no new secret behind",
  async (_, { end, status, code }) => {
    for (const isCreation of [true, false]) {
      const { organizationId } = await newManager();
      const maker = await newKey(organizationId, { permissions: ["keys:write", "chats:read"] });
      const target = await newKey(organizationId, { permissions: ["chats:read"] });
      const statement = isCreation ? /^insert into "api_keys"/ : /^update "api_keys"/;
      const answer = await call("POST", isCreation ? "/api/v1/keys" : `/api/v1/keys/${target.key.id}/rotate`, {
        body: isCreation ? { name: "Left behind", permissions: ["chats:read"] } : {},
        headers: { Authorization: `Bearer ${maker.secret}` },
        bindings: heldDatabase(statement, () => end(maker.key.id)),
      });
      expectError(answer, status, code);
      expect((await admin("GET", `/organizations/${organizationId}/keys`)).body.pagination.total).toBe(4);
      expect((await client(target.secret)("GET", "/chats")).status).toBe(200);
    }
  },
);
