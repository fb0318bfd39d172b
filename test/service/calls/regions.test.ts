import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { NAMESPACES } from "../../support/faults.ts";
import { admin, call, created, newChat, newKey, newOrganization, send } from "../../support/harness.ts";

interface Named {
  getByName(id: string, options?: DurableObjectNamespaceGetDurableObjectOptions): object;
}

/** The hint of the first call to each object from here on, by its id. */
function firstHints(): Map<string, string | undefined> {
  const hints = new Map<string, string | undefined>();
  for (const name of NAMESPACES) {
    const namespace: Named = env[name];
    const original = namespace.getByName.bind(namespace);
    vi.spyOn(namespace, "getByName").mockImplementation((id, options) => {
      if (!hints.has(id)) hints.set(id, options?.locationHint);
      return original(id, options);
    });
  }
  return hints;
}

test("the objects of an organization are created in its region, whoever calls them first", async () => {
  const hints = firstHints();
  const { organizationId, channelId, api } = await newOrganization({ region: "apac" });
  const webhooks = `/organizations/${organizationId}/webhooks`;
  const { webhook } = created(await admin("POST", webhooks, { url: "https://receiver.test/hook" }));
  await admin("GET", `/channels/${channelId}`);
  const chat = await newChat(api, channelId);
  await send(api, chat.id);
  const ids = [organizationId, channelId, webhook.id, chat.id];
  expect(ids.map((id) => hints.get(id))).toEqual(["apac", "apac", "apac", "apac"]);
});

test("an organization's search index is created in its region, even by a search before the first message", async () => {
  const { organizationId, channelId, api } = await newOrganization({ region: "apac", search: { on: true } });
  await newChat(api, channelId);
  const hints = firstHints();
  expect((await api("GET", "/messages?search=hello")).status).toBe(200);
  expect(hints.get(`${organizationId}:1`)).toBe("apac");
});

test("without a region, a channel's object is created by its first use", async () => {
  const hints = firstHints();
  const { channelId } = await newOrganization();
  expect(hints.has(channelId)).toBe(false);
});

test("a key's object is created in the key's own region, and not in the organization's", async () => {
  const { organizationId } = await newOrganization({ region: "apac" });
  const hints = firstHints();
  const near = await newKey(organizationId, { region: "weur" });
  const plain = await newKey(organizationId);
  expect([near.key.region, plain.key.region]).toEqual(["weur", null]);
  for (const { key, secret } of [near, plain]) {
    const { body } = await call("GET", "/api/v1/key", { headers: { Authorization: `Bearer ${secret}` } });
    expect(body.key.region).toBe(key.region);
  }
  expect([near, plain].map(({ key }) => hints.get(key.id))).toEqual(["weur", undefined]);
});

test("a channel and a key are created although their object does not answer", async () => {
  const { organizationId } = await newOrganization({ region: "apac" });
  for (const name of ["CHANNELS", "KEYS"] as const) {
    vi.spyOn(env[name] as Named, "getByName").mockImplementation(() => {
      throw new Error("Network connection lost.");
    });
  }
  created(await admin("POST", `/organizations/${organizationId}/channels`, { kind: "web", name: "Shop" }));
  created(await admin("POST", `/organizations/${organizationId}/keys`, { name: "Shop", region: "oc" }));
});
