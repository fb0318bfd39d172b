import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { newId } from "../../../src/ids.ts";
import { expectError, newChat, newOrganization, send } from "../../support/harness.ts";
import { heldBy, NOTHING } from "../../support/stored.ts";

afterEach(() => vi.restoreAllMocks());

test("50 guessed chat ids get a 404, and their objects store nothing", async () => {
  const { api } = await newOrganization();
  const ids = Array.from({ length: 50 }, () => newId("cht", null));
  const answers = await Promise.all(
    ids.flatMap((id) => [
      api("GET", `/chats/${id}`),
      api("GET", `/chats/${id}/messages`),
      api("POST", `/chats/${id}/messages`, { content: "Hello" }),
    ]),
  );
  for (const answer of answers) expectError(answer, 404, "chat_not_found", /^Chat not found$/);
  for (const id of ids) expect(await heldBy(env.CHATS.getByName(id))).toEqual(NOTHING);
});

test.each([
  "",
  "cht_",
  "cht_g",
  "cht_gaaaaaaaaaaaaaa",
  "cht_gaaaaaaaaaaaaaaaa",
  "cht_xaaaaaaaaaaaaaaa",
  "org_gaaaaaaaaaaaaaaa",
  "cht_gaaaaaaa%20aaaaaaa",
])("a malformed chat id (%j) wakes no object", async (id) => {
  const { api } = await newOrganization();
  const objects = vi.spyOn(env.CHATS, "getByName");
  expect((await api("GET", `/chats/${id}/messages`)).status).toBe(404);
  expect(objects).not.toHaveBeenCalled();
});

test("the object of a new chat stores nothing before its first use", async () => {
  const { api, channelId, keyId } = await newOrganization();
  const objects = vi.spyOn(env.CHATS, "getByName");
  const chat = await newChat(api, channelId);
  expect(objects).not.toHaveBeenCalled();
  expect(await heldBy(env.CHATS.getByName(chat.id))).toEqual(NOTHING);
  expect(await heldBy(env.CHANNELS.getByName(channelId))).toEqual(NOTHING);
  expect(keyId).toMatch(/^key_/);
});

test("creating an organization, a channel and a key wakes no object", async () => {
  const objects = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  await newOrganization();
  for (const spy of objects) expect(spy).not.toHaveBeenCalled();
});

test("an unused chat is a 404 for another organization, whose request does not adopt it", async () => {
  const owner = await newOrganization();
  const stranger = await newOrganization();
  const chat = await newChat(owner.api, owner.channelId);
  expectError(await stranger.api("GET", `/chats/${chat.id}/messages`), 404, "chat_not_found");
  expectError(await stranger.api("POST", `/chats/${chat.id}/messages`, { content: "Mine" }), 404, "chat_not_found");
  expect(await heldBy(env.CHATS.getByName(chat.id))).toEqual(NOTHING);
  expect((await send(owner.api, chat.id)).seq).toBe(1);
});

test("a chat in use is unknown to another organization in every call", async () => {
  const owner = await newOrganization();
  const stranger = await newOrganization();
  const chat = await newChat(owner.api, owner.channelId);
  const message = await send(owner.api, chat.id);
  const object = env.CHATS.getByName(chat.id);
  const unknown = { outcome: "unknown" };
  expect(await object.list(stranger.organizationId, { page: 1, limit: 20 }, null)).toEqual(unknown);
  expect(await object.get(stranger.organizationId, message.id, null)).toEqual(unknown);
  expect(await object.state(stranger.organizationId, null)).toEqual(unknown);
  expect(await object.redact(stranger.organizationId, message.id, null, "req_1")).toEqual(unknown);
  expectError(await stranger.api("GET", `/chats/${chat.id}/messages/${message.id}`), 404, "chat_not_found");
});

test("an identity of another organization than the caller's is not adopted", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const object = env.CHATS.getByName(chat.id);
  const adoption = {
    chatId: chat.id,
    organizationId,
    channelId,
    channelKind: "web" as const,
    contactAddress: "a",
    createdAt: 0,
  };
  expect(await object.state("org_gaaaaaaaaaaaaaaa", adoption)).toEqual({ outcome: "unknown" });
  expect(await heldBy(object)).toEqual(NOTHING);
});
