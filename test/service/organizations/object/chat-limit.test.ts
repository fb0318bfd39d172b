import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { admin, created, expectError, newChat, newOrganization } from "../../../support/harness.ts";

afterEach(() => vi.restoreAllMocks());

const limits = (chats: number | null) => ({ limits: { chats } });

test("an organization that has reached its limit gets no other chat, and its chats stay usable", async () => {
  const { api, channelId } = await newOrganization(limits(2));
  const [first] = [await newChat(api, channelId, "a"), await newChat(api, channelId, "b")];
  const ask = (address: string) => api("POST", "/chats", { channelId, contact: { address } });
  expectError(
    await ask("c"),
    409,
    "chat_limit",
    /^The organization or the channel has reached its limit of chats. Delete a chat/,
  );
  expect((await ask("a")).body.chat.id).toBe(first?.id);
  expect((await api("GET", "/chats")).body.pagination.total).toBe(2);
  expect((await admin("DELETE", `/chats/${first?.id}`)).status).toBe(200);
  expect((await ask("c")).status).toBe(201);
});

test("a changed limit counts for the next chat, and null removes it", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  await newChat(api, channelId);
  const patched = await admin("PATCH", `/organizations/${organizationId}`, limits(1));
  expect(patched.body.organization).toMatchObject({ id: organizationId, ...limits(1) });
  const ask = (address: string) => api("POST", "/chats", { channelId, contact: { address } });
  expectError(await ask("c"), 409, "chat_limit");
  expect((await admin("PATCH", `/organizations/${organizationId}`, limits(null))).body.organization).toMatchObject(
    limits(null),
  );
  expect((await ask("c")).status).toBe(201);
});

test("a channel's limit leaves the other channels alone", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const body = { kind: "web", name: "Small", ...limits(0) };
  const small = created(await admin("POST", `/organizations/${organizationId}/channels`, body)).channel;
  expect(small).toMatchObject(limits(0));
  const ask = (id: string) => api("POST", "/chats", { channelId: id, contact: { address: "a" } });
  expectError(await ask(small.id), 409, "chat_limit");
  expect((await ask(channelId)).status).toBe(201);
  expect((await admin("PATCH", `/channels/${small.id}`, limits(1))).body.channel).toMatchObject(limits(1));
  expect((await ask(small.id)).status).toBe(201);
});

test("an organization's object with 7 GB takes no chat that a client asks for", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  await newChat(api, channelId);
  await runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) => {
    vi.spyOn(storage.sql, "databaseSize", "get").mockReturnValue(7_000_000_000);
  });
  expectError(await api("POST", "/chats", { channelId, contact: { address: "c" } }), 409, "chat_limit");
});

test.each([-1, 0.5, "5", 1_000_000_001])("a limit of %s chats is refused", async (chats) => {
  const { organizationId } = await newOrganization();
  const answer = await admin("PATCH", `/organizations/${organizationId}`, { limits: { chats } });
  expectError(answer, 400, "validation_failed");
  expect(answer.body.errors[0].path).toBe("limits.chats");
});

test("an organization that does not exist, or is being deleted, can't be changed", async () => {
  expectError(await admin("PATCH", "/organizations/org_gaaaaaaaaaaaaaaa", limits(1)), 404, "organization_not_found");
  const { organizationId } = await newOrganization();
  await env.DB.prepare("update organizations set erasing_at = 1 where id = ?").bind(organizationId).run();
  expectError(await admin("PATCH", `/organizations/${organizationId}`, limits(1)), 404, "organization_not_found");
});
