import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { fakeAccess, newSigningKey, type SigningKey, tokenFor } from "../../support/access.ts";
import { Authenticator } from "../../support/authenticator.ts";
import { browser, cookieOf, OWN_PAGE, signIn } from "../../support/console.ts";
import {
  admin,
  call,
  client,
  created,
  expectError,
  expectFaults,
  newKey as newApiKey,
  newOrganization,
} from "../../support/harness.ts";
import { hurryChecks } from "../../support/hurry.ts";
import { untilDoorbells } from "../events/fixtures.ts";
import { HOUR_MS, later, MINUTE_MS, statusWith } from "./access-fixtures.ts";

let key: SigningKey;
beforeAll(async () => {
  key = await newSigningKey("first");
});

/** An email that no other test has. */
function newEmail(): string {
  return `${crypto.randomUUID()}@acme.test`;
}

async function newMember(organizationId: string, email: string, permissions?: string[]): Promise<string> {
  const body = { name: "Bea", email, permissions };
  return created(await admin("POST", `/organizations/${organizationId}/members`, body)).member.id;
}

/** A member of a new organization, with a token of Access and a session that began with it. */
async function signedInMember(permissions?: string[]) {
  const email = newEmail();
  const access = fakeAccess([key]);
  const { organizationId } = await newOrganization();
  const memberId = await newMember(organizationId, email, permissions);
  const token = await tokenFor(email, key);
  const answer = await access.browser(token)("POST", "/session", { body: { access: {} } });
  expect(answer.status, answer.text).toBe(204);
  return { access, email, organizationId, memberId, token, cookie: cookieOf(answer) };
}

test("an operator's email is the operator, for 12 hours", async () => {
  const access = fakeAccess([key], "ann@acme.test, Bob@Acme.test");
  const ask = access.browser(await tokenFor("bob@ACME.test", key, { exp: Date.now() / 1_000 + 90_000 }));
  const found = await ask("GET", "/access");
  expect(found.body).toEqual({ access: { email: "bob@acme.test", isOperator: true, members: [] } });
  const begun = await ask("POST", "/session", { body: { access: {} } });
  expect(begun.status).toBe(204);
  const { session } = (await ask("GET", "/api/session", { headers: { Cookie: cookieOf(begun) } })).body;
  expect(session).toMatchObject({ type: "operator", member: null });
  later(12 * HOUR_MS + 1_000);
  expectError(await ask("GET", "/api/session", { headers: { Cookie: cookieOf(begun) } }), 401, "not_signed_in");
});

test("a member's email is this member, whatever the case of its letters", async () => {
  const access = fakeAccess([key]);
  const email = newEmail();
  const { organizationId } = await newOrganization();
  const memberId = await newMember(organizationId, email.toUpperCase());
  const ask = access.browser(await tokenFor(email, key));
  const begun = await ask("POST", "/session", { body: { access: {} } });
  expect(begun.status, begun.text).toBe(204);
  const { session } = (await ask("GET", "/api/session", { headers: { Cookie: cookieOf(begun) } })).body;
  expect(session).toMatchObject({ type: "member", member: { id: memberId }, organization: { id: organizationId } });
});

test("somebody with the email of several members chooses one of them", async () => {
  const access = fakeAccess([key]);
  const email = newEmail();
  const [ours, theirs, deleted, foreign] = await Promise.all(
    ["Ours", "Theirs", "Deleted", "Foreign"].map((name) => newOrganization({ name })),
  );
  const first = await newMember(ours?.organizationId ?? "", email);
  const second = await newMember(theirs?.organizationId ?? "", email);
  await newMember(deleted?.organizationId ?? "", email);
  await env.DB.prepare("update organizations set erasing_at = 1 where id = ?").bind(deleted?.organizationId).run();
  const ask = access.browser(await tokenFor(email, key));
  const { members } = (await ask("GET", "/access")).body.access;
  // The organizations were created at once, so either may be the first.
  expect(Map.groupBy(members, ({ id }: { id: string }) => id)).toEqual(
    new Map([
      [first, [{ id: first, name: "Bea", organization: { id: ours?.organizationId, name: "Ours" } }]],
      [second, [{ id: second, name: "Bea", organization: { id: theirs?.organizationId, name: "Theirs" } }]],
    ]),
  );
  expectFaults(await ask("POST", "/session", { body: { access: {} } }), "access.memberId");
  const other = await ask("POST", "/session", { body: { access: { memberId: foreign?.ownerId } } });
  expectError(other, 403, "access_unknown");
  const begun = await ask("POST", "/session", { body: { access: { memberId: second } } });
  const { session } = (await ask("GET", "/api/session", { headers: { Cookie: cookieOf(begun) } })).body;
  expect(session.member.id).toBe(second);
});

test("somebody who is neither a member nor an operator gets 403 and no session", async () => {
  const access = fakeAccess([key], "kim@acme.test");
  // The last one has a Kelvin sign, whose lower case is the letter k.
  for (const email of [newEmail(), "kim@acme.test.evil.test", "\u212Aim@acme.test"]) {
    const ask = access.browser(await tokenFor(email, key));
    const answer = await ask("POST", "/session", { body: { access: {} } });
    expectError(answer, 403, "access_unknown");
    expect(answer.headers.get("Set-Cookie")).toBeNull();
  }
});

test("a session that began with Access counts only while Access vouches for the same person", async () => {
  const { access, email, token, cookie } = await signedInMember();
  expect(await statusWith(access, token, cookie)).toBe(200);
  const expired = await tokenFor(email, key, { exp: Math.floor(Date.now() / 1_000) - 1 });
  for (const other of [null, await tokenFor(newEmail(), key), expired]) {
    expect(await statusWith(access, other, cookie)).toBe(401);
  }
  expect(await statusWith(access, await tokenFor(email, key), cookie)).toBe(200);
});

/** Another organization adds many members with an email. */
async function crowd(count: number, email: string): Promise<void> {
  const { organizationId } = await newOrganization({ name: "!" });
  const add = `insert into members (id, organization_id, name, email, permissions, created_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
    select ? || i, ?, 'Eve', ?, '[]', 0 from n`;
  await env.DB.prepare(add).bind(count, `mbr_${crypto.randomUUID()}`, organizationId, email).run();
}

test("members that another organization adds with the same email keep nobody out", async () => {
  const { access, email, memberId, token } = await signedInMember();
  await crowd(100, email);
  const answer = await access.browser(token)("POST", "/session", { body: { access: { memberId } } });
  expect(answer.status, answer.text).toBe(204);
});

test("an organization that gives an email to many members pushes no other one out of the choice", async () => {
  const { access, email, memberId, token } = await signedInMember();
  await crowd(150, email);
  const { members } = (await access.browser(token)("GET", "/access")).body.access;
  expect(members.map(({ id }: { id: string }) => id)).toContain(memberId);
  expect(members).toHaveLength(4);
});

test("a session that began with Access ends with Access's configuration", async () => {
  const { token, cookie } = await signedInMember();
  const without = fakeAccess([key]);
  without.bindings.ACCESS_TEAM_DOMAIN = "";
  expect(await statusWith(without, token, cookie)).toBe(401);
});

test("a session that began with Access ends when the member's email changes or the member is signed out", async () => {
  const changed = await signedInMember();
  await admin("PATCH", `/members/${changed.memberId}`, { email: newEmail() });
  expect(await statusWith(changed.access, changed.token, changed.cookie)).toBe(401);
  const ended = await signedInMember();
  await admin("DELETE", `/members/${ended.memberId}/sessions`);
  expect(await statusWith(ended.access, ended.token, ended.cookie)).toBe(401);
});

/** Adds a passkey in a session of Access; what then tries to sign in with it, outside of Access. */
async function addedPasskey({ access, token, cookie }: Awaited<ReturnType<typeof signedInMember>>) {
  const ask = access.browser(token, cookie);
  const { publicKey } = (await ask("GET", "/api/passkeys/options")).body;
  const authenticator = await Authenticator.make();
  const credential = await authenticator.create(publicKey);
  created(await ask("POST", "/api/passkeys", { body: { name: "Mine", credential } }));
  const outside = access.browser(null);
  return async () => {
    const options = (await outside("GET", "/passkey")).body.publicKey;
    return outside("POST", "/session", { body: { passkey: await authenticator.get(options) } });
  };
}

test.each([["another"], [null]])(
  "a passkey of a session of Access, and its sessions, end when the email becomes %s",
  async (change) => {
    const member = await signedInMember(["chats:read"]);
    const signInAgain = await addedPasskey(member);
    const begun = await signInAgain();
    expect(begun.status).toBe(204);
    const changed = await admin("PATCH", `/members/${member.memberId}`, { email: change && newEmail() });
    expect(changed.body.member.passkeys).toBe(0);
    expect(await statusWith(member.access, null, cookieOf(begun))).toBe(401);
    expectError(await signInAgain(), 401, "passkey_refused");
  },
);

test("an email that a revoked key gave leaves no passkey behind once it is taken back", async () => {
  const { organizationId } = await newOrganization();
  const own = newEmail();
  const memberId = await newMember(organizationId, own, ["chats:read"]);
  const made = await newApiKey(organizationId, {
    permissions: ["members:read", "members:write", "chats:read"],
  });
  const email = newEmail();
  expect((await client(made.secret)("PATCH", `/members/${memberId}`, { email })).status).toBe(200);
  const access = fakeAccess([key]);
  const token = await tokenFor(email, key);
  const begun = await access.browser(token)("POST", "/session", { body: { access: {} } });
  const signInAgain = await addedPasskey({ access, email, organizationId, memberId, token, cookie: cookieOf(begun) });
  const { leftBehind } = (await admin("DELETE", `/keys/${made.key.id}`)).body;
  expect(leftBehind.members).toEqual([{ id: memberId, name: "Bea" }]);
  expect((await signInAgain()).status).toBe(204);
  await admin("PATCH", `/members/${memberId}`, { email: own });
  expectError(await signInAgain(), 401, "passkey_refused");
});

test("a member who changes its own email keeps no passkey, not even that of its session", async () => {
  const member = await signedInMember(["chats:read", "members:write"]);
  const signInAgain = await addedPasskey(member);
  const ask = member.access.browser(null, cookieOf(await signInAgain()));
  const path = `/api/organizations/${member.organizationId}/members/${member.memberId}`;
  const changed = await ask("PATCH", path, { body: { email: newEmail() } });
  expect([changed.status, changed.body.member.passkeys]).toEqual([200, 0]);
  expectError(await signInAgain(), 401, "passkey_refused");
});

test("a sign-in with an old token of Access changes no passkeys, because the person may be away", async () => {
  const { access, email } = await signedInMember();
  const signedIn = async (token: string) => {
    const begun = await access.browser(token)("POST", "/session", { body: { access: {} } });
    return access.browser(token, cookieOf(begun));
  };
  const iat = Math.floor(Date.now() / 1_000) - 60;
  const token = await tokenFor(email, key, { iat });
  const { changeableUntil } = (await (await signedIn(token))("GET", "/api/passkeys")).body;
  expect(Date.parse(changeableUntil)).toBe(iat * 1_000 + 10 * MINUTE_MS);
  later(9 * MINUTE_MS + 1_000);
  const refused = await (await signedIn(token))("GET", "/api/passkeys/options");
  expectError(refused, 403, "sign_in_too_old", /Sign out of Access/);
  const anew = await signedIn(await tokenFor(email, key));
  expect((await anew("GET", "/api/passkeys/options")).status).toBe(200);
});

test("a token of Access that does not say when it was made changes no passkeys", async () => {
  const { access, email } = await signedInMember();
  const token = await tokenFor(email, key, { iat: undefined });
  const begun = await access.browser(token)("POST", "/session", { body: { access: {} } });
  const refused = await access.browser(token, cookieOf(begun))("GET", "/api/passkeys/options");
  expectError(refused, 403, "sign_in_too_old");
});

test("an operator of Access who is removed from CONSOLE_OPERATORS no longer has a session", async () => {
  const access = fakeAccess([key], "ann@acme.test");
  const token = await tokenFor("ann@acme.test", key);
  const cookie = cookieOf(await access.browser(token)("POST", "/session", { body: { access: {} } }));
  expect(await statusWith(access, token, cookie)).toBe(200);
  expect(await statusWith(fakeAccess([key], "bob@acme.test"), token, cookie)).toBe(401);
});

test("Access is not asked about sessions that began without it", async () => {
  const access = fakeAccess([key]);
  const cookie = await signIn();
  expect(await statusWith(access, null, cookie)).toBe(200);
  expect(access.certs.fetches).toBe(0);
  expect((await browser(cookie)("GET", "/session")).status).toBe(200);
});

test("a request that waits asks Access's token again before it answers", async () => {
  const { access, memberId, organizationId, token, cookie } = await signedInMember(["events:read"]);
  const goOn = hurryChecks();
  const waiting = access.browser(token, cookie)("GET", `/api/organizations/${organizationId}/events?from=now&wait=15`);
  await untilDoorbells(organizationId);
  await admin("PATCH", `/members/${memberId}`, { permissions: [] });
  goOn();
  expectError(await waiting, 403, "permission_denied", /You lack the permission events:read/);
});

test("another site can't ask who Access says that its visitor is", async () => {
  const access = fakeAccess([key], "ann@acme.test");
  const ask = access.browser(await tokenFor("ann@acme.test", key));
  for (const site of ["cross-site", "same-site", "none"]) {
    expectError(await ask("GET", "/access", { headers: { "Sec-Fetch-Site": site } }), 403, "cross_site");
    const begin = await ask("POST", "/session", { body: { access: {} }, headers: { "Sec-Fetch-Site": site } });
    expectError(begin, 403, "cross_site");
  }
});

test.each([[{ access: true }], [{ access: {}, token: "a" }], [{ access: { memberId: 1 } }]])(
  "%j is no sign-in",
  async (body) => {
    expectError(await call("POST", "/console/session", { body, headers: OWN_PAGE }), 400, "validation_failed");
  },
);

test("the sign-in page knows whether Access is configured", async () => {
  const page = (bindings: Partial<Env>) => call("GET", "/console", { bindings });
  expect((await page(fakeAccess([key]).bindings)).text).toContain('<div id="console" data-access');
  expect((await page({ ACCESS_TEAM_DOMAIN: "" })).text).not.toContain("data-access");
});

test("members are found by their email with an index", async () => {
  const query = "select * from members where email is not null and lower(email) = 'a@acme.test'";
  const { results } = await env.DB.prepare(`explain query plan ${query}`).all();
  expect(JSON.stringify(results)).toContain("USING INDEX members_by_email");
});
