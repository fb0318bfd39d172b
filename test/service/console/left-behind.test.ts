import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import guide from "../../../src/docs/self-service.md?raw";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { newOperatorCode } from "../../../src/secrets/operator-code.ts";
import { browser, codeOf, OWN_PAGE, signIn, signInMember } from "../../support/console.ts";
import {
  admin,
  type Client,
  call,
  client,
  created,
  expectError,
  newKey,
  newOrganization,
} from "../../support/harness.ts";

const HERE = { "CF-Connecting-IP": "192.0.2.1" };
const NOTHING = {
  keys: [],
  members: [],
  links: [],
  sessions: [],
  passkeys: [],
  webhooks: [],
  identitySecrets: [],
  hasMore: false,
};

function take(link: { url: string }) {
  return call("POST", "/console/session", { body: { code: codeOf(link) }, headers: OWN_PAGE });
}

/** An organization with a key that may do everything, and a member that is no manager. */
async function newPlace() {
  const organization = await newOrganization({ selfService: {} });
  const { organizationId } = organization;
  const { key, secret } = await newKey(organizationId, { permissions: [...PERMISSIONS] });
  const bea = created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" })).member.id;
  return { ...organization, bea, keyId: key.id as string, api: client(secret) };
}

/** A manager of an organization, in a browser, as a client of its routes. */
async function newManager(organizationId: string, name = "Max") {
  const body = { name, permissions: "manager" };
  const { id } = created(await admin("POST", `/organizations/${organizationId}/members`, body)).member;
  const ask = browser(await signInMember(id));
  const api: Client = (method, path, sent) => ask(method, `/organizations/${organizationId}${path}`, sent);
  return { id: id as string, api };
}

const newLink = async (api: Client, id: string) => created(await api("POST", `/members/${id}/sign-in-link`));

test.each<[string, (keyId: string) => Promise<unknown>]>([
  ["is revoked", (id) => admin("DELETE", `/keys/${id}`)],
  ["loses members:write", (id) => admin("PATCH", `/keys/${id}`, { permissions: ["chats:read"] })],
  [
    "loses a permission of the member",
    (id) => admin("PATCH", `/keys/${id}`, { permissions: PERMISSIONS.filter((one) => one !== "chats:read") }),
  ],
  ["gets an end", (id) => admin("PATCH", `/keys/${id}`, { expiresAt: "2099-01-01T00:00:00.000Z" })],
  ["gets an allow-list", (id) => admin("PATCH", `/keys/${id}`, { ipAllowlist: ["192.0.2.1"] })],
])("a sign-in link is no longer good once the key that made it %s", async (_, change) => {
  const { api, bea, keyId } = await newPlace();
  const link = await newLink(api, bea);
  await change(keyId);
  expectError(await take(link), 401, "link_invalid");
});

test.each<[string, (memberId: string) => Promise<unknown>]>([
  ["is removed", (id) => admin("DELETE", `/members/${id}`)],
  ["is narrowed", (id) => admin("PATCH", `/members/${id}`, { permissions: "agent" })],
])("a sign-in link is no longer good once the member who made it %s", async (_, change) => {
  const { organizationId, bea } = await newPlace();
  const manager = await newManager(organizationId);
  const link = await newLink(manager.api, bea);
  await change(manager.id);
  expectError(await take(link), 401, "link_invalid");
});

test("a link outlives a change that takes nothing from its maker's right to make it", async () => {
  const { api, bea, keyId } = await newPlace();
  const link = await newLink(api, bea);
  await admin("PATCH", `/keys/${keyId}`, {
    name: "Renamed",
    permissions: PERMISSIONS.filter((one) => one !== "data:export"),
  });
  expect((await take(link)).status).toBe(204);
});

test("a revocation of a key says what the key leaves behind, and all of it can then be ended", async () => {
  const { api, bea, keyId, organizationId } = await newPlace();
  const other = created(await api("POST", "/keys", { name: "Other", permissions: ["chats:read"] })).key;
  const rotated = (await newKey(organizationId, { permissions: ["chats:read"] })).key;
  created(await api("POST", `/keys/${rotated.id}/rotate`));
  const eve = created(await api("POST", "/members", { name: "Eve", permissions: "agent" })).member;
  expect(eve.createdBy).toBe(keyId);
  await api("PATCH", `/members/${bea}`, { email: "eve@evil.test" });
  await take(await newLink(api, eve.id));
  const { url, expiresAt } = await newLink(api, bea);
  expect(url).toContain(bea);
  const { webhook } = created(await api("POST", "/webhooks", { url: "https://evil.test/hook" }));
  const site = created(await api("POST", "/channels", { kind: "web", name: "Site" })).channel;
  const { leftBehind } = (await admin("DELETE", `/keys/${keyId}`)).body;
  expect({ ...leftBehind, members: new Set(leftBehind.members), keys: new Set(leftBehind.keys) }).toEqual({
    keys: new Set([
      { id: other.id, name: "Other" },
      { id: rotated.id, name: rotated.name },
    ]),
    members: new Set([
      { id: eve.id, name: "Eve" },
      { id: bea, name: "Bea" },
    ]),
    links: [{ memberId: bea, expiresAt }],
    sessions: [{ memberId: eve.id, expiresAt: expect.any(String) }],
    passkeys: [],
    webhooks: [{ id: webhook.id, url: "https://evil.test/hook" }],
    identitySecrets: [{ channelId: site.id }],
    hasMore: false,
  });
  for (const { id } of leftBehind.keys) await admin("DELETE", `/keys/${id}`);
  await admin("DELETE", `/members/${eve.id}`);
  await admin("DELETE", `/members/${bea}`);
  await admin("DELETE", `/webhooks/${webhook.id}`);
  await admin("POST", `/channels/${site.id}/identity-secret`);
  expect((await admin("DELETE", `/keys/${keyId}`)).body.leftBehind).toEqual(NOTHING);
});

test("the guide names each list of what is left behind", () => {
  const lists = Object.keys(NOTHING).filter((name) => name !== "hasMore");
  for (const name of lists) expect(guide).toMatch(new RegExp(`^\\|.*\\| \`${name}\`.*\\|$`, "m"));
});

test("a webhook of somebody else that a key sent elsewhere is among what the key leaves behind", async () => {
  const { api, keyId, organizationId } = await newPlace();
  const body = { url: "https://acme.test/hook" };
  const { webhook } = created(await admin("POST", `/organizations/${organizationId}/webhooks`, body));
  await api("PATCH", `/webhooks/${webhook.id}`, { description: "Ours" });
  const narrowed = await admin("PATCH", `/keys/${keyId}`, { permissions: ["webhooks:write", "events:read"] });
  expect(narrowed.body.leftBehind).toEqual(NOTHING);
  await api("PATCH", `/webhooks/${webhook.id}`, { url: "https://evil.test/hook" });
  const { leftBehind } = (await admin("DELETE", `/keys/${keyId}`)).body;
  expect(leftBehind.webhooks).toEqual([{ id: webhook.id, url: "https://evil.test/hook" }]);
});

test("a key still leaves behind what it gave of a thing after somebody else gave the rest", async () => {
  const { api, bea, keyId, organizationId } = await newPlace();
  const url = "https://acme.test/hook";
  const { webhook } = created(await admin("POST", `/organizations/${organizationId}/webhooks`, { url }));
  const other = (await newKey(organizationId, { permissions: ["chats:read"] })).key;
  await api("PATCH", `/members/${bea}`, { email: "eve@evil.test" });
  await admin("PATCH", `/members/${bea}`, { permissions: "manager" });
  await api("PATCH", `/webhooks/${webhook.id}`, { url: "https://evil.test/hook" });
  created(await admin("POST", `/webhooks/${webhook.id}/rotate`));
  const theirs = created(await api("POST", `/keys/${other.id}/rotate`)).secret;
  await client(theirs)("GET", "/key");
  const rotate = (overlapSeconds: number) => admin("POST", `/keys/${other.id}/rotate`, { overlapSeconds });
  const { secret } = created(await rotate(3_600));
  const left = async () => (await admin("DELETE", `/keys/${keyId}`)).body.leftBehind;
  const all = {
    ...NOTHING,
    keys: [{ id: other.id, name: other.name }],
    members: [{ id: bea, name: "Bea" }],
    webhooks: [{ id: webhook.id, url: "https://evil.test/hook" }],
  };
  expect(await left()).toEqual(all);
  await client(secret)("GET", "/key");
  created(await rotate(0));
  expect(await left()).toEqual({ ...all, keys: [] });
  await admin("PATCH", `/members/${bea}`, { email: null });
  await admin("PATCH", `/webhooks/${webhook.id}`, { url });
  expect(await left()).toEqual(NOTHING);
});

test("a member's removal or loss of a permission says what the member leaves behind", async () => {
  const { organizationId, bea } = await newPlace();
  const manager = await newManager(organizationId);
  const session = await newLink(manager.api, bea);
  expect((await take(session)).status).toBe(204);
  const narrowed = (await admin("PATCH", `/members/${manager.id}`, { permissions: "agent" })).body;
  expect(narrowed.leftBehind.sessions).toMatchObject([{ memberId: bea }]);
  expect((await admin("PATCH", `/members/${manager.id}`, { name: "Maxine" })).body.leftBehind).toBeUndefined();
  await admin("DELETE", `/members/${bea}/sessions`);
  expect((await admin("DELETE", `/members/${manager.id}`)).body.leftBehind).toEqual(NOTHING);
});

test("a key with an end or an allow-list can't make what would outlast it", async () => {
  const { organizationId, bea } = await newPlace();
  const site = created(await admin("POST", `/organizations/${organizationId}/channels`, { kind: "web", name: "Site" }));
  const url = "https://acme.test/hook";
  const { webhook } = created(await admin("POST", `/organizations/${organizationId}/webhooks`, { url }));
  for (const bound of [{ ipAllowlist: ["192.0.2.0/24"] }, { expiresAt: "2099-01-01T00:00:00.000Z" }]) {
    const { secret } = await newKey(organizationId, { permissions: [...PERMISSIONS], ...bound });
    const api = (method: string, path: string, body?: unknown) => client(secret)(method, path, body, HERE);
    const refused = [
      await api("POST", `/members/${bea}/sign-in-link`),
      await api("POST", "/members", { name: "Eve", permissions: ["chats:read"] }),
      await api("PATCH", `/members/${bea}`, { email: "eve@evil.test" }),
      await api("POST", "/webhooks", { url: "https://evil.test/hook" }),
      await api("PATCH", `/webhooks/${webhook.id}`, { url: "https://evil.test/hook" }),
      await api("POST", `/webhooks/${webhook.id}/rotate`),
      await api("POST", `/channels/${site.channel.id}/identity-secret`),
    ];
    for (const answer of refused) expectError(answer, 403, "permission_denied", /an end or an allow-list.*outlast it/);
    expect(created(await api("POST", "/channels", { kind: "web", name: "Other" })).identitySecret).toBeUndefined();
    expect((await api("PATCH", `/webhooks/${webhook.id}`, { description: "Ours" })).status).toBe(200);
    expect((await api("DELETE", `/members/${bea}/sessions`)).status).toBe(200);
  }
});

test("a verify token is only shown to a key that may read and send messages, and that does not end", async () => {
  const { organizationId } = await newPlace();
  const body = {
    kind: "telegram",
    name: "Bot",
    credentials: { botToken: "1234567890:AAH4tT7y-Y0uB3liev3Th1s1sAT0kenForR34l" },
  };
  const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, body));
  const shown = async (permissions: string[], bound: object = {}) => {
    const { secret } = await newKey(organizationId, { permissions, ...bound });
    return (await client(secret)("GET", `/channels/${channel.id}`, undefined, HERE)).body.channel.webhook.verifyToken;
  };
  const all = ["channels:read", "channels:write", "messages:read", "messages:send"];
  for (const without of all.slice(1)) expect(await shown(all.filter((one) => one !== without))).toBeNull();
  expect(await shown(all, { ipAllowlist: ["192.0.2.0/24"] })).toBeNull();
  expect(await shown(all)).toBe(channel.webhook.verifyToken);
});

test("removing a member needs the member's permissions within one's own", async () => {
  const { organizationId, ownerId, bea } = await newPlace();
  const { secret } = await newKey(organizationId, { permissions: ["members:write", "chats:read"] });
  const narrow = client(secret);
  for (const id of [ownerId, bea]) expectError(await narrow("DELETE", `/members/${id}`), 403, "permission_denied");
  expect((await narrow("DELETE", `/members/${ownerId}/sessions`)).status).toBe(200);
  await admin("PATCH", `/members/${bea}`, { permissions: ["chats:read"] });
  expect((await narrow("DELETE", `/members/${bea}`)).status).toBe(200);
});

test("the last member who manages members can't be removed or narrowed, but for the operator", async () => {
  const { organizationId, ownerId, api } = await newPlace();
  const ends = [
    () => api("DELETE", `/members/${ownerId}`),
    () => api("PATCH", `/members/${ownerId}`, { permissions: "agent" }),
    () => api("PATCH", `/members/${ownerId}`, { permissions: [] }),
  ];
  for (const end of ends) expectError(await end(), 409, "last_manager", /no member left/);
  expect((await api("PATCH", `/members/${ownerId}`, { permissions: ["members:write"] })).status).toBe(200);
  const manager = await newManager(organizationId);
  expect((await manager.api("DELETE", `/members/${ownerId}`)).status).toBe(200);
  expectError(await manager.api("DELETE", `/members/${manager.id}`), 409, "last_manager");
  expect((await admin("PATCH", `/members/${manager.id}`, { permissions: "agent" })).status).toBe(200);
});

test("of two last managers that remove each other at once, one stays", async () => {
  const { organizationId, ownerId } = await newPlace();
  const [one, other] = await Promise.all([newManager(organizationId, "One"), newManager(organizationId, "Other")]);
  await admin("DELETE", `/members/${ownerId}`);
  const answers = await Promise.all([
    one.api("DELETE", `/members/${other.id}`),
    other.api("DELETE", `/members/${one.id}`),
  ]);
  expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
});

test("a member can't make a sign-in link for itself, and can for a colleague with the same rights", async () => {
  const { organizationId, ownerId } = await newPlace();
  const { api, id } = await newManager(organizationId);
  expectError(await api("POST", `/members/${id}/sign-in-link`), 403, "permission_denied", /for yourself/);
  expect((await signIn({ code: codeOf(await newLink(api, ownerId)) })).length).toBeGreaterThan(0);
});

test("the console can ask whom a link signs in and who is signed in, without using the link up", async () => {
  const { api, bea, keyId, organizationId, ownerId } = await newPlace();
  const link = await newLink(api, bea);
  const ask = (cookie?: string) => {
    const headers = { ...OWN_PAGE, ...(cookie && { Cookie: cookie }) };
    return call("POST", "/console/link", { body: { code: codeOf(link) }, headers });
  };
  const offer = {
    type: "member",
    member: { id: bea, name: "Bea" },
    organization: { id: organizationId, name: "Acme" },
  };
  expect((await ask()).body).toEqual({ link: offer, signedInAs: null });
  const operator = await signIn();
  expect((await ask(operator)).body).toEqual({ link: offer, signedInAs: { type: "operator", name: null } });
  const owner = await signInMember(ownerId);
  expect((await ask(owner)).body.signedInAs).toEqual({ type: "member", name: "Ada" });
  await call("DELETE", "/console/session", { headers: { ...OWN_PAGE, Cookie: owner } });
  expect((await ask(owner)).body.signedInAs).toBeNull();
  await admin("DELETE", `/keys/${keyId}`);
  expectError(await ask(operator), 401, "link_invalid");
});

test("the console can ask whom a code of the operator signs in, until it was used", async () => {
  const code = await newOperatorCode(env.ADMIN_TOKEN, Date.now());
  const ask = () => call("POST", "/console/link", { body: { code }, headers: OWN_PAGE });
  expect((await ask()).body.link).toEqual({ type: "operator", member: null, organization: null });
  await signIn({ code });
  expectError(await ask(), 401, "link_invalid");
});
