import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { app } from "../../../src/app.ts";
import { type IdPrefix, newId } from "../../../src/model/id.ts";
import { admin, client, created, expectError, expectFaults, newKey, newTemplate, seen } from "../../support/harness.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";
import { type Manager, newManager } from "./manager.ts";

/** Each route with an id, and the body that it needs. */
const ROUTES: [string, string, IdPrefix, object?][] = [
  ["GET", "/keys/:id", "key"],
  ["PATCH", "/keys/:id", "key", { name: "Mine" }],
  ["DELETE", "/keys/:id", "key"],
  ["POST", "/keys/:id/rotate", "key"],
  ["GET", "/keys/:id/usage", "key"],
  ["GET", "/channels/:id", "chn"],
  ["PATCH", "/channels/:id", "chn", { name: "Mine" }],
  ["DELETE", "/channels/:id", "chn"],
  ["POST", "/channels/:id/webhook", "chn"],
  ["POST", "/channels/:id/check", "chn"],
  ["POST", "/channels/:id/identity-secret", "chn"],
  ["POST", "/channels/:id/templates/sync", "chn"],
  ["GET", "/templates/:id", "tpl"],
  ["PATCH", "/templates/:id", "tpl", { name: "mine" }],
  ["DELETE", "/templates/:id", "tpl"],
  ["PATCH", "/replies/:id", "rpl", { name: "Mine" }],
  ["DELETE", "/replies/:id", "rpl"],
  ["PATCH", "/members/:id", "mbr", { name: "Eve" }],
  ["POST", "/members/:id/sign-in-link", "mbr"],
  ["DELETE", "/members/:id/sessions", "mbr"],
  ["DELETE", "/members/:id", "mbr"],
];

async function idsOf({
  organizationId,
  channelId,
  ownerId,
  keyId,
}: Manager): Promise<Partial<Record<IdPrefix, string>>> {
  const { reply } = created(
    await admin("POST", `/organizations/${organizationId}/replies`, { name: "r", content: "Hi" }),
  );
  return { key: keyId, chn: channelId, tpl: await newTemplate(organizationId, "Hi"), rpl: reply.id, mbr: ownerId };
}

async function directory() {
  const tables = ["organizations", "members", "channels", "templates", "replies", "api_keys"];
  return (await env.DB.batch(tables.map((table) => env.DB.prepare(`select * from ${table}`)))).map(
    (row) => row.results,
  );
}

test("each management route with an id is in the list", () => {
  const routes = app.routes
    .filter(
      ({ method, path }) => method !== "ALL" && /^\/api\/v1\/(keys|channels|templates|replies|members)\/:/.test(path),
    )
    .map(({ method, path }) => `${method} ${path.slice("/api/v1".length)}`);
  expect([...new Set(routes)].sort()).toEqual(ROUTES.map(([method, path]) => `${method} ${path}`).sort());
});

test.each(ROUTES)(
  "%s %s: another organization's id gets the same response as an unknown id, and changes nothing",
  async (method, path, prefix, body) => {
    const [ours, theirs] = [await newManager(), await newManager()];
    const ids = await idsOf(theirs);
    // Not the last one of its organization, which has an error of its own.
    await newKey(theirs.organizationId, { permissions: ["keys:write"] });
    await admin("POST", `/organizations/${theirs.organizationId}/members`, { name: "Bea" });
    const before = await directory();
    const foreign = await ours.api(method, path.replace(":id", ids[prefix] ?? ""), body);
    const unknown = await ours.api(method, path.replace(":id", newId(prefix, null)), body);
    expect(foreign.status).toBe(404);
    expect(seen(foreign)).toEqual(seen(unknown));
    expect(await directory()).toEqual(before);
    // With the operator's token, the same request finds it.
    expect((await admin(method, path.replace(":id", ids[prefix] ?? ""), body)).status).not.toBe(404);
  },
);

test("the lists have only what belongs to the organization, and the operator sees the same", async () => {
  const [ours, theirs] = [await newManager(), await newManager()];
  for (const each of [ours, theirs]) await newTemplate(each.organizationId, "Hi");
  for (const list of ["keys", "channels", "templates", "members"]) {
    const own = await ours.api("GET", `/${list}`);
    expect(own.status).toBe(200);
    expect(own.body[list].length).toBeGreaterThan(0);
    for (const row of own.body[list]) expect(row.organizationId).toBe(ours.organizationId);
    expect(own.body).toEqual((await admin("GET", `/organizations/${ours.organizationId}/${list}`)).body);
  }
  const stats = await ours.api("GET", "/stats");
  expect(stats.body.channels.map((each: { id: string }) => each.id)).toEqual([ours.channelId]);
  expectError(await ours.api("GET", `/stats?organization=${theirs.organizationId}`), 400, "validation_failed");
});

test("a key reads its organization and changes its settings, but not what the operator decides", async () => {
  const { organizationId, api } = await newManager({}, { maxKeys: 3 });
  const bare = client((await newKey(organizationId, { permissions: [] })).secret);
  const { organization } = (await bare("GET", "/organization")).body;
  expect(organization).toEqual((await admin("GET", `/organizations/${organizationId}`)).body.organization);
  expect(organization.selfService).toEqual({ maxKeys: 3, maxPerSecond: null, monthlyQuota: null });
  for (const method of ["DELETE", "POST", "PUT"]) {
    expectError(await api(method, "/organization", { selfService: {} }), 405, "method_not_allowed");
  }
  expectError(await bare("PATCH", "/organization", { assignOnAnswer: true }), 403, "permission_denied");
  expectFaults(await api("PATCH", "/organization", { assignOnAnswer: "yes" }), "assignOnAnswer");
  const other = await newManager();
  const beyond = { assignOnAnswer: true, name: "Mine", limits: { chats: 1 }, selfService: null };
  const changed = await api("PATCH", "/organization", beyond);
  const after = { organization: { ...organization, assignOnAnswer: true } };
  const warnings = ["name", "limits", "selfService"].map((name) => `${name} is not a field`);
  expect([changed.status, changed.body]).toEqual([200, { ...after, warnings }]);
  expect((await bare("GET", "/organization")).body.organization).toEqual(changed.body.organization);
  expect((await other.api("GET", "/organization")).body.organization.assignOnAnswer).toBe(false);
  expect((await api("PATCH", "/organization", {})).body).toEqual(after);
  const path = `/organizations/${organizationId}`;
  expect((await admin("PATCH", path, { assignOnAnswer: null })).body.organization).toEqual(organization);
});

test("a key creates, changes and deletes templates, members and channels of its organization", async () => {
  const { organizationId, api } = await newManager();
  const { template } = created(await api("POST", "/templates", { name: "hi", language: "en", body: "Hi {{name}}" }));
  expect(template.organizationId).toBe(organizationId);
  expect((await api("PATCH", `/templates/${template.id}`, { body: "Bye" })).body.template.body).toBe("Bye");
  expect((await api("DELETE", `/templates/${template.id}`)).status).toBe(200);
  const { member } = created(await api("POST", "/members", { name: "Bea" }));
  expect((await api("DELETE", `/members/${member.id}`)).body.member).toEqual(member);
  const web = created(await api("POST", "/channels", { kind: "web", name: "Site" }));
  expect(web.channel.organizationId).toBe(organizationId);
  expect((await api("PATCH", `/channels/${web.channel.id}`, { name: "Shop" })).body.channel.name).toBe("Shop");
  const rotated = created(await api("POST", `/channels/${web.channel.id}/identity-secret`));
  expect(rotated.identitySecret).not.toBe(web.identitySecret);
  expect((await api("DELETE", `/channels/${web.channel.id}`)).status).toBe(200);
  expectError(await api("GET", `/channels/${web.channel.id}`), 404, "channel_not_found");
});

test("only a key that can read and send messages gets the identity secret of a new channel", async () => {
  const all = ["channels:write", "messages:read", "messages:send"];
  for (const lacked of [...all.slice(1), null]) {
    const { api } = await newManager({ permissions: all.filter((permission) => permission !== lacked) });
    const made = created(await api("POST", "/channels", { kind: "web", name: "Site" }));
    expect(Object.keys(made)).toEqual(lacked ? ["channel"] : ["channel", "identitySecret"]);
  }
});

test("only the operator sets the limits of a channel, and a key can't remove them", async () => {
  const { api, channelId } = await newManager();
  await admin("PATCH", `/channels/${channelId}`, { limits: { chats: 5 } });
  for (const limits of [{ chats: 9 }, { chats: null }, {}, null]) {
    expectError(await api("PATCH", `/channels/${channelId}`, { limits }), 403, "permission_denied", /operator/);
  }
  const body = { kind: "web", name: "Site", limits: { chats: 9 } };
  expectError(await api("POST", "/channels", body), 403, "permission_denied", /operator/);
  expect((await api("GET", `/channels/${channelId}`)).body.channel.limits).toEqual({ chats: 5, origins: 20 });
});

test("only a key with channels:write sees a verify token", async () => {
  const { organizationId, api } = await newManager();
  const { channel } = created(
    await api("POST", "/channels", {
      kind: "telegram",
      name: "Bot",
      credentials: { botToken: CREDENTIALS.telegram.botToken },
    }),
  );
  expect(channel.webhook.verifyToken).toHaveLength(32);
  const reader = client((await newKey(organizationId, { permissions: ["channels:read"] })).secret);
  const read = (await reader("GET", `/channels/${channel.id}`)).body.channel;
  expect(read).toEqual({ ...channel, webhook: { ...channel.webhook, verifyToken: null } });
  const listed = (await reader("GET", "/channels")).body.channels;
  expect(listed.map((each: { webhook?: object }) => each.webhook)).toEqual([undefined, read.webhook]);
});
