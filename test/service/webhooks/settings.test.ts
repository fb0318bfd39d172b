import { expect, test, vi } from "vitest";
import { eventId } from "../../../src/model/event.ts";
import { TYPE_PATTERNS } from "../../../src/model/event-filter.ts";
import { newId } from "../../../src/model/id.ts";
import { replaceMethod } from "../../support/faults.ts";
import {
  admin,
  client,
  created,
  expectError,
  expectFaults,
  newChat,
  newKey,
  newOrganization,
} from "../../support/harness.ts";
import { newConfigurer, newUrl, webhookRow } from "./configured.ts";
import { breakWebhook, insertWebhook, newWebhook, subscriptionOf } from "./object/fixtures.ts";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("a webhook with only a URL has the defaults, and its secret is shown once", async () => {
  const { api, organizationId, keyId } = await newConfigurer();
  const url = newUrl();
  const answer = await api("POST", "/webhooks", { url });
  const { webhook, secret } = created(answer);
  expect(webhook).toEqual({
    id: expect.stringMatching(/^whk_g[0-9A-Za-z]{15}$/),
    organizationId,
    url,
    description: null,
    types: null,
    channels: null,
    payload: "full",
    perSecond: 50,
    concurrency: 20,
    state: "trial",
    reason: null,
    since: TIME,
    disablesAt: null,
    pausedUntil: null,
    waitingChats: 0,
    failed: 0,
    lastSuccessAt: null,
    previousSecretExpiresAt: null,
    createdBy: keyId,
    createdAt: TIME,
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const read = await api("GET", `/webhooks/${webhook.id}`);
  expect([read.status, read.body]).toEqual([200, { webhook }]);
  const listed = await api("GET", "/webhooks");
  expect(listed.body).toEqual({ webhooks: [webhook], pagination: { limit: 20, hasMore: false, cursor: null } });
  for (const { text } of [read, listed]) expect(text).not.toContain(secret.slice(6, 20));
});

test("a webhook is returned with its settings, and in a new one null means absent", async () => {
  const { newWebhook, channelId } = await newConfigurer();
  const chosen = {
    types: ["message.*", "chat.deleted"],
    channels: [channelId],
    payload: "thin",
    perSecond: 450,
    concurrency: 1,
    description: "Order bot",
  };
  expect((await newWebhook(chosen)).webhook).toMatchObject(chosen);
  const nothing = Object.fromEntries(Object.keys(chosen).map((name) => [name, null]));
  const defaults = { types: null, channels: null, payload: "full", perSecond: 50, concurrency: 20, description: null };
  expect((await newWebhook(nothing)).webhook).toMatchObject(defaults);
});

test("a webhook can have every type and family of types", async () => {
  const { newWebhook } = await newConfigurer();
  expect((await newWebhook({ types: TYPE_PATTERNS })).webhook.types).toEqual(TYPE_PATTERNS);
});

const FAULTS: [object, ...string[]][] = [
  [{ url: "http://receiver.test/" }, "url"],
  [{ url: "https://receiver.test:8443/" }, "url"],
  [{ url: "https://169.254.169.254/latest/meta-data/" }, "url"],
  [{ url: "https://parley.test/api/v1/chats" }, "url"],
  [{ url: "http://localhost:3000/" }, "url"],
  [{ url: `https://receiver.test/${"x".repeat(2_048)}` }, "url"],
  [{ url: `https://receiver.test/${"ü".repeat(2_000)}` }, "url"],
  [{ url: 7 }, "url"],
  [{ types: ["message.unknown"] }, "types.0"],
  [{ types: ["message.created", "everything.*"] }, "types.1"],
  [{ types: ["ping"] }, "types.0"],
  [{ types: [] }, "types"],
  [{ types: "message.*" }, "types"],
  [{ channels: ["chn_gaaaaaaaaaaaaaaa"] }, "channels.0"],
  [{ channels: ["web"] }, "channels.0"],
  [{ channels: [""] }, "channels.0"],
  [{ channels: [] }, "channels"],
  [{ payload: "fat" }, "payload"],
  [{ perSecond: 0 }, "perSecond"],
  [{ perSecond: 501 }, "perSecond"],
  [{ perSecond: 1.5 }, "perSecond"],
  [{ concurrency: 0 }, "concurrency"],
  [{ concurrency: 201 }, "concurrency"],
  [{ description: " " }, "description"],
  [{ description: "x".repeat(1_001) }, "description"],
  [{ perSecond: 0, types: ["x"] }, "types.0", "perSecond"],
];

test.each(FAULTS)("%j is a 400 for a new webhook and for a PATCH, and names the field", async (body, ...paths) => {
  const { api, newWebhook } = await newConfigurer();
  expectFaults(await api("POST", "/webhooks", { url: newUrl(), ...body }), ...paths);
  const { webhook } = await newWebhook();
  const before = await webhookRow(webhook.id);
  expectFaults(await api("PATCH", `/webhooks/${webhook.id}`, body), ...paths);
  expect(await webhookRow(webhook.id)).toEqual(before);
  expect((await api("GET", "/webhooks")).body.webhooks).toEqual([webhook]);
});

test("a webhook needs a URL, and the fault of a URL says what is wrong", async () => {
  const { api } = await newConfigurer();
  for (const url of [undefined, null, " "]) {
    expectError(await api("POST", "/webhooks", { url }), 400, "missing_field", "url is required");
  }
  const { body } = await api("POST", "/webhooks", { url: "https://user@receiver.test/" });
  expect(body.errors).toEqual([{ path: "url", message: "must not contain a user name or a password" }]);
});

test("local URLs are allowed if the configuration says so", async () => {
  const { organizationId } = await newOrganization();
  const create = (url: string, allow: string) =>
    admin("POST", `/organizations/${organizationId}/webhooks`, { url }, { WEBHOOKS_ALLOW_LOCAL: allow });
  expect(created(await create("http://localhost:3000/hook", "true")).webhook.url).toBe("http://localhost:3000/hook");
  expectFaults(await create("http://localhost:3001/hook", "false"), "url");
  expectError(await create("http://localhost:3001/hook", "maybe"), 503, "unavailable");
});

test("an eleventh webhook is a 409, also of eleven at the same time", async () => {
  const { api } = await newConfigurer();
  const answers = await Promise.all(Array.from({ length: 11 }, () => api("POST", "/webhooks", { url: newUrl() })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(1);
  for (const answer of answers) if (answer.status === 409) expectError(answer, 409, "webhook_limit");
  const { webhooks } = (await api("GET", "/webhooks")).body;
  expect(webhooks).toHaveLength(10);
  await api("DELETE", `/webhooks/${webhooks[3].id}`);
  created(await api("POST", "/webhooks", { url: newUrl() }));
});

test("a URL that another webhook has is a 409 that names it, in whatever form it is written", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook({ url: "https://shop.test/a" });
  const { webhook: second } = await newWebhook();
  for (const url of ["https://shop.test/a", "HTTPS://shop.TEST:443/b/../a"]) {
    expectError(await api("POST", "/webhooks", { url }), 409, "webhook_exists", webhook.id);
    expectError(await api("PATCH", `/webhooks/${second.id}`, { url }), 409, "webhook_exists", webhook.id);
    expect((await api("PATCH", `/webhooks/${webhook.id}`, { url })).status).toBe(200);
  }
  const other = await newConfigurer();
  created(await other.api("POST", "/webhooks", { url: "https://shop.test/a" }));
});

test("of two concurrent requests with one URL, one creates the webhook", async () => {
  const { api } = await newConfigurer();
  const url = newUrl();
  const answers = await Promise.all([1, 2, 3].map(() => api("POST", "/webhooks", { url })));
  expect(answers.map(({ status }) => String(status)).sort()).toEqual(["201", "409", "409"]);
});

test("a webhook that is deleted while it is listed takes no other off the list", async () => {
  const { organizationId } = await newOrganization();
  const ids: string[] = [];
  while (ids.length < 3) ids.push(await insertWebhook(organizationId));
  const [gone, ...others] = ids;
  replaceMethod("WEBHOOKS", "describe", (original) => async (id) => (id === gone ? null : original(id)));
  const { body } = await admin("GET", `/organizations/${organizationId}/webhooks`);
  vi.restoreAllMocks();
  expect(body.webhooks.map(({ id }: { id: string }) => id).toSorted()).toEqual(others.toSorted());
});

test("webhooks are listed oldest first, page by page", async () => {
  const { api, newWebhook } = await newConfigurer();
  const ids: string[] = [];
  for (let made = 0; made < 5; made++) ids.push((await newWebhook()).webhook.id);
  const seen: string[][] = [];
  for (let query = "?limit=2"; query !== ""; ) {
    const { webhooks, pagination } = (await api("GET", `/webhooks${query}`)).body;
    seen.push(webhooks.map(({ id }: { id: string }) => id));
    expect([pagination.limit, pagination.hasMore]).toEqual([2, pagination.cursor !== null]);
    query = pagination.hasMore ? `?limit=2&after=${pagination.cursor}` : "";
  }
  expect(seen.map((page) => page.length)).toEqual([2, 2, 1]);
  expect(seen.flat().sort()).toEqual(ids.sort());
});

test("a list of webhooks goes on behind a webhook that was deleted", async () => {
  const { api, newWebhook } = await newConfigurer();
  for (let made = 0; made < 3; made++) await newWebhook();
  const all = (await api("GET", "/webhooks")).body.webhooks.map(({ id }: { id: string }) => id);
  const { cursor } = (await api("GET", "/webhooks?limit=1")).body.pagination;
  expect((await api("DELETE", `/webhooks/${all[0]}`)).status).toBe(200);
  const { body } = await api("GET", `/webhooks?limit=5&after=${cursor}`);
  expect(body).toMatchObject({ webhooks: [{ id: all[1] }, { id: all[2] }], pagination: { cursor: null } });
  const other = await newConfigurer();
  expectFaults(await other.api("GET", `/webhooks?after=${cursor}`), "after");
});

test.each([
  ["after=whk_gaaaaaaaaaaaaaaa", "after"],
  ["after=", "after"],
  ["limit=0", "limit"],
  ["limit=101", "limit"],
  ["page=1", "page"],
  ["before=x", "before"],
])("a list of webhooks with ?%s is a 400", async (query, path) => {
  const { api } = await newConfigurer();
  expectFaults(await api("GET", `/webhooks?${query}`), path);
});

test("a PATCH changes what it has, null restores a default, and the version grows only with a change", async () => {
  const { api, newWebhook, channelId } = await newConfigurer();
  const { webhook } = await newWebhook({ types: ["message.*"], description: "First" });
  const patch = async (body: object) => {
    const answer = await api("PATCH", `/webhooks/${webhook.id}`, body);
    expect(answer.status, answer.text).toBe(200);
    return { ...answer.body.webhook, version: (await webhookRow(webhook.id))?.version };
  };
  expect(await patch({})).toEqual({ ...webhook, version: 1 });
  expect(await patch({ types: ["message.*"], unknown: 1 })).toEqual({ ...webhook, version: 1 });
  const changed = { types: ["chat.*"], channels: [channelId], perSecond: 7, concurrency: 3, payload: "thin" };
  expect(await patch(changed)).toEqual({ ...webhook, ...changed, version: 2 });
  expect(await patch({ perSecond: null, types: null, channels: null, concurrency: null, payload: null })).toEqual({
    ...webhook,
    types: null,
    version: 3,
  });
  expect(await patch({ description: null })).toEqual({ ...webhook, types: null, description: null, version: 4 });
});

test("two concurrent changes of one webhook are both stored", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  const patches = [{ perSecond: 7 }, { concurrency: 3 }, { description: "New" }, { payload: "thin" }];
  const answers = await Promise.all(patches.map((body) => api("PATCH", `/webhooks/${webhook.id}`, body)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await api("GET", `/webhooks/${webhook.id}`)).body.webhook).toMatchObject(Object.assign({}, ...patches));
});

test("with a new URL a failing webhook is in the state trial, and a disabled one stays disabled", async () => {
  const webhook = await newWebhook();
  const stateAfter = async (body: object) =>
    (await admin("PATCH", `/webhooks/${webhook.webhookId}`, body)).body.webhook.state as string;
  await breakWebhook(webhook);
  expect(await stateAfter({ perSecond: 7 })).toBe("failing");
  expect(await stateAfter({ url: "https://customer.test/hook" })).toBe("failing");
  expect(await stateAfter({ url: newUrl() })).toBe("trial");
  await admin("POST", `/webhooks/${webhook.webhookId}/disable`);
  expect(await stateAfter({ url: newUrl() })).toBe("disabled");
});

test("disabling and enabling again change nothing more, and name who disabled", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  const path = `/webhooks/${webhook.id}`;
  for (const _ of [1, 2]) {
    expect((await api("POST", `${path}/disable`)).body.webhook).toMatchObject({
      state: "disabled",
      reason: "customer",
    });
  }
  for (const body of [undefined, { from: "now" }, { from: null }]) {
    expect((await api("POST", `${path}/enable`, body)).body.webhook).toMatchObject({ state: "trial", reason: null });
  }
  const byOperator = await admin("POST", `${path}/disable`);
  expect(byOperator.body.webhook).toMatchObject({ state: "disabled", reason: "operator" });
  expectFaults(await api("POST", `${path}/enable`, { from: "yesterday" }), "from");
});

test("a replay names its events in one way, and a disabled webhook has none", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  const path = `/webhooks/${webhook.id}/replays`;
  const since = "2026-11-20T10:00:00Z";
  for (const body of [{}, { failed: true, since }, { eventId: "evt_x", failed: true }]) {
    expectFaults(await api("POST", path, body), "");
  }
  expectFaults(await api("POST", path, { failed: false }), "failed");
  expectFaults(await api("POST", path, { since: "yesterday" }), "since");
  expectFaults(await api("POST", path, { failed: true, until: since }), "until");
  expectFaults(await api("POST", path, { since, until: "2026-11-20T09:00:00Z" }), "until");
  expectError(await api("GET", `${path}/${newId("rpl", null)}`), 404, "replay_not_found");
  expectError(await api("GET", `${path}/none`), 404, "replay_not_found");
  await api("POST", `/webhooks/${webhook.id}/disable`);
  expectError(await api("POST", path, { failed: true }), 409, "webhook_disabled");
});

test("a replay of an unknown event, or of another organization's, is a 404", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  const theirs = await newOrganization();
  const chat = await newChat(theirs.api, theirs.channelId);
  for (const each of [
    "evt_x",
    "none",
    ...[newId("cht", null), chat.id, theirs.organizationId].map((id) => eventId(id, "00000001", 1)),
  ]) {
    expectError(await api("POST", `/webhooks/${webhook.id}/replays`, { eventId: each }), 404, "event_not_found");
  }
});

test("a new webhook has no attempts, and a list of attempts refuses wrong filters", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  const path = `/webhooks/${webhook.id}/attempts`;
  const answer = await api("GET", `${path}?outcome=retry&chat=cht_gaaaaaaaaaaaaaaa&limit=5`);
  expect(answer.body).toEqual({ attempts: [], pagination: { limit: 5, hasMore: false, cursor: null } });
  expectFaults(await api("GET", `${path}?outcome=lost`), "outcome");
  expectFaults(await api("GET", `${path}?before=x`), "before");
  expectFaults(await api("GET", `${path}?chat=`), "chat");
  expectFaults(await api("GET", `${path}?page=1`), "page");
});

test("a refusal names the permission that a read of webhooks needs, and the two of a write", async () => {
  const { organizationId } = await newConfigurer();
  const { secret } = await newKey(organizationId);
  expectError(await client(secret)("GET", "/webhooks"), 403, "permission_denied", /the permission webhooks:read\. /);
  const refused = await client(secret)("POST", "/webhooks", { url: newUrl() });
  expectError(refused, 403, "permission_denied", /webhooks:write and events:read\. /);
});

test("attempts are listed newest first, page by page, and can be filtered", async () => {
  const webhook = await newWebhook();
  const object = webhook.object();
  await webhook.attempt(1, 200);
  for (const subscription of [2, 3, 4]) await webhook.attempt(subscription, subscription === 3 ? 503 : 200);
  const all = (await admin("GET", `/webhooks/${webhook.webhookId}/attempts`)).body.attempts;
  expect(all.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["accepted", "retry", "accepted", "accepted"]);
  expect(Object.keys(all[0])).not.toContain("permit");
  const pages: unknown[][] = [];
  for (let query = "?limit=3"; query !== ""; ) {
    const { attempts, pagination } = (await admin("GET", `/webhooks/${webhook.webhookId}/attempts${query}`)).body;
    pages.push(attempts);
    query = pagination.cursor === null ? "" : `?limit=3&before=${pagination.cursor}`;
  }
  expect(pages.map((page) => page.length)).toEqual([3, 1]);
  expect(pages.flat()).toEqual(all);
  const failed = await admin("GET", `/webhooks/${webhook.webhookId}/attempts?outcome=retry&chat=${subscriptionOf(3)}`);
  expect(failed.body.attempts).toEqual([all[1]]);
  expect(await object.attempts({}, { before: "1", limit: 5 })).toEqual({ attempts: [], cursor: null });
});
