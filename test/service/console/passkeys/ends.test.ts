import { expect, test } from "vitest";
import { PERMISSIONS } from "../../../../src/model/permission.ts";
import type { Authenticator } from "../../../support/authenticator.ts";
import { browser, codeOf, OWN_PAGE, signIn, signInMember } from "../../../support/console.ts";
import {
  admin,
  type Client,
  call,
  client,
  created,
  expectError,
  newKey,
  newOrganization,
} from "../../../support/harness.ts";
import { type Ask, added, countOf, newColleague, whichSignIn, withPasskey } from "./fixtures.ts";

/** A manager with two passkeys, and another member with one. */
async function newTeam() {
  const { organizationId, ownerId } = await newOrganization();
  const bea = await newColleague(organizationId, { permissions: ["chats:read"] });
  const ask = browser(await signInMember(ownerId));
  const [laptop, phone] = [await added(ask, "Laptop"), await added(ask, "Phone")];
  const hers = (await added(browser(await signInMember(bea)))).authenticator;
  return { organizationId, ownerId, bea, laptop: laptop.authenticator, phone: phone.authenticator, hers };
}

/** The routes of an organization for a person in the console. */
function inOrganization(ask: Ask, organizationId: string): Client {
  return (method, path, body) => ask(method, `/organizations/${organizationId}${path}`, body);
}

const ALL_GONE = [false, false];

test("a member who signs out everywhere keeps only the passkey of this session", async () => {
  const { organizationId, ownerId, laptop, phone, hers } = await newTeam();
  const ask = await withPasskey(phone);
  const answer = await inOrganization(ask, organizationId)("DELETE", `/members/${ownerId}/sessions`);
  expect([answer.status, answer.body.member.passkeys]).toEqual([200, 1]);
  expectError(await ask("GET", "/session"), 401, "not_signed_in");
  expect(await whichSignIn(laptop, phone, hers)).toEqual([false, true, true]);
  expect(await countOf(organizationId, ownerId)).toBe(1);
});

test("a member who signs out everywhere in a session of a link keeps no passkey", async () => {
  const { organizationId, ownerId, laptop, phone } = await newTeam();
  const ask = browser(await signInMember(ownerId));
  expect((await inOrganization(ask, organizationId)("DELETE", `/members/${ownerId}/sessions`)).status).toBe(200);
  expect(await whichSignIn(laptop, phone)).toEqual(ALL_GONE);
});

test.each<[string, (team: Awaited<ReturnType<typeof newTeam>>) => Promise<Client>]>([
  ["the operator", async () => admin],
  [
    "a key",
    async ({ organizationId }) => client((await newKey(organizationId, { permissions: [...PERMISSIONS] })).secret),
  ],
  [
    "a colleague with a passkey",
    async ({ organizationId, bea, hers }) => {
      await admin("PATCH", `/members/${bea}`, { permissions: ["chats:read"] });
      const manager = await newColleague(organizationId, { permissions: "manager" });
      const { authenticator } = await added(browser(await signInMember(manager)));
      expect(await whichSignIn(hers)).toEqual([true]);
      return inOrganization(await withPasskey(authenticator), organizationId);
    },
  ],
])("a member whom %s signs out everywhere keeps no passkey, and all others keep theirs", async (_, actorOf) => {
  const team = await newTeam();
  const { ownerId, laptop, phone, hers, organizationId } = team;
  const actor = await actorOf(team);
  const answer = await actor("DELETE", `/members/${ownerId}/sessions`);
  expect([answer.status, answer.body.member.passkeys]).toEqual([200, 0]);
  expect(await whichSignIn(laptop, phone, hers)).toEqual([false, false, true]);
  expect(await countOf(organizationId, ownerId)).toBe(0);
});

test("a gained permission deletes the member's passkeys, and a lost one or another change does not", async () => {
  const { bea, hers, laptop, organizationId } = await newTeam();
  await admin("PATCH", `/members/${bea}`, { name: "Beate", email: "bea@acme.test", permissions: ["chats:read"] });
  expect(await whichSignIn(hers)).toEqual([true]);
  await admin("PATCH", `/members/${bea}`, { permissions: [] });
  expect(await whichSignIn(hers)).toEqual([true]);
  const { member } = (await admin("PATCH", `/members/${bea}`, { permissions: ["chats:read"] })).body;
  expect(member.passkeys).toBe(0);
  expect(await whichSignIn(hers, laptop)).toEqual([false, true]);
  expect(await countOf(organizationId, bea)).toBe(0);
});

test("a change that is refused deletes no passkey", async () => {
  const { bea, ownerId, hers, laptop, organizationId } = await newTeam();
  const { secret } = await newKey(organizationId, { permissions: ["members:write", "chats:read"] });
  const narrow = client(secret);
  expectError(await narrow("PATCH", `/members/${bea}`, { permissions: ["keys:write"] }), 403, "permission_denied");
  expectError(await narrow("DELETE", `/members/${ownerId}`), 403, "permission_denied");
  const elsewhere = await newKey((await newOrganization()).organizationId, { permissions: [...PERMISSIONS] });
  expectError(await client(elsewhere.secret)("DELETE", `/members/${bea}/sessions`), 404, "member_not_found");
  expect(await whichSignIn(hers, laptop)).toEqual([true, true]);
});

test("after a sign-out everywhere the link is the way back, and a new passkey can be added", async () => {
  const { ownerId, laptop } = await newTeam();
  await admin("DELETE", `/members/${ownerId}/sessions`);
  const ask = browser(await signInMember(ownerId));
  const { authenticator } = await added(ask);
  expect(await whichSignIn(laptop, authenticator)).toEqual([false, true]);
});

/** An organization with a key that makes links, and the member whom one of them signs in. */
async function newLinked() {
  const { organizationId, ownerId } = await newOrganization({ selfService: {} });
  const { key, secret } = await newKey(organizationId, { permissions: [...PERMISSIONS] });
  const link = created(await client(secret)("POST", `/members/${ownerId}/sign-in-link`));
  const ask = browser(await signIn({ code: codeOf(link) }));
  const leftBehind = async () => (await admin("DELETE", `/keys/${key.id}`)).body.leftBehind;
  return { organizationId, ownerId, ask, leftBehind, keyId: key.id };
}

test("a revocation lists the passkeys that its key's links led to, and the sessions of these too", async () => {
  const { organizationId, ownerId, ask, leftBehind } = await newLinked();
  const first = await added(ask, "Laptop");
  const alone = await withPasskey(first.authenticator);
  const second = await added(alone, "Phone");
  const third = await added(browser(await signInMember(ownerId)), "By the operator’s link");
  const { passkeys, sessions } = await leftBehind();
  const listed = [
    { id: first.id, memberId: ownerId, name: "Laptop" },
    { id: second.id, memberId: ownerId, name: "Phone" },
  ];
  expect(new Set(passkeys)).toEqual(new Set(listed));
  expect(sessions).toMatchObject([{ memberId: ownerId }]);
  expect(await whichSignIn(first.authenticator, third.authenticator)).toEqual([true, true]);
  await admin("DELETE", `/members/${ownerId}/sessions`);
  expect(await leftBehind()).toMatchObject({ passkeys: [], sessions: [] });
  expect(await countOf(organizationId, ownerId)).toBe(0);
});

test("a session of a passkey that a key's link led to is listed once the link's own session is over", async () => {
  const { ownerId, ask, leftBehind } = await newLinked();
  const { authenticator } = await added(ask);
  await endAll(ask);
  const alone = await withPasskey(authenticator);
  const { sessions, passkeys } = await leftBehind();
  expect(sessions).toMatchObject([{ memberId: ownerId }]);
  expect(passkeys).toHaveLength(1);
  expect((await alone("GET", "/session")).status).toBe(200);
});

async function endAll(ask: Ask): Promise<void> {
  expect((await ask("GET", "/session")).status).toBe(200);
  expect((await call("DELETE", "/console/session", { headers: OWN_PAGE })).status).toBe(204);
}

test("the audit log names the maker of the link that led to a passkey in what its sessions do", async () => {
  const { organizationId, ownerId, ask, keyId } = await newLinked();
  const { authenticator } = await added(ask);
  const alone = inOrganization(await withPasskey(authenticator), organizationId);
  created(await alone("POST", "/members", { name: "Eve" }));
  const { entries } = (await admin("GET", `/organizations/${organizationId}/audit?actor=${ownerId}`)).body;
  expect(entries.map(({ action, linkBy }: Record<string, unknown>) => [action, linkBy])).toEqual([
    ["member.create", keyId],
    ["passkey.create", keyId],
  ]);
});

test("a member who is narrowed leaves the passkeys that its links led to behind", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const bea = await newColleague(organizationId, { permissions: ["chats:read"] });
  const manager = inOrganization(browser(await signInMember(ownerId)), organizationId);
  const link = created(await manager("POST", `/members/${bea}/sign-in-link`));
  const { authenticator, id } = await added(browser(await signIn({ code: codeOf(link) })));
  const { leftBehind } = (await admin("PATCH", `/members/${ownerId}`, { permissions: ["members:write"] })).body;
  expect(leftBehind.passkeys).toEqual([{ id, memberId: bea, name: "Laptop" }]);
  expect(await whichSignIn(authenticator as Authenticator)).toEqual([true]);
});
