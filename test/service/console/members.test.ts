import { env } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { newId } from "../../../src/model/id.ts";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { browser, cookieOf, signIn, signInMember } from "../../support/console.ts";
import {
  type Answer,
  admin,
  call,
  client,
  created,
  expectError,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { heldDatabase } from "../../support/held-database.ts";
import { hurryChecks } from "../../support/hurry.ts";
import { routesBelow } from "../../support/routes.ts";
import { TOMORROW } from "../../support/tomorrow.ts";
import { untilDoorbells } from "../events/fixtures.ts";

const DAY_MS = 86_400_000;
const ORGANIZATION = "/console/api/organizations/:organizationId";

/** A member with these permissions of a new organization, in a browser. `at` is the path of the organization. */
async function newMember(permissions: readonly string[] = PERMISSIONS, settings: object = {}) {
  const organization = await newOrganization({ ...settings });
  const { organizationId, ownerId } = organization;
  await admin("PATCH", `/members/${ownerId}`, { permissions });
  const ask = browser(await signInMember(ownerId));
  return { ...organization, ask, at: `/organizations/${organizationId}` };
}

let ours: Awaited<ReturnType<typeof newMember>>;
let theirs: Awaited<ReturnType<typeof newMember>>;
beforeAll(async () => {
  [ours, theirs] = [await newMember(), await newMember()];
});

/** A response without what differs in each. */
function seen({ status, body }: Answer) {
  return { status, body };
}

const ROUTES = routesBelow(`${ORGANIZATION}/`);

test.each(ROUTES)("%s %s: another organization is like one that does not exist", async (method, route) => {
  const path = route.slice(ORGANIZATION.length).replace(/:\w+/g, "none");
  const foreign = await ours.ask(method, `/organizations/${theirs.organizationId}${path}`);
  const unknown = await ours.ask(method, `/organizations/${newId("org", null)}${path}`);
  expectError(foreign, 404, "organization_not_found");
  expect(seen(foreign)).toEqual(seen(unknown));
});

test("another organization's ids are unknown below one's own organization", async () => {
  const chat = await newChat(theirs.api, theirs.channelId);
  const message = await send(theirs.api, chat.id);
  const paths = [
    `/chats/${chat.id}`,
    `/chats/${chat.id}/messages`,
    `/chats/${chat.id}/messages/${message.id}`,
    `/keys/${theirs.keyId}`,
    `/channels/${theirs.channelId}`,
  ];
  for (const path of paths) {
    expect((await ours.ask("GET", `${ours.at}${path}`)).status, path).toBe(404);
    expect((await theirs.ask("GET", `${theirs.at}${path}`)).status, path).toBe(200);
  }
});

test("a member can't manage organizations", async () => {
  for (const [method, path] of [
    ["GET", "/organizations"],
    ["POST", "/organizations"],
    ["GET", ours.at],
    ["PATCH", ours.at],
    ["DELETE", ours.at],
  ] as const) {
    const body = method === "GET" ? undefined : { name: "Mine" };
    expectError(await ours.ask(method, path, body), 403, "permission_denied", /operator/);
  }
  expectError(
    await ours.ask("PATCH", `${ours.at}/channels/${ours.channelId}`, { limits: { chats: 9 } }),
    403,
    "permission_denied",
    /operator/,
  );
});

test("a member may do what its permissions say, from the next request on", async () => {
  const { ask, at, ownerId } = await newMember(["chats:read", "keys:read"]);
  expect((await ask("GET", `${at}/chats`)).status).toBe(200);
  expectError(await ask("GET", `${at}/templates`), 403, "permission_denied", /templates:read/);
  await admin("PATCH", `/members/${ownerId}`, { permissions: ["keys:read"] });
  expectError(await ask("GET", `${at}/chats`), 403, "permission_denied", /chats:read/);
  expect((await ask("GET", `${at}/keys`)).status).toBe(200);
  expect((await ask("GET", "/session")).body.session.permissions).toEqual(["keys:read"]);
});

test("a member who may send uploads a file, sends it and downloads it, and no other member uploads one", async () => {
  const { ask, at, api, channelId, organizationId } = await newMember();
  const chat = await newChat(api, channelId);
  const headers = { "Content-Type": "text/plain", "Content-Length": "5" };
  const upload = (as: typeof ask) => as("POST", `${at}/chats/${chat.id}/media`, "Hello", { headers });
  const { media } = created(await upload(ask));
  const body = { content: media.id, mediaId: media.id };
  const { message } = created(await ask("POST", `${at}/chats/${chat.id}/messages`, body));
  expect((await ask("GET", `${at}/chats/${chat.id}/messages/${message.id}/media`)).text).toBe("Hello");
  const reader = { name: "Bea", permissions: ["messages:read"] };
  const { member } = created(await admin("POST", `/organizations/${organizationId}/members`, reader));
  expectError(await upload(browser(await signInMember(member.id))), 403, "permission_denied", /messages:send/);
});

test("a member sends in its own name, and in no other", async () => {
  const { at, api, channelId, organizationId, ownerId } = await newMember();
  const body = { name: "Bea", permissions: ["messages:send"] };
  const bea = created(await admin("POST", `/organizations/${organizationId}/members`, body)).member.id;
  const asBea = browser(await signInMember(bea));
  const chat = await newChat(api, channelId);
  const path = `${at}/chats/${chat.id}/messages`;
  expect(created(await asBea("POST", path, { content: "Hi" })).message.senderId).toBe(bea);
  expect(created(await asBea("POST", path, { content: "Hi", senderId: bea })).message.senderId).toBe(bea);
  expectError(await asBea("POST", path, { content: "Hi", senderId: ownerId }), 403, "permission_denied", /own name/);
});

test("the operator must name a member of the organization as the sender", async () => {
  const { at, api, channelId, ownerId } = ours;
  const ask = browser(await signIn());
  const path = `${at}/chats/${(await newChat(api, channelId)).id}/messages`;
  expectError(await ask("POST", path, { content: "Hi" }), 400, "missing_field", "senderId is required");
  expectError(await ask("POST", path, { content: "Hi", senderId: theirs.ownerId }), 404, "sender_not_found");
  expect(created(await ask("POST", path, { content: "Hi", senderId: ownerId })).message.senderId).toBe(ownerId);
});

test("the console counts in no key", async () => {
  // No window of the rate limit ends meanwhile.
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { ask, at, keyId, channelId, api } = await newMember();
  const chat = await newChat(api, channelId);
  const used = async () => (await admin("GET", `/keys/${keyId}/usage`)).body.usage;
  const before = await used();
  const answer = await ask("GET", `${at}/chats/${chat.id}/messages`);
  expect([answer.status, answer.headers.get("X-RateLimit-Limit")]).toEqual([200, null]);
  await ask("POST", `${at}/chats/${chat.id}/messages`, { content: "Hi" });
  expect(await used()).toEqual(before);
});

test.each<[string, (memberId: string, organizationId: string) => Promise<unknown>]>([
  ["the member's removal", (id) => admin("DELETE", `/members/${id}`)],
  ["the end of the member's sessions", (id) => admin("DELETE", `/members/${id}/sessions`)],
  ["the organization's deletion", (_, id) => admin("DELETE", `/organizations/${id}`)],
])("a session ends with %s", async (_, end) => {
  const { ask, at, ownerId, organizationId } = await newMember();
  created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" }));
  expect((await ask("GET", `${at}/chats`)).status).toBe(200);
  await end(ownerId, organizationId);
  for (const path of ["/session", `${at}/chats`]) expectError(await ask("GET", path), 401, "not_signed_in");
});

test("a member can sign in again after its sessions were ended", async () => {
  const { ownerId } = await newMember();
  await admin("DELETE", `/members/${ownerId}/sessions`);
  expect((await browser(await signInMember(ownerId))("GET", "/session")).status).toBe(200);
});

test("a session does not get a permission that the member gets later", async () => {
  const { ask, at, ownerId } = await newMember(["chats:read"]);
  await admin("PATCH", `/members/${ownerId}`, { permissions: ["chats:read"], name: "Bea" });
  expect((await ask("GET", `${at}/chats`)).status).toBe(200);
  await admin("PATCH", `/members/${ownerId}`, { permissions: ["chats:read", "keys:read"] });
  for (const path of ["/session", `${at}/keys`]) expectError(await ask("GET", path), 401, "not_signed_in");
  expect((await browser(await signInMember(ownerId))("GET", `${at}/keys`)).status).toBe(200);
});

test("a change of a member undoes nothing that others change at the same time", async () => {
  const { ask, ownerId } = await newMember();
  const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
  const bindings = heldDatabase(/^update "members"/, async () => {
    await admin("DELETE", `/members/${ownerId}/sessions`);
    await admin("PATCH", `/members/${ownerId}`, { email: "bea@acme.test" });
  });
  const { body } = await call("PATCH", `/admin/v1/members/${ownerId}`, { body: { name: "Bea" }, headers, bindings });
  expect(body.member).toMatchObject({ name: "Bea", email: "bea@acme.test" });
  expectError(await ask("GET", "/session"), 401, "not_signed_in");
});

test("a key that is changed while it creates a member creates it", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { permissions: ["members:write"] });
  const permissions = ["members:write", "chats:read"];
  const bindings = heldDatabase(/^insert into "members"/, () => admin("PATCH", `/keys/${key.id}`, { permissions }));
  const headers = { Authorization: `Bearer ${secret}` };
  const made = created(await call("POST", "/api/v1/members", { body: { name: "Bea" }, headers, bindings }));
  // What the key may give by then.
  expect(made.member.permissions).toEqual(["chats:read"]);
});

test("a member's session ends after 30 days, and after 7 days without use", async () => {
  const { ownerId } = await newOrganization();
  const start = Date.now();
  let cookie = await signInMember(ownerId);
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  for (let day = 6; day < 30; day += 6) {
    vi.setSystemTime(start + day * DAY_MS);
    const answer = await browser(cookie)("GET", "/session");
    expect([day, answer.status]).toEqual([day, 200]);
    cookie = cookieOf(answer);
  }
  vi.setSystemTime(start + 29.9 * DAY_MS);
  cookie = cookieOf(await browser(cookie)("GET", "/session"));
  vi.setSystemTime(start + 30 * DAY_MS + 60_000);
  expectError(await browser(cookie)("GET", "/session"), 401, "not_signed_in");
  vi.setSystemTime(start);
  cookie = await signInMember(ownerId);
  vi.setSystemTime(start + 7 * DAY_MS + 60_000);
  expectError(await browser(cookie)("GET", "/session"), 401, "not_signed_in");
});

test("only the question who is signed in prolongs a session, so that no late answer undoes a sign-out", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const start = Date.now();
  const cookie = await signInMember(ownerId);
  vi.useFakeTimers({ toFake: ["Date"], now: start + DAY_MS });
  const list = await browser(cookie)("GET", `/organizations/${organizationId}/chats`);
  expect([list.status, list.headers.get("Set-Cookie")]).toEqual([200, null]);
  const session = await browser(cookie)("GET", "/session");
  expect([session.status, session.headers.has("Set-Cookie")]).toEqual([200, true]);
});

test("an open stream ends when the member may no longer read events", async () => {
  const { organizationId, ask, at, ownerId } = await newMember(["events:read"]);
  const goOn = hurryChecks();
  const waiting = ask("GET", `${at}/events?from=now&wait=15`);
  await untilDoorbells(organizationId);
  await admin("PATCH", `/members/${ownerId}`, { permissions: [] });
  goOn();
  expectError(await waiting, 403, "permission_denied", /events:read/);
});

test("a key and a member can't let a member do more than they can", async () => {
  const { organizationId, ownerId, ask, at } = await newMember(["members:write", "chats:read"]);
  const add = (body: object) => ask("POST", `${at}/members`, { name: "Bea", ...body });
  // The default, as far as the giver has it.
  expect(created(await add({})).member.permissions).toEqual(["chats:read"]);
  expectError(await add({ permissions: ["chats:read", "keys:write"] }), 403, "permission_denied", /keys:write/);
  const bea = created(await add({ permissions: ["chats:read"] })).member.id;
  const path = `${at}/members/${bea}`;
  expectError(await ask("PATCH", path, { permissions: ["messages:read"] }), 403, "permission_denied", /messages:read/);
  expect(created(await ask("POST", `${path}/sign-in-link`)).url).toContain(bea);
  await admin("PATCH", `/members/${bea}`, { permissions: ["keys:write"] });
  expectError(await ask("POST", `${path}/sign-in-link`), 403, "permission_denied", /keys:write/);
  // An email can be a way in.
  expectError(await ask("PATCH", path, { email: "eve@evil.test" }), 403, "permission_denied", /keys:write/);
  expect((await ask("DELETE", `${path}/sessions`)).status).toBe(200);
  expect((await ask("PATCH", `${at}/members/${ownerId}`, { permissions: ["keys:write"] })).status).toBe(403);

  const permissions = ["members:write", "chats:read"];
  for (const limit of [{ ipAllowlist: ["198.51.100.0/24"] }, { expiresAt: "2099-01-01T00:00:00.000Z" }]) {
    const { secret } = await newKey(organizationId, { permissions, ...limit });
    const key = client(secret);
    const asked = { "CF-Connecting-IP": "198.51.100.7" };
    const made = created(await key("POST", "/members", { name: "Cy" }, asked)).member;
    expect(made.permissions).toEqual([]);
    const body = { permissions: ["chats:read"] };
    expectError(await key("PATCH", `/members/${made.id}`, body, asked), 403, "permission_denied", /allow-list/);
    expect((await key("PATCH", `/members/${made.id}`, { name: "Cyd" }, asked)).body.member.name).toBe("Cyd");
  }
});

test("a member manages keys within its own permissions and the operator's ceilings", async () => {
  const { ask, at, ownerId } = await newMember(["keys:read", "keys:write", "chats:read"], {
    selfService: { maxKeys: 2 },
  });
  const add = (permissions: string[]) => ask("POST", `${at}/keys`, { name: "Key", permissions });
  const text = "You lack the permission messages:read of the other key";
  expectError(await add(["messages:read"]), 403, "permission_denied", text);
  expect(created(await add(["chats:read"])).key.createdBy).toBe(ownerId);
  expectError(await add(["chats:read"]), 409, "key_limit");
  const off = await newMember(["keys:write"]);
  expectError(await off.ask("POST", `${off.at}/keys`, { name: "Key", permissions: [] }), 403, "self_service_off");
});

test("the operator creates any key for an organization", async () => {
  const body = { name: "Key", permissions: [...PERMISSIONS] };
  const made = created(await browser(await signIn())("POST", `${ours.at}/keys`, body));
  expect(made.key.createdBy).toBe("operator");
  expect((await client(made.secret)("GET", "/chats")).status).toBe(200);
});

test("each write leaves an entry in the audit log and an audit line with the member", async () => {
  const log = vi.spyOn(console, "log");
  created(await ours.ask("POST", `${ours.at}/templates`, { name: "t", language: "en", body: "Hi" }));
  const lines = log.mock.calls.map(([line]): unknown => (typeof line === "string" ? JSON.parse(line) : line));
  log.mockRestore();
  const audited = lines.filter((line) => (line as { event: string }).event === "audit");
  expect(audited).toMatchObject([{ method: "POST", actor: ours.ownerId }]);
  const { entries } = (await ours.ask("GET", `${ours.at}/audit?actor=${ours.ownerId}&limit=1`)).body;
  expect(entries).toMatchObject([{ action: "template.create", actor: { type: "member", id: ours.ownerId } }]);
});

test("without ADMIN_TOKEN there are no links", async () => {
  const { secret } = await newKey(ours.organizationId, { permissions: ["members:write"] });
  expect(secret).toBeTruthy();
  const answer = await app.request(
    `https://parley.test/api/v1/members/${ours.ownerId}/sign-in-link`,
    { method: "POST", headers: { Authorization: `Bearer ${secret}` } },
    { ...env, ADMIN_TOKEN: "" },
  );
  expect(answer.status).toBe(503);
});
