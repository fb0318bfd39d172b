import { expect, test } from "vitest";
import { EVENT_TYPES } from "../../../src/model/event.ts";
import { sampleEvent } from "../../../src/webhooks/object/samples.ts";
import { faultsOfSchema } from "../../support/documents.ts";
import { client, newChat, newKey, newOrganization } from "../../support/harness.ts";

const OWNER = { organizationId: "org_gB71nqYx0sKd5JtV", webhookId: "whk_gN5cVr82KpZx0TdQ" };

test.each(EVENT_TYPES)("the document describes a webhook's call with %s, full and thin", (type) => {
  const full = sampleEvent(OWNER, type, "full", Date.now());
  const thin = sampleEvent(OWNER, type, "thin", Date.now());
  expect(faultsOfSchema("WebhookEvent", full)).toEqual([]);
  expect(faultsOfSchema("ThinWebhookEvent", thin)).toEqual([]);
  expect(faultsOfSchema("ThinWebhookEvent", full)).not.toEqual([]);
  expect(faultsOfSchema("WebhookEvent", { ...full, data: { ...full.data, more: 1 } })).not.toEqual([]);
});

test("the document describes each line of an export and each event of a stream", async () => {
  const { organizationId, channelId } = await newOrganization();
  const { secret } = await newKey(organizationId, {
    permissions: [
      ...["chats:write", "messages:send", "messages:read", "events:read", "data:export"],
      ...["templates:write", "replies:write", "labels:write"],
    ],
  });
  const api = client(secret);
  const { id } = await newChat(api, channelId);
  await api("POST", "/templates", { name: "hello", language: "en", body: "Hello {{name}}" });
  await api("POST", "/replies", { name: "Bye", content: "Bye" });
  await api("POST", "/labels", { name: "Refund" });
  await api("POST", `/chats/${id}/messages`, { content: "Hello" });
  await api("POST", `/chats/${id}/messages`, {
    content: "Later",
    scheduledAt: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const lines = (await api("GET", "/export")).text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  const types = new Set(lines.map(({ type }) => type));
  expect([...types].sort()).toEqual([
    "channel",
    "chat",
    "checkpoint",
    "end",
    "label",
    "member",
    "message",
    "reply",
    "scheduled",
    "template",
  ]);
  for (const line of lines) expect(faultsOfSchema("ExportLine", line), JSON.stringify(line)).toEqual([]);
  const channel = lines.find(({ type }) => type === "channel");
  expect(faultsOfSchema("ExportLine", { ...channel, health: {} })).not.toEqual([]);
  const { events } = (await api("GET", `/chats/${id}/events`)).body as { events: { cursor: string }[] };
  expect(events.length).toBeGreaterThan(2);
  for (const { cursor: _, ...event } of events) expect(faultsOfSchema("Event", event)).toEqual([]);
});
