import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { fakeAccess, newSigningKey, type SigningKey, tokenFor } from "../../support/access.ts";
import { cookieOf } from "../../support/console.ts";
import { expectError } from "../../support/harness.ts";
import { HOUR_MS, later, MINUTE_MS, statusWith } from "./access-fixtures.ts";

let key: SigningKey;
let newKey: SigningKey;
beforeAll(async () => {
  [key, newKey] = await Promise.all([newSigningKey("first"), newSigningKey("second")]);
});

test.each<[string, () => Promise<string | null>]>([
  ["no token", async () => null],
  ["an empty token", async () => ""],
  ["a token that is not one", async () => "a.b.c"],
  ["another audience", () => tokenFor("ann@acme.test", key, { aud: ["another"] })],
  ["no audience", () => tokenFor("ann@acme.test", key, { aud: undefined })],
  ["another issuer", () => tokenFor("ann@acme.test", key, { iss: "https://other.cloudflareaccess.com" })],
  ["no issuer", () => tokenFor("ann@acme.test", key, { iss: undefined })],
  ["an expired token", () => tokenFor("ann@acme.test", key, { exp: Math.floor(Date.now() / 1_000) - 1 })],
  ["a token without an end", () => tokenFor("ann@acme.test", key, { exp: undefined })],
  ["a token of a service", () => tokenFor("", key, { email: undefined, common_name: "robot" })],
  ["a signature by another key", async () => tokenFor("ann@acme.test", { ...newKey, private: renamed(newKey) })],
  ["another email under the same signature", async () => altered(await tokenFor("bob@acme.test", key))],
  ["no signature", async () => unsigned(await tokenFor("ann@acme.test", key))],
])("%s signs nobody in", async (_, tokenOf) => {
  const access = fakeAccess([key], "ann@acme.test");
  const ask = access.browser(await tokenOf());
  const answer = await ask("POST", "/session", { body: { access: {} } });
  expectError(answer, 401, "access_invalid");
  expect(answer.headers.get("Set-Cookie")).toBeNull();
  expectError(await ask("GET", "/access"), 401, "access_invalid");
});

/** A private key under the id of the one that the key server has. */
function renamed({ private: own }: SigningKey) {
  return { ...own, kid: key.public.kid };
}

function altered(token: string): string {
  const [header, payload = "", signature] = token.split(".");
  return [header, btoa(atob(payload).replace("bob@", "ann@")).replaceAll("=", ""), signature].join(".");
}

function unsigned(token: string): string {
  const [, payload] = token.split(".");
  return `${btoa(JSON.stringify({ alg: "none", typ: "JWT", kid: key.public.kid })).replaceAll("=", "")}.${payload}.`;
}

test("the keys are fetched once an hour, also for many requests", async () => {
  const access = fakeAccess([key], "ann@acme.test");
  const ask = access.browser(await tokenFor("ann@acme.test", key, { exp: Date.now() / 1_000 + 90_000 }));
  for (let i = 0; i < 5; i++) expect((await ask("GET", "/access")).status).toBe(200);
  later(HOUR_MS - MINUTE_MS);
  expect((await ask("GET", "/access")).status).toBe(200);
  expect(access.certs.fetches).toBe(1);
  later(2 * MINUTE_MS);
  expect((await ask("GET", "/access")).status).toBe(200);
  expect(access.certs.fetches).toBe(2);
});

test("unknown key ids cause one fetch a minute", async () => {
  const access = fakeAccess([key], "ann@acme.test");
  const known = access.browser(await tokenFor("ann@acme.test", key));
  const unknown = access.browser(await tokenFor("ann@acme.test", newKey));
  expect((await known("GET", "/access")).status).toBe(200);
  later(MINUTE_MS + 1_000);
  for (let i = 0; i < 2; i++) expectError(await unknown("GET", "/access"), 401, "access_invalid");
  await Promise.all([1, 2, 3].map(() => unknown("GET", "/access")));
  expect(access.certs.fetches).toBe(2);
  expect((await known("GET", "/access")).status).toBe(200);
});

test("Access can change its keys: a new one is fetched, and a removed one is no longer accepted", async () => {
  const access = fakeAccess([key], "ann@acme.test");
  const [before, after] = await Promise.all([key, newKey].map((each) => tokenFor("ann@acme.test", each)));
  const statusOf = async (token = "") => (await access.browser(token)("GET", "/access")).status;
  expect(await statusOf(before)).toBe(200);
  later(MINUTE_MS + 1_000);
  access.certs.keys = [key, newKey];
  expect([await statusOf(after), await statusOf(before)]).toEqual([200, 200]);
  later(MINUTE_MS + 1_000);
  access.certs.keys = [newKey];
  later(HOUR_MS);
  const [old, current] = await Promise.all([key, newKey].map((each) => tokenFor("ann@acme.test", each)));
  expect([await statusOf(current), await statusOf(old)]).toEqual([200, 401]);
});

test("while the keys of Access can't be fetched, its people get 503, and others are served", async () => {
  const access = fakeAccess([key], "ann@acme.test");
  access.certs.isDown = true;
  const ask = access.browser(await tokenFor("ann@acme.test", key));
  expectError(await ask("GET", "/access"), 503, "unavailable");
  const own = await access.browser(null)("POST", "/session", { body: { token: env.ADMIN_TOKEN } });
  expect(own.status).toBe(204);
  expect(await statusWith(access, null, cookieOf(own))).toBe(200);
  access.certs.isDown = false;
  later(1_001);
  expect((await ask("GET", "/access")).status).toBe(200);
});

test("while the keys of Access can't be fetched, tokens cause one fetch at a time, and pauses that grow", async () => {
  later(0);
  const access = fakeAccess([key], "ann@acme.test");
  access.certs.isDown = true;
  const junk = await Promise.all(
    [1, 2, 3].map((n) => tokenFor("ann@acme.test", { ...newKey, private: { ...newKey.private, kid: `junk-${n}` } })),
  );
  const askAll = () => Promise.all([...junk, ...junk].map((token) => access.browser(token)("GET", "/access")));
  for (const answer of await askAll()) expectError(answer, 503, "unavailable");
  await askAll();
  expect(access.certs.fetches).toBe(1);
  for (const [pause, fetches] of [
    [1_001, 2],
    [1_001, 2],
    [1_001, 3],
    [30_001, 4],
  ] as const) {
    later(pause);
    await askAll();
    expect(access.certs.fetches).toBe(fetches);
  }
  access.certs.isDown = false;
  later(30_001);
  const [first, second] = await Promise.all(
    [1, 2].map(async () => access.browser(await tokenFor("ann@acme.test", key))("GET", "/access")),
  );
  expect([first?.status, second?.status, access.certs.fetches]).toEqual([200, 200, 5]);
});

test("half a configuration is a 503", async () => {
  const access = fakeAccess([key]);
  access.bindings.ACCESS_AUD = "";
  expectError(await access.browser(await tokenFor("ann@acme.test", key))("GET", "/access"), 503, "unavailable");
});
