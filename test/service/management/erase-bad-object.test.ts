import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { breakObject } from "../../support/faults.ts";
import { admin, expectError } from "../../support/harness.ts";
import { expectAllErased, fullOrganization } from "./erase-fixtures.ts";

/** The ids of an organization's rows in a table of the directory. */
async function rowsIn(table: string, organizationId: string): Promise<string[]> {
  const query = `select id from ${table} where organization_id = ? order by id`;
  const { results } = await env.DB.prepare(query).bind(organizationId).all<{ id: string }>();
  return results.map(({ id }) => id);
}

test.each([
  ["a key", "KEYS", "fails"],
  ["a channel", "CHANNELS", "fails"],
  ["a chat", "CHATS", "throws"],
  ["a webhook", "WEBHOOKS", "fails"],
] as const)(
  "one object of %s that always fails holds up the erasure of no other object, and the request can be repeated",
  async (_name, namespace, how) => {
    const full = await fullOrganization();
    const { organizationId } = full;
    const body = { url: "https://example.com/hook" };
    const { webhook } = (await admin("POST", `/organizations/${organizationId}/webhooks`, body)).body;
    const { 0: badChat = "" } = full.chatIds;
    const bad = { KEYS: full.keyId, CHANNELS: full.channelId, CHATS: badChat, WEBHOOKS: webhook.id }[namespace];
    breakObject(namespace, bad, "erase", how);
    const lines = vi.spyOn(console, "warn");
    for (const _ of [1, 2]) {
      const answer = await admin("DELETE", `/organizations/${organizationId}`);
      expectError(answer, how === "fails" ? 503 : 500, how === "fails" ? "unavailable" : "internal_error");
    }
    const logged = lines.mock.calls.map(([line]) => line?.id);
    if (namespace !== "CHATS") expect(logged).toEqual([bad, bad]);
    const left = { api_keys: "KEYS", channels: "CHANNELS", webhooks: "WEBHOOKS" };
    for (const [table, each] of Object.entries(left)) {
      expect(await rowsIn(table, organizationId), table).toEqual(each === namespace ? [bad] : []);
    }
    vi.restoreAllMocks();
    expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
    await expectAllErased(full);
  },
);
