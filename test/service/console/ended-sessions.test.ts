import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import { fakeAccess, newSigningKey, type SigningKey, tokenFor } from "../../support/access.ts";
import { browser, codeOf, cookieOf, OWN_PAGE, signIn, signInMember } from "../../support/console.ts";
import { aroundCall, breakDirectory, breakObjects } from "../../support/faults.ts";
import { admin, call, created, expectError, newOrganization } from "../../support/harness.ts";

let key: SigningKey;
beforeAll(async () => void (key = await newSigningKey("first")));

const DAY_MS = 86_400_000;

function signOut(cookie: string, headers: Record<string, string> = {}, bindings?: Partial<Env>) {
  const sent = { headers: { ...OWN_PAGE, Cookie: cookie, ...headers }, ...(bindings && { bindings }) };
  return call("DELETE", "/console/session", sent);
}

const statusOf = async (cookie: string) => (await browser(cookie)("GET", "/session")).status;

/** A new organization with two members, the first of which is signed in. */
async function newPlace() {
  const { organizationId, ownerId } = await newOrganization();
  const list = `/organizations/${organizationId}/members`;
  const bea = created(await admin("POST", list, { name: "Bea", permissions: "manager" })).member.id as string;
  const cookie = await signInMember(ownerId);
  const chats = (of = cookie) => browser(of)("GET", `/organizations/${organizationId}/chats`);
  expect((await chats()).status).toBe(200);
  return { organizationId, ownerId, bea, cookie, chats, object: env.ORGANIZATIONS.getByName(organizationId) };
}

test("signing out ends the session itself, and no other one", async () => {
  const { ownerId, cookie, chats, object } = await newPlace();
  const other = await signInMember(ownerId);
  expect((await signOut(cookie)).status).toBe(204);
  expectError(await chats(), 401, "not_signed_in");
  expect(await statusOf(cookie)).toBe(401);
  expect(await statusOf(other)).toBe(200);
  await evictDurableObject(object);
  expectError(await chats(), 401, "not_signed_in");
  expect((await chats(other)).status).toBe(200);
});

test("signing out ends the operator's session itself, and no other one", async () => {
  const [cookie, other] = [await signIn(), await signIn()];
  expect((await signOut(cookie)).status).toBe(204);
  expect([await statusOf(cookie), await statusOf(other)]).toEqual([401, 200]);
});

test("signing out ends a session of Cloudflare Access, an operator's and a member's", async () => {
  const access = fakeAccess([key], "ann@acme.test");
  const email = `${crypto.randomUUID()}@acme.test`;
  const { organizationId } = await newOrganization();
  await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea", email });
  for (const who of ["ann@acme.test", email]) {
    const token = await tokenFor(who, key);
    const cookie = cookieOf(await access.browser(token)("POST", "/session", { body: { access: {} } }));
    const ask = access.browser(token, cookie);
    expect((await ask("GET", "/api/session")).status).toBe(200);
    expect((await ask("DELETE", "/session")).status).toBe(204);
    expect((await ask("GET", "/api/session")).status).toBe(401);
  }
});

test("a late answer that prolongs a session does not bring it back after a sign-out", async () => {
  const { cookie } = await newPlace();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + DAY_MS });
  const prolonged = cookieOf(await browser(cookie)("GET", "/session"));
  expect(prolonged).not.toBe(cookie);
  await signOut(cookie);
  expect(await statusOf(prolonged)).toBe(401);
});

test("without a session, or with one that is over, signing out clears the cookie", async () => {
  const { cookie } = await newPlace();
  await signOut(cookie);
  for (const sent of [cookie, "__Host-console=junk", ""]) {
    const answer = await signOut(sent);
    expect(answer.status).toBe(204);
    expect(answer.headers.get("Set-Cookie")).toMatch(/^__Host-console=; Max-Age=0/);
  }
});

test("a sign-out that can't be stored is a 503, and the cookie stays for another try", async () => {
  const { cookie } = await newPlace();
  const operator = await signIn();
  breakObjects("ORGANIZATIONS", "endSession");
  const member = await signOut(cookie);
  vi.restoreAllMocks();
  breakDirectory("bare");
  const second = await signOut(operator);
  vi.restoreAllMocks();
  for (const answer of [member, second]) {
    expectError(answer, 503, "unavailable");
    expect(answer.headers.get("Set-Cookie")).toBeNull();
  }
  expect([await statusOf(cookie), await statusOf(operator)]).toEqual([200, 200]);
  for (const each of [cookie, operator]) expect((await signOut(each)).status).toBe(204);
  expect([await statusOf(cookie), await statusOf(operator)]).toEqual([401, 401]);
});

test("while D1 does not answer, the operator's session does not count", async () => {
  const cookie = await signIn();
  breakDirectory("bare");
  const answer = await browser(cookie)("GET", "/session");
  vi.restoreAllMocks();
  expectError(answer, 503, "unavailable");
});

test("a D1 outage keeps no member of a warm organization out", async () => {
  const { chats } = await newPlace();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 });
  breakDirectory("bare");
  const answer = await chats();
  vi.restoreAllMocks();
  expect(answer.status, answer.text).toBe(200);
});

const CHANGES: [string, (memberId: string) => Promise<{ status: number }>, number][] = [
  ["removal", (id) => admin("DELETE", `/members/${id}`), 401],
  ["sign-out everywhere", (id) => admin("DELETE", `/members/${id}/sessions`), 401],
  ["loss of a permission", (id) => admin("PATCH", `/members/${id}`, { permissions: ["keys:read"] }), 403],
];

test.each(CHANGES)(
  "a member's %s counts on the very next request, even if the object is not told of it",
  async (_, change, status) => {
    const { ownerId, chats } = await newPlace();
    breakObjects("ORGANIZATIONS", "endMemberChange");
    expect((await change(ownerId)).status).toBe(200);
    expect((await chats()).status).toBe(status);
    vi.restoreAllMocks();
    expect((await chats()).status).toBe(status);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    expect((await chats()).status).toBe(status);
  },
);

test.each(CHANGES)(
  "a member's %s is refused if the object can't be told before, and nothing changed",
  async (_, change) => {
    const { ownerId, chats } = await newPlace();
    breakObjects("ORGANIZATIONS", "beginMemberChange");
    const answer = await change(ownerId);
    vi.restoreAllMocks();
    expect(answer.status).toBe(503);
    expect((await chats()).status).toBe(200);
  },
);

test("a record that was read before a change is not held after it", async () => {
  const { organizationId, ownerId, cookie, chats, object } = await newPlace();
  const claims = JSON.parse(decodeURIComponent(cookie.slice(cookie.indexOf("=") + 1)).replace(/\.[^.]*$/, ""));
  await evictDurableObject(object);
  const session = { memberId: ownerId, sessionId: claims.jti, startedAt: claims.iat };
  // Begins with a read of the directory, which ends after the change.
  const read = object.member(organizationId, session);
  const changed = admin("PATCH", `/members/${ownerId}`, { permissions: ["keys:read"] });
  await Promise.all([read, changed]);
  expect((await chats()).status).toBe(403);
});

test.each(CHANGES.slice(0, 2))(
  "restoring D1 to the time before a member's %s revives no session",
  async (_, change) => {
    for (const isTold of [true, false]) {
      const { ownerId, chats, object } = await newPlace();
      const row = await env.DB.prepare("select * from members where id = ?")
        .bind(ownerId)
        .first<Record<string, unknown>>();
      if (!isTold) breakObjects("ORGANIZATIONS", "endMemberChange");
      await change(ownerId);
      vi.restoreAllMocks();
      if (!isTold) expect((await chats()).status).toBe(401);
      const values = Object.values(row ?? {});
      await env.DB.prepare(`insert or replace into members values (${values.map(() => "?").join()})`)
        .bind(...values)
        .run();
      await evictDurableObject(object);
      expectError(await chats(), 401, "not_signed_in");
      expect((await chats(await signInMember(ownerId))).status).toBe(200);
    }
  },
);

test("restoring D1 revives no session that a member signed out", async () => {
  const { cookie, chats, object } = await newPlace();
  await signOut(cookie);
  await evictDurableObject(object);
  expectError(await chats(), 401, "not_signed_in");
});

test("ended sessions are stored until they would be over, and no more than 100 of a member", async () => {
  const { organizationId, ownerId, bea, object } = await newPlace();
  const rows = () =>
    runInDurableObject(object, (_object, { storage }) => {
      return storage.sql.exec<{ member_id: string }>("select * from session_ends").toArray();
    });
  const until = Date.now() + 30 * DAY_MS;
  const end = (memberId: string, n: number) =>
    object.endSession(organizationId, { memberId, sessionId: `session-${n}`, startedAt: 1 }, until);
  const old = await signInMember(bea);
  for (let n = 0; n < 101; n++) await end(bea, n);
  expect(await rows()).toHaveLength(1);
  expect(await statusOf(old)).toBe(401);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * DAY_MS });
  await end(ownerId, 1);
  expect((await rows()).map((row) => row.member_id)).toEqual([]);
});

test("the operator's ended sessions are deleted once they would be over", async () => {
  await signOut(await signIn());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + DAY_MS });
  await signOut(await signIn());
  expect((await env.DB.prepare("select * from ended_sessions").all()).results).toHaveLength(1);
});

test("signing a member out also ends a session whose link was used at that moment", async () => {
  const { bea } = await newPlace();
  const newLink = async () => ({ code: codeOf(created(await admin("POST", `/members/${bea}/sign-in-link`))) });
  const signOutEverywhere = async () => {
    expect((await admin("DELETE", `/members/${bea}/sessions`)).status).toBe(200);
  };
  const pass = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
  pass(0);
  // The link is used up, and its session has not begun.
  const batch = env.DB.batch.bind(env.DB);
  const body = await newLink();
  vi.spyOn(env.DB, "batch").mockImplementationOnce(async (...given) => {
    const results = await batch(...given);
    pass(1_000);
    await signOutEverywhere();
    pass(1_000);
    return results as never;
  });
  expect(await statusOf(await signIn(body))).toBe(401);
  // The members' sign-out has begun, and is not written.
  const link = await newLink();
  let cookie = "";
  aroundCall("ORGANIZATIONS", "beginMemberChange", {
    after: async () => {
      pass(1_000);
      cookie = await signIn(link);
      pass(1_000);
    },
  });
  await signOutEverywhere();
  expect(await statusOf(cookie)).toBe(401);
  pass(1);
  expect(await statusOf(await signIn(await newLink()))).toBe(200);
});
