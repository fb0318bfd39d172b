import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newKeyText } from "../../../src/keys/key-text.ts";
import { newId } from "../../../src/model/id.ts";
import { countRoundTrips } from "../../support/faults.ts";
import { admin, call, client, created, expectError, newKey, newOrganization } from "../../support/harness.ts";
import { withOtherEnd } from "../../support/other-end.ts";

const encoder = new TextEncoder();

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
const newSecret = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
const getKey = (secret: string, bindings: Partial<Env>) =>
  call("GET", "/api/v1/key", { headers: { Authorization: `Bearer ${secret}` }, bindings });

test("the directory stores only the SHA-256 of a key's text", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const row = JSON.stringify(await env.DB.prepare("select * from api_keys where id = ?").bind(key.id).first());
  expect(row).toContain(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(secret))).toHex());
  expect(row).not.toContain(secret.slice(20, 52));
  expect(row).not.toContain(secret.slice(-6));
});

test("a key's text is shown once: no later response contains it", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const answers = [
    await admin("GET", `/keys/${key.id}`),
    await admin("GET", `/organizations/${organizationId}/keys`),
    await admin("PATCH", `/keys/${key.id}`, { name: "Renamed" }),
    await admin("GET", `/keys/${key.id}/usage`),
    await client(secret)("GET", "/key"),
    await admin("DELETE", `/keys/${key.id}`),
  ];
  for (const answer of answers) {
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).not.toContain(secret.slice(20, 52));
    expect(answer.text).not.toMatch(/"\w*hash\w*":/i);
  }
});

test.each<[string, (secret: string, keyId: string) => string | Promise<string>]>([
  ["has its last checksum letter changed", withOtherEnd],
  ["is signed with another secret", (_secret, id) => newKeyText(id, crypto.getRandomValues(new Uint8Array(32)))],
  ["is the key's id", (secret) => `key_${secret.slice(4, 20)}`],
  ["is the operator's token", () => env.ADMIN_TOKEN],
])("a key that %s is refused without a call to an object or the directory", async (_name, forge) => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const forged = await forge(secret, key.id);
  const objects = vi.spyOn(env.KEYS, "getByName");
  const roundTrips = countRoundTrips();
  expectError(await client(forged)("GET", "/key"), 401, "invalid_api_key", /^Invalid or expired API key$/);
  expect(objects).not.toHaveBeenCalled();
  expect(roundTrips()).toBe(0);
});

test("a well-formed key that was never created is 401 and stores nothing in its object", async () => {
  const id = newId("key", null);
  const text = await newKeyText(id, bytesOf(env.KEY_SECRET));
  expectError(await client(text)("GET", "/key"), 401, "invalid_api_key");
  await runInDurableObject(env.KEYS.getByName(id), (_object, state) => {
    expect([...state.storage.kv.list()]).toEqual([]);
    expect(state.storage.sql.exec("select name from sqlite_master").toArray()).toEqual([]);
  });
});

test("a second well-formed text for a key's id is not a secret of that key", async () => {
  const { keyId, api } = await newOrganization();
  expect((await api("GET", "/key")).status).toBe(200);
  const text = await newKeyText(keyId, bytesOf(env.KEY_SECRET));
  expectError(await client(text)("GET", "/key"), 401, "invalid_api_key");
});

test("a key created with the previous secret is valid until that secret is removed", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId);
  const KEY_SECRET = newSecret();
  expect((await getKey(secret, { KEY_SECRET, KEY_SECRET_PREVIOUS: env.KEY_SECRET })).status).toBe(200);
  expectError(await getKey(secret, { KEY_SECRET }), 401, "invalid_api_key");
});

test("a key created after a rotation of the secret is signed with the new one", async () => {
  const { organizationId } = await newOrganization();
  const rotated = { KEY_SECRET: newSecret(), KEY_SECRET_PREVIOUS: env.KEY_SECRET };
  const { secret } = created(await admin("POST", `/organizations/${organizationId}/keys`, { name: "New" }, rotated));
  expect((await getKey(secret, { KEY_SECRET: rotated.KEY_SECRET })).status).toBe(200);
  expectError(await getKey(secret, {}), 401, "invalid_api_key");
});
