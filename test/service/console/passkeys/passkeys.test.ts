import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { MAX_PASSKEYS } from "../../../../src/console/passkeys/passkeys.ts";
import { newId } from "../../../../src/model/id.ts";
import { type Algorithm, Authenticator, base64url, type Otherwise } from "../../../support/authenticator.ts";
import { browser, OWN_PAGE, signIn, signInMember } from "../../../support/console.ts";
import { admin, call, created, expectError, expectFaults } from "../../../support/harness.ts";
import { heldDatabase } from "../../../support/held-database.ts";
import {
  add,
  added,
  countOf,
  newColleague,
  newPerson,
  optionsFor,
  signInOptions,
  tryPasskey,
  withPasskey,
} from "./fixtures.ts";

const MINUTE_MS = 60_000;
const TIME = expect.stringMatching(/^\d{4}-.*Z$/);

test("a member adds passkeys, and renames them", async () => {
  const { ask, organizationId, ownerId } = await newPerson();
  expect((await ask("GET", "/passkeys")).body).toEqual({ passkeys: [], host: "parley.test", changeableUntil: TIME });
  const { passkey } = created(await add(ask, await Authenticator.make(), { name: "Laptop" }));
  expect(passkey).toEqual({
    id: expect.stringMatching(/^psk_g[0-9A-Za-z]{15}$/),
    name: "Laptop",
    host: "parley.test",
    createdAt: TIME,
    lastUsedAt: null,
  });
  const phone = (await added(ask, "Phone")).id;
  expect(await countOf(organizationId, ownerId)).toBe(2);
  const renamed = { ...passkey, name: "Work laptop" };
  expect((await ask("PATCH", `/passkeys/${passkey.id}`, { name: "Work laptop" })).body).toEqual({ passkey: renamed });
  expect((await ask("GET", "/passkeys")).body.passkeys).toEqual([renamed, expect.objectContaining({ id: phone })]);
});

test("a member sees when each passkey was used last", async () => {
  const { ask } = await newPerson();
  const { id, authenticator } = await added(ask, "Laptop");
  await added(ask, "Phone");
  expect((await tryPasskey(authenticator)).status).toBe(204);
  const { passkeys } = (await ask("GET", "/passkeys")).body;
  expect(passkeys).toMatchObject([{ id, lastUsedAt: TIME }, { lastUsedAt: null }]);
});

test("a deleted passkey signs nobody in, and no longer counts", async () => {
  const { ask, organizationId, ownerId } = await newPerson();
  const { id, authenticator } = await added(ask, "Laptop");
  const phone = (await added(ask, "Phone")).id;
  expect((await ask("DELETE", `/passkeys/${id}`)).body).toMatchObject({ passkey: { id, name: "Laptop" } });
  expectError(await ask("DELETE", `/passkeys/${id}`), 404, "passkey_not_found");
  expectError(await tryPasskey(authenticator), 401, "passkey_refused", /unknown here/);
  expect((await ask("GET", "/passkeys")).body.passkeys).toMatchObject([{ id: phone }]);
  expect(await countOf(organizationId, ownerId)).toBe(1);
  expect((await ask("GET", "/session")).body.session.member.passkeys).toBe(1);
});

test("what a browser is asked to make is a passkey of the member for this host, and none that exists", async () => {
  const { ask, ownerId } = await newPerson();
  const { authenticator } = await added(ask);
  const { publicKey } = await optionsFor(ask);
  expect(publicKey).toEqual({
    rp: { id: "parley.test", name: "Parley" },
    user: { id: base64url(ownerId), name: "Ada, Acme", displayName: "Ada, Acme" },
    challenge: expect.stringMatching(/^[\w-]{100,}$/),
    pubKeyCredParams: [
      { type: "public-key", alg: -7 },
      { type: "public-key", alg: -257 },
    ],
    timeout: 5 * MINUTE_MS,
    excludeCredentials: [{ type: "public-key", id: authenticator.id }],
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    attestation: "none",
  });
});

test.each<[string, Otherwise]>([
  ["from another site", { origin: "https://evil.test" }],
  ["from another port of this host", { origin: "https://parley.test:8443" }],
  ["from a frame of another site", { crossOrigin: true }],
  ["for another host", { host: "evil.test" }],
  ["of a sign-in", { type: "webauthn.get" }],
  ["without the person's touch", { flags: 4 }],
  ["without the person verified", { flags: 1 }],
  ["to a challenge that the service did not make", { challenge: base64url("challenge") }],
])("a new passkey %s is refused, and the same one without that is not", async (_, otherwise) => {
  const { ask, organizationId, ownerId } = await newPerson();
  const authenticator = await Authenticator.make();
  expectFaults(await add(ask, authenticator, otherwise), "credential");
  expect(await countOf(organizationId, ownerId)).toBe(0);
  created(await add(ask, authenticator));
});

test.each<[Algorithm]>([["ES256"], ["RS256"]])(
  "a public key of %s is stored, and nothing secret",
  async (algorithm) => {
    const { ask, ownerId } = await newPerson();
    const authenticator = await Authenticator.make(algorithm);
    created(await add(ask, authenticator));
    const row = await env.DB.prepare("select * from passkeys where member_id = ?").bind(ownerId).first();
    expect(row).toMatchObject({
      credential_id: authenticator.id,
      host: "parley.test",
      counter: 0,
      link_by: "operator",
    });
    const fields = Object.keys(JSON.parse(String(row?.public_key))).sort();
    expect(fields).toEqual(algorithm === "ES256" ? ["crv", "kty", "x", "y"] : ["e", "kty", "n"]);
  },
);

test("a challenge for a new passkey counts once, for five minutes, and in its session alone", async () => {
  const { ask, ownerId } = await newPerson();
  const authenticator = await Authenticator.make();
  const { publicKey } = await optionsFor(ask);
  const other = browser(await signInMember(ownerId));
  const body = { name: "Laptop", credential: await authenticator.create(publicKey) };
  expectFaults(await other("POST", "/passkeys", body), "credential");
  expect((await Promise.all([1, 2, 3].map(() => ask("POST", "/passkeys", body)))).map(({ status }) => status)).toEqual(
    expect.arrayContaining([201, 400, 400]),
  );
  const second = { name: "Phone", credential: await (await Authenticator.make()).create(publicKey) };
  const again = await ask("POST", "/passkeys", second);
  expectFaults(again, "credential");
  expect(again.body.errors[0].message).toMatch(/challenge was used/);
  const options = (await optionsFor(ask)).publicKey;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5 * MINUTE_MS + 1_000 });
  const late = { name: "Phone", credential: await (await Authenticator.make()).create(options) };
  expectFaults(await ask("POST", "/passkeys", late), "credential");
});

test("a challenge for a sign-in makes no passkey", async () => {
  const { ask } = await newPerson();
  const { challenge } = await signInOptions();
  expectFaults(await add(ask, await Authenticator.make(), { challenge }), "credential");
});

test("a member changes passkeys within 10 minutes of signing in, and with a new sign-in again", async () => {
  const { ask } = await newPerson();
  const { authenticator, id } = await added(ask);
  const { publicKey } = await optionsFor(ask);
  const body = { name: "Phone", credential: await (await Authenticator.make()).create(publicKey) };
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: now + 9 * MINUTE_MS });
  expect((await ask("PATCH", `/passkeys/${id}`, { name: "Laptop" })).status).toBe(200);
  const { changeableUntil } = (await ask("GET", "/passkeys")).body;
  expect(Date.parse(changeableUntil)).toBeLessThanOrEqual(now + 10 * MINUTE_MS);
  vi.setSystemTime(now + 10 * MINUTE_MS + 1_000);
  for (const refused of [
    await ask("GET", "/passkeys/options"),
    await ask("POST", "/passkeys", body),
    await ask("PATCH", `/passkeys/${id}`, { name: "Mine" }),
    await ask("DELETE", `/passkeys/${id}`),
  ]) {
    expectError(refused, 403, "sign_in_too_old", /Sign in again/);
  }
  expect((await ask("GET", "/passkeys")).body.passkeys).toMatchObject([{ id, name: "Laptop" }]);
  const again = await withPasskey(authenticator);
  expect((await again("DELETE", `/passkeys/${id}`)).status).toBe(200);
});

test("a session that goes on for days is not a new sign-in", async () => {
  const { ask } = await newPerson();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120 * MINUTE_MS });
  const kept = await ask("GET", "/session");
  expect(kept.headers.get("Set-Cookie")).toMatch(/^__Host-console=/);
  const cookie = kept.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  expectError(await browser(cookie)("GET", "/passkeys/options"), 403, "sign_in_too_old");
});

test("a member has at most ten passkeys, also if two are added at once", async () => {
  const { ask, organizationId, ownerId } = await newPerson();
  while ((await countOf(organizationId, ownerId)) < MAX_PASSKEYS - 1) await added(ask);
  const bodies = await Promise.all(
    [1, 2, 3].map(async () => {
      const { publicKey } = await optionsFor(ask);
      return { name: "Last", credential: await (await Authenticator.make()).create(publicKey) };
    }),
  );
  const answers = await Promise.all(bodies.map((body) => ask("POST", "/passkeys", body)));
  expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([201, 409, 409]);
  for (const answer of answers.filter(({ status }) => status === 409)) expectError(answer, 409, "passkey_limit", /10/);
  expect(await countOf(organizationId, ownerId)).toBe(MAX_PASSKEYS);
  expectError(await ask("GET", "/passkeys/options"), 409, "passkey_limit");
  const [{ id }] = (await ask("GET", "/passkeys")).body.passkeys;
  await ask("DELETE", `/passkeys/${id}`);
  await added(ask);
});

test("a passkey is added once, by one member", async () => {
  const [one, other] = [await newPerson(), await newPerson()];
  const { authenticator } = await added(one.ask);
  for (const { ask } of [one, other]) expectError(await add(ask, authenticator), 409, "passkey_exists");
  expect(await countOf(other.organizationId, other.ownerId)).toBe(0);
});

test("nobody sees, names or deletes the passkeys of another member", async () => {
  const { ask, organizationId } = await newPerson();
  const { authenticator, id } = await added(ask);
  const bea = browser(await signInMember(await newColleague(organizationId, { permissions: "manager" })));
  expect((await bea("GET", "/passkeys")).body.passkeys).toEqual([]);
  const unknown = newId("psk", null);
  for (const [method, body] of [["PATCH", { name: "Mine" }], ["DELETE"]] as const) {
    const [foreign, none] = [
      await bea(method, `/passkeys/${id}`, body),
      await bea(method, `/passkeys/${unknown}`, body),
    ];
    expectError(foreign, 404, "passkey_not_found");
    expect(foreign.body).toEqual(none.body);
  }
  expect((await tryPasskey(authenticator)).status).toBe(204);
});

test("the operator has no passkeys, and a stranger sees none", async () => {
  const operator = browser(await signIn());
  const routes = [
    ["GET", ""],
    ["GET", "/options"],
    ["POST", ""],
    ["PATCH", "/psk_x"],
    ["DELETE", "/psk_x"],
  ] as const;
  for (const [method, path] of routes) {
    expectError(await operator(method, `/passkeys${path}`), 403, "permission_denied", /operator has no passkeys/);
    expectError(await call(method, `/console/api/passkeys${path}`, { headers: OWN_PAGE }), 401, "not_signed_in");
  }
});

test("a member without any permission has passkeys", async () => {
  const { organizationId } = await newPerson();
  const id = await newColleague(organizationId, { permissions: [] });
  const { authenticator } = await added(browser(await signInMember(id)));
  expect((await withPasskey(authenticator)) && (await countOf(organizationId, id))).toBe(1);
});

test.each<[string, unknown, number]>([
  ["no name", {}, 400],
  ["a blank name", { name: " " }, 400],
  ["a name of 101 characters", { name: "x".repeat(101) }, 400],
  ["a name of 100 characters", { name: "x".repeat(100) }, 200],
])("a passkey with %s: %j is a %d", async (_, body, status) => {
  const { ask } = await newPerson();
  const { id } = await added(ask);
  expect((await ask("PATCH", `/passkeys/${id}`, body)).status).toBe(status);
});

test.each<[string, (of: Awaited<ReturnType<Authenticator["create"]>>) => object]>([
  ["no response", ({ id, type }) => ({ id, type })],
  ["client data that is no JSON", (of) => changed(of, { clientDataJSON: base64url("no JSON") })],
  ["client data that is no base64url", (of) => changed(of, { clientDataJSON: "?" })],
  ["client data of an impossible length", (of) => changed(of, { clientDataJSON: "AAAAA" })],
  ["an attestation that is no CBOR", (of) => changed(of, { attestationObject: base64url("CBOR") })],
  ["an attestation of nested lists", (of) => changed(of, { attestationObject: base64url("\u0081".repeat(9_000)) })],
  ["a cut attestation", (of) => changed(of, { attestationObject: of.response.attestationObject.slice(0, 120) })],
  ["an empty attestation", (of) => changed(of, { attestationObject: "" })],
  ["a long attestation", (of) => changed(of, { attestationObject: "A".repeat(40_000) })],
])("a new passkey with %s is a 400", async (_, change) => {
  const { ask } = await newPerson();
  const { publicKey } = await optionsFor(ask);
  const credential = change(await (await Authenticator.make()).create(publicKey));
  const answer = await ask("POST", "/passkeys", { name: "Laptop", credential });
  expect(answer.status, answer.text).toBe(400);
});

function changed<T extends { response: object }>(of: T, response: object): T {
  return { ...of, response: { ...of.response, ...response } };
}

test("at an IP address no passkey is added, and the list says so", async () => {
  const { ownerId } = await newPerson();
  const host = "192.0.2.7";
  const { url } = created(await admin("POST", `/members/${ownerId}/sign-in-link`));
  const code = new URL(url).hash.slice("#code=".length);
  const answer = await call("POST", "/console/session", { body: { code }, headers: OWN_PAGE, host });
  const ask = browser(answer.headers.get("Set-Cookie")?.split(";")[0] ?? "");
  expect((await ask("GET", "/passkeys", undefined, { host })).body.host).toBeNull();
  expectError(await ask("GET", "/passkeys/options", undefined, { host }), 409, "passkey_host");
  const { publicKey } = await optionsFor(ask);
  const credential = await (await Authenticator.make()).create(publicKey, { host });
  expectError(await ask("POST", "/passkeys", { name: "Laptop", credential }, { host }), 409, "passkey_host");
});

test("the list tells passkeys of an earlier host from those of this one", async () => {
  const { ask } = await newPerson();
  await added(ask);
  const moved = { host: "console.test", bindings: { CONSOLE_HOST: "console.test", PUBLIC_HOST: "parley.test" } };
  const { host, passkeys } = (await ask("GET", "/passkeys", undefined, moved)).body;
  expect([host, passkeys[0].host]).toEqual(["console.test", "parley.test"]);
});

test("a passkey that is added while its member is signed out is not there afterward", async () => {
  const { ask, ownerId, organizationId } = await newPerson();
  const { publicKey } = await optionsFor(ask);
  const body = { name: "Laptop", credential: await (await Authenticator.make()).create(publicKey) };
  // The session was checked, and then the member is signed out before the passkey is stored.
  const bindings = heldDatabase(/insert into "passkeys"/, async () => {
    expect((await admin("DELETE", `/members/${ownerId}/sessions`)).status).toBe(200);
  });
  expectError(await ask("POST", "/passkeys", body, { bindings }), 401, "not_signed_in");
  expect(await countOf(organizationId, ownerId)).toBe(0);
});
