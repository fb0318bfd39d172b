import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { breakObjects } from "../../support/faults.ts";
import { admin, created, expectError, newOrganization, seen } from "../../support/harness.ts";
import { heldBy, NOTHING } from "../../support/stored.ts";
import { newConfigurer, newUrl, webhookRow } from "./configured.ts";

const EVENT = "evt_gaaaaaaaaaaaaaaa000000001";

/** Each request to one webhook. */
const REQUESTS: [string, string, object?][] = [
  ["GET", ""],
  ["PATCH", "", { perSecond: 1 }],
  ["PATCH", "", { url: "https://stolen.test/" }],
  ["DELETE", ""],
  ["POST", "/rotate"],
  ["POST", "/ping"],
  ["POST", "/enable"],
  ["POST", "/disable"],
  ["GET", "/attempts"],
  ["GET", "/chats/cht_gaaaaaaaaaaaaaaa"],
  ["POST", "/chats/cht_gaaaaaaaaaaaaaaa/skip", { eventId: EVENT }],
  ["POST", "/replays", { eventId: EVENT }],
  ["GET", "/replays/rpl_gaaaaaaaaaaaaaaa"],
];

test.each(REQUESTS)(
  "%s /webhooks/{id}%s with another organization's id is a 404, as with an unknown one",
  async (...request) => {
    const [method, path, body] = request;
    const { api } = await newConfigurer();
    const theirs = await newConfigurer();
    const { webhook } = await theirs.newWebhook();
    const before = [await webhookRow(webhook.id), await heldBy(env.WEBHOOKS.getByName(webhook.id))];
    const foreign = await api(method, `/webhooks/${webhook.id}${path}`, body);
    expectError(foreign, 404, "webhook_not_found");
    expect(seen(foreign)).toEqual(seen(await api(method, `/webhooks/${newId("whk", null)}${path}`, body)));
    expect(seen(foreign)).toEqual(seen(await api(method, `/webhooks/none${path}`, body)));
    expect([await webhookRow(webhook.id), await heldBy(env.WEBHOOKS.getByName(webhook.id))]).toEqual(before);
  },
);

test("a filter of 100 channels is checked like a filter of one", async () => {
  const { api, channelId } = await newConfigurer();
  const unknown = Array.from({ length: 99 }, () => newId("chn", null));
  const answer = await api("POST", "/webhooks", { url: newUrl(), channels: [channelId, ...unknown] });
  expectError(answer, 400, "validation_failed");
  expect(answer.body.errors).toMatchObject([{ path: "channels.1" }]);
});

test("a filter of another organization's channel is a 400, as with an unknown one", async () => {
  const { api } = await newConfigurer();
  const { channelId } = await newOrganization();
  const create = (id: string) => api("POST", "/webhooks", { url: newUrl(), channels: [id] });
  const [foreign, unknown] = [await create(channelId), await create(newId("chn", null))];
  expect(seen(foreign)).toEqual(seen(unknown));
});

test("the operator has the same webhooks as the organization, and creates them as operator", async () => {
  const { api, organizationId, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  const listed = await admin("GET", `/organizations/${organizationId}/webhooks`);
  expect(listed.body).toEqual((await api("GET", "/webhooks")).body);
  expect((await admin("GET", `/webhooks/${webhook.id}`)).body).toEqual({ webhook });
  const own = created(await admin("POST", `/organizations/${organizationId}/webhooks`, { url: newUrl() }));
  expect([own.webhook.createdBy, own.webhook.organizationId]).toEqual(["operator", organizationId]);
  expect((await api("GET", `/webhooks/${own.webhook.id}`)).body).toEqual({ webhook: own.webhook });
});

test("a deleted webhook is returned, and then it is gone, with its row and its object's data", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  await api("POST", `/webhooks/${webhook.id}/disable`);
  const deleted = await api("DELETE", `/webhooks/${webhook.id}`);
  expect([deleted.status, deleted.body.webhook.id]).toEqual([200, webhook.id]);
  expectError(await api("DELETE", `/webhooks/${webhook.id}`), 404, "webhook_not_found");
  expect(await webhookRow(webhook.id)).toBeNull();
  expect(await heldBy(env.WEBHOOKS.getByName(webhook.id))).toEqual(NOTHING);
});

test.each([
  ["ORGANIZATIONS", "refreshWebhooks"],
  ["WEBHOOKS", "erase"],
] as const)(
  "a deletion that fails at %s %s can be repeated, and meanwhile nothing can be changed",
  async (namespace, method) => {
    const { api, newWebhook } = await newConfigurer();
    const { webhook } = await newWebhook();
    const path = `/webhooks/${webhook.id}`;
    const repair = breakObjects(namespace, method);
    expectError(await api("DELETE", path), 503, "unavailable");
    repair();
    expect((await api("GET", path)).status).toBe(200);
    for (const [method, more, body] of REQUESTS.filter(([method]) => method === "PATCH" || method === "POST")) {
      expectError(await api(method, `${path}${more}`, body), 404, "webhook_not_found");
    }
    expect((await api("DELETE", path)).status).toBe(200);
    expect(await webhookRow(webhook.id)).toBeNull();
  },
);

test("a webhook whose creation did not reach the organization's object can be created again", async () => {
  const { api } = await newConfigurer();
  const url = newUrl();
  const repair = breakObjects("ORGANIZATIONS", "refreshWebhooks");
  expectError(await api("POST", "/webhooks", { url }), 503, "unavailable");
  repair();
  expect((await api("GET", "/webhooks")).body.webhooks).toEqual([]);
  created(await api("POST", "/webhooks", { url }));
});

test("a change that did not reach an object is a 503 and can be repeated", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  for (const [namespace, method] of [
    ["ORGANIZATIONS", "refreshWebhooks"],
    ["WEBHOOKS", "refresh"],
  ] as const) {
    const repair = breakObjects(namespace, method);
    expectError(await api("PATCH", `/webhooks/${webhook.id}`, { perSecond: 9 }), 503, "unavailable");
    repair();
    const answer = await api("PATCH", `/webhooks/${webhook.id}`, { perSecond: 9 });
    expect([answer.status, answer.body.webhook.perSecond]).toEqual([200, 9]);
  }
  expect((await webhookRow(webhook.id))?.version).toBe(2);
});

test("a rotation succeeds even if the webhook's object does not answer the news of it", async () => {
  const { api, newWebhook } = await newConfigurer();
  const { webhook } = await newWebhook();
  breakObjects("WEBHOOKS", "refresh");
  created(await api("POST", `/webhooks/${webhook.id}/rotate`));
});

test("an organization's deletion deletes its webhooks", async () => {
  const { organizationId, newWebhook, api } = await newConfigurer();
  const { webhook } = await newWebhook();
  await api("POST", `/webhooks/${webhook.id}/disable`);
  breakObjects("WEBHOOKS", "erase");
  expectError(await admin("DELETE", `/organizations/${organizationId}`), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await webhookRow(webhook.id))?.erasing_at).toEqual(expect.any(Number));
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
  expect(await webhookRow(webhook.id)).toBeNull();
  expect(await heldBy(env.WEBHOOKS.getByName(webhook.id))).toEqual(NOTHING);
});
