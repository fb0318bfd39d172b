import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admitAfterChat, countRoundTrips } from "../../support/faults.ts";
import { admin, client, created, newChat, newKey, newOrganization, send } from "../../support/harness.ts";
import { stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

/** A chat whose key and object have been used. */
async function warmChat() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, organization.channelId);
  await send(organization.api, chat.id);
  return { ...organization, chatId: chat.id };
}

test.each<
  [string, number, (at: string, ids: { ownerId: string; templateId: string }) => ["GET" | "POST", string, object?]]
>([
  ["a warm list calls", 0, (at) => ["GET", `${at}/messages`]],
  ["a warm list from a cursor calls", 0, (at) => ["GET", `${at}/messages?page=3&limit=1`]],
  ["a warm read of a message calls", 0, (at) => ["GET", `${at}/messages/msg_gaaaaaaaaaaaaaaa`]],
  ["a warm send calls", 0, (at) => ["POST", `${at}/messages`, { content: "Hello" }]],
  [
    "a send with a sender calls",
    1,
    (at, { ownerId }) => ["POST", `${at}/messages`, { content: "Hello", senderId: ownerId }],
  ],
  [
    "a send with sender and template calls",
    1,
    (at, { ownerId, templateId }) => ["POST", `${at}/messages`, { content: "Hi", senderId: ownerId, templateId }],
  ],
  ["a list of chats calls", 1, () => ["GET", "/chats"]],
  ["a walk through chats calls", 1, (at) => ["GET", `/chats?before=${at.slice("/chats/".length)}`]],
  ["GET /key calls", 0, () => ["GET", "/key"]],
])("%s the directory %i times", async (_name, roundTrips, request) => {
  const { api, chatId, ownerId, organizationId } = await warmChat();
  const body = { name: "hello", language: "en", body: "Hello" };
  const { template } = created(await admin("POST", `/organizations/${organizationId}/templates`, body));
  const counted = countRoundTrips();
  const answer = await api(...request(`/chats/${chatId}`, { ownerId, templateId: template.id }));
  expect(answer.status, answer.text).toBeLessThan(405);
  expect(counted()).toBe(roundTrips);
});

test("a warm list and a warm send call two objects, once each", async () => {
  const { api, chatId } = await warmChat();
  const calls = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  await api("GET", `/chats/${chatId}/messages`);
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([1, 1, 0]);
  await send(api, chatId);
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([2, 2, 0]);
});

test("the first call to a chat reads the directory once, and later ones never", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const roundTrips = countRoundTrips();
  await api("GET", `/chats/${chat.id}/messages`);
  expect(roundTrips()).toBe(1);
  await api("GET", `/chats/${chat.id}/messages`);
  await send(api, chat.id);
  expect(roundTrips()).toBe(1);
});

test("a list that this key has read before calls key and chat at the same time", async () => {
  const { api, chatId } = await warmChat();
  await api("GET", `/chats/${chatId}/messages`);
  admitAfterChat();
  expect((await api("GET", `/chats/${chatId}/messages`)).status).toBe(200);
});

test("a revoked key can't read a chat that it read before", async () => {
  const { api, chatId, keyId } = await warmChat();
  await api("GET", `/chats/${chatId}/messages`);
  expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(200);
  const answer = await api("GET", `/chats/${chatId}/messages`);
  expect(answer.status).toBe(401);
  expect(answer.text).not.toContain("messages");
});

test("a key over its limit calls no object for a second, and then calls again", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 3_600 } });
  const api = client(secret);
  expect((await api("GET", "/key")).status).toBe(200);
  expect((await api("GET", "/key")).status).toBe(429);
  const calls = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  const again = await api("GET", "/key");
  expect(again.status).toBe(429);
  expect(again.headers.get("Retry-After")).toBe("3600");
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
  vi.setSystemTime(Date.now() + 1_001);
  expect((await api("GET", "/key")).status).toBe(429);
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([1, 0, 0]);
});

test("a refusal is cached no longer than its window", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 1 } });
  const api = client(secret);
  await api("GET", "/key");
  vi.setSystemTime(Date.now() + 900);
  expect((await api("GET", "/key")).status).toBe(429);
  vi.setSystemTime(Date.now() + 100);
  expect((await api("GET", "/key")).status).toBe(200);
});

test("a key that has listed chats calls its object and the directory at the same time, unless it is refused", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 2, windowSeconds: 3_600 } });
  const api = client(secret);
  expect((await api("GET", "/chats")).status).toBe(200);
  const { promise: directoryAsked, resolve } = Promise.withResolvers<void>();
  const batch = env.DB.batch.bind(env.DB);
  const asked = vi.spyOn(env.DB, "batch").mockImplementation((statements) => {
    resolve();
    return batch(statements) as never;
  });
  const key = env.KEYS.getByName.bind(env.KEYS);
  vi.spyOn(env.KEYS, "getByName").mockImplementation((...args) => {
    const stub = key(...args);
    return {
      admit: (...asked: Parameters<typeof stub.admit>) =>
        directoryAsked.then((): Promise<unknown> => stub.admit(...asked)),
    } as never;
  });
  expect((await api("GET", "/chats")).status).toBe(200);
  expect((await api("GET", "/chats")).status).toBe(429);
  const before = asked.mock.calls.length;
  expect((await api("GET", "/chats")).status).toBe(429);
  expect(asked.mock.calls.length).toBe(before);
});

test("a key over its limit also calls no object for a second for a chat that it read before", async () => {
  const { organizationId, chatId } = await warmChat();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 3_600 } });
  const list = () => client(secret)("GET", `/chats/${chatId}/messages`);
  expect([(await list()).status, (await list()).status]).toEqual([200, 429]);
  const calls = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  expect((await list()).status).toBe(429);
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
});

test("a secret that was rotated out calls no object for a second, like a revoked key's", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const old = client(secret);
  await old("GET", "/key");
  const rotated = created(await admin("POST", `/keys/${key.id}/rotate`, {}));
  expect((await old("GET", "/key")).status).toBe(401);
  const calls = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  expect((await old("GET", "/key")).status).toBe(401);
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
  expect((await client(rotated.secret)("GET", "/key")).status).toBe(200);
});
