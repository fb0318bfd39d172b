import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { MAX_PASSKEYS } from "../../../../src/console/passkeys/passkeys.ts";
import { type Algorithm, Authenticator, base64url, type Otherwise } from "../../../support/authenticator.ts";
import { browser, cookieOf, OWN_PAGE, signInMember } from "../../../support/console.ts";
import { admin, call, created, expectError } from "../../../support/harness.ts";
import { add, added, newColleague, newPerson, send, signInOptions, tryPasskey, withPasskey } from "./fixtures.ts";

const MINUTE_MS = 60_000;

test.each<[Algorithm, number]>([
  ["ES256", 0],
  ["RS256", 0],
  ["ES256", 7],
])("a member signs in alone with a passkey of %s whose counter begins at %d", async (algorithm, counter) => {
  const { ask, organizationId, ownerId } = await newPerson();
  const authenticator = await Authenticator.make(algorithm);
  authenticator.counter = counter;
  created(await add(ask, authenticator));
  if (counter > 0) authenticator.counter++;
  const answer = await tryPasskey(authenticator);
  expect([answer.status, answer.text]).toEqual([204, ""]);
  expect(answer.headers.get("Set-Cookie")).toMatch(
    /^__Host-console=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  const { session } = (await browser(cookieOf(answer))("GET", "/session")).body;
  expect(session).toMatchObject({
    type: "member",
    member: { id: ownerId, passkeys: 1 },
    organization: { id: organizationId },
  });
  expect((await ask("GET", "/passkeys")).body.passkeys[0].lastUsedAt).toMatch(/Z$/);
});

test("what a browser is asked to sign in with is a passkey of this host, with the person verified", async () => {
  const options = await signInOptions();
  expect(options).toEqual({
    rpId: "parley.test",
    challenge: expect.stringMatching(/^[\w-]{100,}$/),
    timeout: 5 * MINUTE_MS,
    userVerification: "required",
  });
  expect((await signInOptions()).challenge).not.toBe(options.challenge);
});

test.each<[string, Otherwise, RegExp]>([
  ["from another site", { origin: "https://evil.test" }, /another site/],
  ["from another port of this host", { origin: "https://parley.test:8443" }, /another site/],
  ["from this host without TLS", { origin: "http://parley.test" }, /another site/],
  ["from a frame of another site", { crossOrigin: true }, /another site/],
  ["for another host", { host: "evil.test" }, /another host/],
  ["of a new passkey", { type: "webauthn.create" }, /malformed/],
  ["without the person's touch", { flags: 4 }, /did not check who you are/],
  ["without the person verified", { flags: 1 }, /did not check who you are/],
  ["to a challenge that the service did not make", { challenge: base64url("challenge") }, /challenge/],
  ["without a user", { userHandle: null }, /another member/],
  ["of an unknown credential", { id: base64url("unknown") }, /unknown here/],
  ["that was altered after it was signed", { altered: true }, /signature is wrong/],
])("an answer %s signs nobody in, and the same one without that does", async (_, otherwise, why) => {
  const { authenticator } = await added((await newPerson()).ask);
  const refused = await tryPasskey(authenticator, otherwise);
  expectError(refused, 401, "passkey_refused", why);
  expect(refused.headers.get("Set-Cookie")).toBeNull();
  expect((await tryPasskey(authenticator)).status).toBe(204);
});

test("an answer counts once, also for ten browsers at the same time", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  const answer = await authenticator.get(await signInOptions());
  const all = await Promise.all(Array.from({ length: 10 }, () => send(answer)));
  expect(all.map(({ status }) => status).sort((one, other) => one - other)).toEqual([204, ...Array(9).fill(401)]);
  expectError(await send(answer), 401, "passkey_refused", /challenge was used or has expired/);
});

test("a challenge counts once, also for a second signature, and in an isolate that knows nothing of the first", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  const options = await signInOptions();
  expect((await send(await authenticator.get(options))).status).toBe(204);
  const bindings = {};
  const again = await send(await authenticator.get(options, { counter: 9 }), { bindings });
  expectError(again, 401, "passkey_refused", /challenge was used/);
  const stored = JSON.stringify((await env.DB.prepare("select * from used_codes").all()).results);
  expect(stored).not.toContain(atob(options.challenge.replace(/-/g, "+").replace(/_/g, "/")));
});

test("a challenge is good for five minutes", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  const options = await signInOptions();
  const other = await signInOptions();
  vi.setSystemTime(now + 5 * MINUTE_MS - 2_000);
  expect((await send(await authenticator.get(options))).status).toBe(204);
  vi.setSystemTime(now + 5 * MINUTE_MS + 2_000);
  expectError(await send(await authenticator.get(other)), 401, "passkey_refused", /challenge/);
});

test("what was used up of challenges is deleted once they have ended", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  await tryPasskey(authenticator);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7 * MINUTE_MS });
  await tryPasskey(authenticator);
  const { results } = await env.DB.prepare("select * from used_codes").all<{ until: number }>();
  expect(results).toHaveLength(1);
});

test("a challenge of the time before ADMIN_TOKEN was rotated does not count, nor one for a new passkey", async () => {
  const { ask } = await newPerson();
  const { authenticator } = await added(ask);
  const old = await authenticator.get(await signInOptions({ bindings: { ADMIN_TOKEN: "before" } }));
  expectError(await send(old), 401, "passkey_refused", /challenge/);
  const { publicKey } = (await ask("GET", "/passkeys/options")).body;
  const forNew = await authenticator.get({ rpId: publicKey.rp.id, challenge: publicKey.challenge });
  expectError(await send(forNew), 401, "passkey_refused", /challenge/);
});

test("a counter that falls or stays signs nobody in, also if it falls to 0", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  expect((await tryPasskey(authenticator, { counter: 5 })).status).toBe(204);
  for (const counter of [4, 1, 5, 0]) {
    expectError(await tryPasskey(authenticator, { counter }), 401, "passkey_refused", /counter fell/);
  }
  expect(warned).toHaveBeenCalledTimes(4);
  expect(warned).toHaveBeenCalledWith(expect.objectContaining({ event: "passkey_counter_fell" }));
  expect((await tryPasskey(authenticator, { counter: 6 })).status).toBe(204);
});

test("a device that does not number its signatures signs in again and again", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  for (let i = 0; i < 3; i++) expect((await tryPasskey(authenticator, { counter: 0 })).status).toBe(204);
});

test("of two answers with the same counter at once, one counts", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  const answers = await Promise.all(
    Array.from({ length: 4 }, async () => send(await authenticator.get(await signInOptions(), { counter: 3 }))),
  );
  expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([204, 401, 401, 401]);
});

test("nobody signs in with the credential of another member", async () => {
  const { ask, ownerId, organizationId } = await newPerson();
  const bea = await newColleague(organizationId);
  const victim = (await added(ask)).authenticator;
  const mine = await Authenticator.make();
  created(await add((await newPerson()).ask, mine));
  expectError(await tryPasskey(mine, { id: victim.id }), 401, "passkey_refused", /another member/);
  const asVictim = { id: victim.id, userHandle: base64url(ownerId) };
  expectError(await tryPasskey(mine, asVictim), 401, "passkey_refused", /signature is wrong/);
  const asColleague = { userHandle: base64url(bea) };
  expectError(await tryPasskey(victim, asColleague), 401, "passkey_refused", /another member/);
  expect((await tryPasskey(victim)).status).toBe(204);
});

test("the console's port counts, and its host names the passkey", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  const host = "parley.test:8443";
  const options = await signInOptions({ host });
  expect(options.rpId).toBe("parley.test");
  const there = { origin: "https://parley.test:8443" };
  expectError(await send(await authenticator.get(options, there)), 401, "passkey_refused", /another site/);
  const again = await signInOptions({ host });
  expect((await send(await authenticator.get(again, there), { host })).status).toBe(204);
});

test("after CONSOLE_HOST changed, a passkey no longer signs in, and it does once it is back", async () => {
  const { authenticator } = await added((await newPerson()).ask);
  const moved = { host: "console.test", bindings: { CONSOLE_HOST: "console.test", PUBLIC_HOST: "parley.test" } };
  const options = await signInOptions(moved);
  expect(options.rpId).toBe("console.test");
  expectError(await send(await authenticator.get(options), moved), 401, "passkey_refused", /another host/);
  expect((await tryPasskey(authenticator)).status).toBe(204);
});

test.each(["192.0.2.7", "192.0.2.7:8787", "[2001:db8::7]"])("at %s there are no passkeys", async (host) => {
  const asked = await call("GET", "/console/passkey", { headers: OWN_PAGE, host });
  expectError(asked, 409, "passkey_host", /sign-in link/);
  const { authenticator } = await added((await newPerson()).ask);
  const answer = await authenticator.get(await signInOptions());
  expectError(await send(answer, { host }), 409, "passkey_host");
});

test("only a page of the console can ask for a challenge, and asking stores nothing", async () => {
  const stored = async () => (await env.DB.prepare("select count(*) as n from used_codes").first("n")) as number;
  const before = await stored();
  for (const site of ["cross-site", "same-site", "none"]) {
    const headers = { "Sec-Fetch-Site": site };
    expectError(await call("GET", "/console/passkey", { headers }), 403, "cross_site");
  }
  expectError(await call("GET", "/console/passkey"), 403, "cross_site");
  const refused = await signInOptions();
  await send({ id: "AAAA", response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" } });
  expect(refused.challenge).toBeDefined();
  expect(await stored()).toBe(before);
});

test("a passkey of a removed member, or of a deleted organization, signs nobody in", async () => {
  const { organizationId } = await newPerson();
  const bea = await newColleague(organizationId);
  const { authenticator } = await added(browser(await signInMember(bea)));
  expect((await tryPasskey(authenticator)).status).toBe(204);
  await admin("DELETE", `/members/${bea}`);
  expectError(await tryPasskey(authenticator), 401, "passkey_refused", /unknown here/);
  const rows = env.DB.prepare("select count(*) as n from passkeys where member_id = ?").bind(bea);
  expect(await rows.first("n")).toBe(0);
  const gone = await newPerson();
  const other = (await added(gone.ask)).authenticator;
  expect((await admin("DELETE", `/organizations/${gone.organizationId}`)).status).toBe(200);
  expectError(await tryPasskey(other), 401, "passkey_refused", /unknown here/);
});

test("a session of a passkey adds and removes others, and lasts as any member's", async () => {
  const { ask } = await newPerson();
  const { authenticator } = await added(ask);
  const alone = await withPasskey(authenticator);
  const second = await added(alone, "Phone");
  expect((await alone("GET", "/passkeys")).body.passkeys).toHaveLength(2);
  expect((await alone("DELETE", `/passkeys/${second.id}`)).status).toBe(200);
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: now + 6 * 24 * 60 * MINUTE_MS });
  expect((await alone("GET", "/session")).status).toBe(200);
  vi.setSystemTime(now + 14 * 24 * 60 * MINUTE_MS);
  expectError(await alone("GET", "/session"), 401, "not_signed_in");
});

test("each of ten passkeys signs in", async () => {
  const { ask } = await newPerson();
  const all: Authenticator[] = [];
  while (all.length < MAX_PASSKEYS) all.push((await added(ask, `Device ${all.length}`)).authenticator);
  for (const each of all) expect((await tryPasskey(each)).status).toBe(204);
});

test("a challenge counts although the clock that made it was ahead", async () => {
  const { ask } = await newPerson();
  const { authenticator } = await added(ask);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2_000 });
  const publicKey = await signInOptions();
  vi.setSystemTime(Date.now() - 2_000);
  expect((await send(await authenticator.get(publicKey))).status).toBe(204);
});
