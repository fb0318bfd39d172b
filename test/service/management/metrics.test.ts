import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { METRICS } from "../../../src/management/metrics-text.ts";
import { writeOpaque } from "../../../src/model/opaque.ts";
import { runAlarm } from "../../support/alarms.ts";
import { hurryDeadlines } from "../../support/deadlines.ts";
import { breakDirectory, breakObject, countHops } from "../../support/faults.ts";
import {
  admin,
  call,
  created,
  expectError,
  expectFaults,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { OPEN_METRICS, PROMETHEUS_TEXT, type Sample, samplesOf } from "../../support/metrics.ts";
import { accept, fakeNetworks, inTurn, refuse, status } from "../../support/networks.ts";
import { neverRing } from "../../support/timers.ts";
import { until } from "../../support/until.ts";
import { meter } from "../budget/meter.ts";
import { BOT_TOKEN, conversation, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { breakWebhook, newWebhook } from "../webhooks/object/fixtures.ts";
import { addWebhook } from "../webhooks/receiver.ts";

stopTheClock();
// A page waits for each organization, however long it takes.
beforeEach(() => neverRing(3_000));

const MINUTE = 60_000;
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** The metrics of an organization, of a Worker that remembers nothing. */
async function metricsOf(organizationId: string): Promise<Sample[]> {
  const samples = samplesOf(await admin("GET", "/metrics", undefined, {}));
  return samples.filter(({ labels }) => labels.organization === organizationId);
}

/** The values of a metric, by its labels without the organization and the channel. */
function valuesOf(samples: Sample[], name: keyof typeof METRICS, channel?: string): Record<string, number> {
  const own = samples.filter((sample) => sample.name === name && sample.labels.channel === channel);
  return Object.fromEntries(
    own.map(({ labels: { outcome, code }, value }) => [[outcome, code].filter(Boolean).join(" "), value]),
  );
}

const NO_REFUSALS = {
  "refused invalid_api_key": 0,
  "refused ip_not_allowed": 0,
  "refused permission_denied": 0,
  "refused rate_limited": 0,
  "refused quota_exceeded": 0,
};

test("an organization that did nothing has its metrics, in both formats", async () => {
  const { organizationId } = await newOrganization();
  const open = await admin("GET", "/metrics", undefined, {});
  expect(open.headers.get("Content-Type")).toBe(OPEN_METRICS);
  expect(open.headers.get("Cache-Control")).toBe("no-store");
  const text = await call("GET", "/admin/v1/metrics", {
    headers: { ...bearer(env.ADMIN_TOKEN), Accept: "text/plain" },
    bindings: {},
  });
  expect(text.headers.get("Content-Type")).toBe(PROMETHEUS_TEXT);
  expect(samplesOf(text)).toEqual(samplesOf(open));
  const samples = samplesOf(open).filter(({ labels }) => labels.organization === organizationId);
  expect(valuesOf(samples, "parley_organization_up")).toEqual({ "": 1 });
  expect(valuesOf(samples, "parley_webhooks")).toEqual({ "": 0 });
  expect(valuesOf(samples, "parley_requests_total")).toEqual({ accepted: 0, ...NO_REFUSALS });
  expect(valuesOf(samples, "parley_quota_used_ratio")).toEqual({});
});

test.each([
  ["application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.1", OPEN_METRICS],
  ["text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.2", PROMETHEUS_TEXT],
  ["*/*", OPEN_METRICS],
  ["application/json", OPEN_METRICS],
  ["text/*", PROMETHEUS_TEXT],
])("Accept: %s is answered with %s", async (accepted, expected) => {
  const headers = { ...bearer(env.ADMIN_TOKEN), Accept: accepted };
  expect((await call("GET", "/admin/v1/metrics", { headers })).headers.get("Content-Type")).toBe(expected);
});

test("attempts, messages that wait and chats are those of the statistics, and nothing that people wrote is in them", async () => {
  fakeNetworks(inTurn(accept, status(503)));
  const chat = await conversation("telegram");
  const { organizationId, channelId } = chat;
  await send(chat.api, chat.chatId, { content: "Very private" });
  await chat.run();
  pass(MINUTE);
  const { createdAt } = await send(chat.api, chat.chatId);
  await chat.run();
  pass(5_000);
  await chat.run();
  const samples = await metricsOf(organizationId);
  expect(valuesOf(samples, "parley_delivery_attempts_total", channelId)).toMatchObject({ sent: 1, failed: 0 });
  expect(valuesOf(samples, "parley_delivery_attempts_total", channelId).retry).toBeGreaterThan(0);
  expect(valuesOf(samples, "parley_waiting_messages", channelId)).toEqual({ "": 1 });
  const oldest = valuesOf(samples, "parley_oldest_waiting_message_timestamp_seconds", channelId);
  expect(oldest).toEqual({ "": Date.parse(createdAt) / 1_000 });
  expect(valuesOf(samples, "parley_chats", channelId)).toEqual({ "": 1 });
  expect(valuesOf(samples, "parley_new_chats_total", channelId)).toEqual({ "": 1 });
  const { text } = await admin("GET", "/metrics", undefined, {});
  for (const secret of ["Very private", chat.chatId, chat.address, chat.keyId, "Acme", "telegram"])
    expect(text).not.toContain(secret);
  const names = new Set(
    samplesOf(await admin("GET", "/metrics", undefined, {})).flatMap(({ labels }) => Object.keys(labels)),
  );
  expect([...names].sort()).toEqual(["channel", "code", "organization", "outcome"]);
});

test("a channel that its network refuses is broken until it works again", async () => {
  fakeNetworks(inTurn(refuse(401, "Unauthorized"), accept));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  const broken = async () =>
    valuesOf(await metricsOf(chat.organizationId), "parley_channel_broken", chat.channelId)[""];
  await until("the channel is broken", broken, (is) => is === 1);
  const channel = await admin("PATCH", `/channels/${chat.channelId}`, { credentials: { botToken: `${BOT_TOKEN}2` } });
  expect(channel.status, channel.text).toBe(200);
  await runAlarm(env.CHANNELS.getByName(chat.channelId));
  await chat.run();
  await until("the channel works", broken, (is) => is === 0);
});

test("a webhook that fails is counted until it works again, and one that is disabled by its reason", async () => {
  const webhook = await newWebhook();
  const { organizationId, webhookId } = webhook;
  await env.ORGANIZATIONS.getByName(organizationId).refreshWebhooks(organizationId);
  await addWebhook(organizationId);
  const states = async () => {
    const samples = await metricsOf(organizationId);
    return {
      all: valuesOf(samples, "parley_webhooks")[""],
      failing: valuesOf(samples, "parley_webhooks_failing")[""],
      disabled: valuesOf(samples, "parley_webhooks_disabled"),
    };
  };
  const none = { failing: 0, gone: 0, customer: 0, operator: 0 };
  await breakWebhook(webhook);
  pass(5_000);
  await webhook.alarm();
  expect(await states()).toEqual({ all: 2, failing: 1, disabled: none });
  expect((await admin("POST", `/webhooks/${webhookId}/disable`)).status).toBe(200);
  await webhook.alarm();
  expect(await states()).toEqual({ all: 2, failing: 0, disabled: { ...none, operator: 1 } });
  expect((await admin("POST", `/webhooks/${webhookId}/enable`)).status).toBe(200);
  pass(5_000);
  await webhook.alarm();
  expect(await states()).toEqual({ all: 2, failing: 0, disabled: none });
  expect((await admin("DELETE", `/webhooks/${webhookId}`)).status).toBe(200);
  expect(await states()).toEqual({ all: 1, failing: 0, disabled: none });
});

test("a later state of a webhook is not replaced by an earlier one that comes late", async () => {
  const { organizationId } = await newOrganization();
  const webhookId = await addWebhook(organizationId);
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  await organization.reportWebhook(organizationId, webhookId, { state: "ok", reason: null, at: 2 });
  await organization.reportWebhook(organizationId, webhookId, { state: "failing", reason: null, at: 1 });
  expect(valuesOf(await metricsOf(organizationId), "parley_webhooks_failing")).toEqual({ "": 0 });
});

test("a quota counts what was accepted since the month began, and the key nearest to its end is shown", async () => {
  const now = new Date();
  const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  vi.setSystemTime(nextMonth - 10 * MINUTE);
  const { organizationId, keyId } = await newOrganization();
  const { key: other } = await newKey(organizationId, { monthlyQuota: 1_000 });
  created({ ...(await admin("PATCH", `/keys/${keyId}`, { monthlyQuota: 10 })), status: 201 });
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  const used = async () => valuesOf(await metricsOf(organizationId), "parley_quota_used_ratio")[""];
  await organization.reportKey(organizationId, keyId, { admitted: 4, refused: {} });
  await organization.reportKey(organizationId, other.id, { admitted: 300, refused: {} });
  expect(await used()).toBe(0.4);
  vi.setSystemTime(nextMonth + 10 * MINUTE);
  expect(await used()).toBe(0);
  await organization.reportKey(organizationId, keyId, { admitted: 13, refused: {} });
  expect(await used()).toBe(0.9);
  await admin("DELETE", `/keys/${keyId}`);
  expect(await used()).toBe(0);
});

test("requests are those of all keys, and do not fall when a key is deleted", async () => {
  const { organizationId, keyId } = await newOrganization();
  const { key: other } = await newKey(organizationId);
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  const requests = async () => valuesOf(await metricsOf(organizationId), "parley_requests_total");
  await organization.reportKey(organizationId, keyId, { admitted: 4, refused: { rate_limited: 2 } });
  await organization.reportKey(organizationId, other.id, {
    admitted: 3,
    refused: { rate_limited: 1, quota_exceeded: 5 },
  });
  const all = { accepted: 7, ...NO_REFUSALS, "refused rate_limited": 3, "refused quota_exceeded": 5 };
  expect(await requests()).toEqual(all);
  for (let n = 0; n < 2; n++) {
    await organization.forgetKeys([other.id]);
    expect(await requests()).toEqual(all);
  }
  await organization.forgetKeys([keyId]);
  expect(await requests()).toEqual(all);
  expect((await organization.numbers([], [keyId, other.id])).keys).toEqual([]);
});

test("the metrics cost one round trip to D1, one call of each organization's object, and no row", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  const { organizationId } = await newOrganization();
  await send(chat.api, chat.chatId);
  await chat.run();
  const listed = (await admin("GET", "/organizations?limit=100")).body.organizations as { id: string }[];
  expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining([chat.organizationId, organizationId]));
  const objects = [
    ...listed.map(({ id }) => env.ORGANIZATIONS.getByName(id)),
    env.CHATS.getByName(chat.chatId),
    env.CHANNELS.getByName(chat.channelId),
    env.KEYS.getByName(chat.keyId),
  ];
  const { read } = await meter(objects);
  const hops = countHops();
  samplesOf(await admin("GET", "/metrics", undefined, {}));
  expect(hops()).toEqual({ DB: 1, ORGANIZATIONS: listed.length });
  expect(read()).toEqual({ calls: listed.length, rows: 0, directory: 0 });
});

test("an organization whose object is empty stays so", async () => {
  const { organizationId } = await newOrganization();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  await object.erase();
  expect(valuesOf(await metricsOf(organizationId), "parley_organization_up")).toEqual({ "": 1 });
  expect(await runInDurableObject(object, (_object, { storage }) => storage.kv.get("organization"))).toBe(undefined);
});

test("for 15 seconds the Worker remembers a page", async () => {
  await newOrganization();
  const bindings = {};
  const read = () => admin("GET", "/metrics", undefined, bindings);
  const first = samplesOf(await read());
  const hops = countHops();
  pass(14_999);
  expect(samplesOf(await read())).toEqual(first);
  expect(hops()).toEqual({});
  pass(1);
  await read();
  expect(hops().DB).toBe(1);
});

test("an organization whose object fails or hangs is reported as such, and the others have their metrics", async () => {
  const [one, two, three] = [await newOrganization(), await newOrganization(), await newOrganization()];
  hurryDeadlines("ORGANIZATIONS");
  for (const how of ["fails", "throws", "hangs"] as const) {
    breakObject("ORGANIZATIONS", two.organizationId, "metrics", how);
    const warned = vi.spyOn(console, "warn");
    const samples = samplesOf(await admin("GET", "/metrics", undefined, {}));
    const up = samples.filter(({ name }) => name === "parley_organization_up");
    const of = (id: string) => up.find(({ labels }) => labels.organization === id)?.value;
    expect([one, two, three].map(({ organizationId }) => of(organizationId))).toEqual([1, 0, 1]);
    expect(samples.filter(({ labels }) => labels.organization === two.organizationId)).toHaveLength(1);
    expect(warned.mock.calls.flat()).toEqual([
      expect.objectContaining({ event: "metrics_not_read", count: 1, organizationId: two.organizationId }),
    ]);
    vi.restoreAllMocks();
  }
});

test("without D1 the metrics are a 503", async () => {
  breakDirectory("bare");
  expectError(await admin("GET", "/metrics", undefined, {}), 503, "unavailable");
});

test("METRICS_TOKEN opens the metrics alone, and only if it is set", async () => {
  const bindings = { METRICS_TOKEN: "watch-only" };
  const get = (path: string, token: string, more: Partial<Env> = bindings) =>
    call("GET", `/admin/v1${path}`, { headers: bearer(token), bindings: more });
  samplesOf(await get("/metrics", "watch-only"));
  samplesOf(await get("/metrics", env.ADMIN_TOKEN));
  for (const [path, token, more] of [
    ["/metrics", "wrong", bindings],
    ["/metrics", "watch-only", { METRICS_TOKEN: "" }],
    ["/organizations", "watch-only", bindings],
    ["/metrics/more", "watch-only", bindings],
  ] as const)
    expectError(await get(path, token, more), 401, "invalid_api_key");
  const posted = await call("POST", "/admin/v1/metrics", { headers: bearer("watch-only"), bindings });
  expectError(posted, 401, "invalid_api_key");
});

test("a page begins behind its cursor, also if that organization was deleted", async () => {
  const organizations = [await newOrganization(), await newOrganization(), await newOrganization()];
  const ids = organizations.map(({ organizationId }) => organizationId);
  const rows = (await admin("GET", "/organizations?limit=100")).body.organizations as {
    id: string;
    createdAt: string;
  }[];
  const sorted = rows.filter(({ id }) => ids.includes(id));
  const [, middle] = sorted;
  if (!middle) throw new Error("there is no organization");
  const after = writeOpaque([Date.parse(middle.createdAt), middle.id]);
  const listed = async () => {
    const samples = samplesOf(await admin("GET", `/metrics?after=${after}`, undefined, {}));
    return samples.filter(({ name }) => name === "parley_organization_up").map(({ labels }) => labels.organization);
  };
  expect((await listed()).filter((id) => ids.includes(id ?? ""))).toEqual([sorted[2]?.id]);
  expect((await admin("DELETE", `/organizations/${middle.id}`)).status).toBe(200);
  expect((await listed()).filter((id) => ids.includes(id ?? ""))).toEqual([sorted[2]?.id]);
});

test.each([
  "org_gaaaaaaaaaaaaaaa",
  "x",
  writeOpaque([1]),
  writeOpaque(["1", "org_gaaaaaaaaaaaaaaa"]),
  writeOpaque([1.5, "org_gaaaaaaaaaaaaaaa"]),
  writeOpaque([1, "cht_gaaaaaaaaaaaaaaa"]),
])("the cursor %s is a 400", async (after) => {
  expectFaults(await admin("GET", `/metrics?after=${after}`), "after");
});

test("each metric has a name, a unit and a type as Prometheus expects them", () => {
  for (const [name, metric] of Object.entries(METRICS)) {
    expect(name).toMatch(/^parley_[a-z_]+$/);
    expect(name.endsWith("_total"), name).toBe(metric.type === "counter");
    if ("unit" in metric) expect(name.endsWith(`_${metric.unit}`)).toBe(true);
  }
});
