import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { admitAfter, aroundCall, countHops } from "../../support/faults.ts";
import { admin, client, created, newChat, newKey, newOrganization, send } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();
// What a key refuses from memory is reported two seconds later, to its object.
beforeEach(() => neverRing(2_000));

/** A chat whose key and object have been used. */
async function warmChat() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, organization.channelId);
  await send(organization.api, chat.id);
  return { ...organization, chatId: chat.id };
}

/** What a request of the warm chat asks for, after it was made once. */
type Ask = (at: string, ids: { ownerId: string; templateId: string }) => ["GET" | "POST" | "PATCH", string, object?];

const TWO_OBJECTS = { KEYS: 1, CHATS: 1 };

test.each<[string, object, Ask]>([
  ["a list of messages", TWO_OBJECTS, (at) => ["GET", `${at}/messages`]],
  ["a list of messages from a cursor", TWO_OBJECTS, (at) => ["GET", `${at}/messages?page=3&limit=1`]],
  ["a read of a message", TWO_OBJECTS, (at) => ["GET", `${at}/messages/msg_gaaaaaaaaaaaaaaa`]],
  ["a send", TWO_OBJECTS, (at) => ["POST", `${at}/messages`, { content: "Hello" }]],
  [
    "a send with choices",
    TWO_OBJECTS,
    (at) => [
      "POST",
      `${at}/messages`,
      { content: "Hello?", interactive: { choices: [{ type: "reply", id: "y", title: "Yes" }] } },
    ],
  ],
  [
    "a send with a sender",
    { ...TWO_OBJECTS, DB: 1 },
    (at, { ownerId }) => ["POST", `${at}/messages`, { content: "Hello", senderId: ownerId }],
  ],
  [
    "a send with sender and template",
    { ...TWO_OBJECTS, DB: 1 },
    (at, { ownerId, templateId }) => ["POST", `${at}/messages`, { content: "Hi", senderId: ownerId, templateId }],
  ],
  ["a read of a chat", { KEYS: 1, CHATS: 1, ORGANIZATIONS: 1 }, (at) => ["GET", at]],
  [
    "an assignment",
    { KEYS: 1, DB: 1, CHATS: 2, ORGANIZATIONS: 2 },
    (at, { ownerId }) => ["PATCH", at, { assigneeId: ownerId, ifAssigneeId: null }],
  ],
  [
    "a list of a member's chats",
    { KEYS: 1, ORGANIZATIONS: 1 },
    (_, { ownerId }) => ["GET", `/chats?assignee=${ownerId}`],
  ],
  ["a list of chats", { KEYS: 1, ORGANIZATIONS: 1 }, () => ["GET", "/chats"]],
  [
    "a list of chats from a cursor",
    { KEYS: 1, ORGANIZATIONS: 1 },
    (at) => ["GET", `/chats?before=${at.slice("/chats/".length)}`],
  ],
  ["GET /key", { KEYS: 2 }, () => ["GET", "/key"]],
])("the calls of %s are %j", async (_name, calls, request) => {
  const { api, chatId, ownerId, organizationId } = await warmChat();
  const body = { name: "hello", language: "en", body: "Hello" };
  const { template } = created(await admin("POST", `/organizations/${organizationId}/templates`, body));
  const hops = countHops();
  const answer = await api(...request(`/chats/${chatId}`, { ownerId, templateId: template.id }));
  expect(answer.status, answer.text).toBeLessThan(405);
  expect(hops()).toEqual(calls);
});

test("a new chat's messages are read and sent without the organization's object and without D1", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const hops = countHops();
  await api("GET", `/chats/${chat.id}/messages`);
  await send(api, chat.id);
  expect(hops()).toEqual({ KEYS: 2, CHATS: 2 });
});

test("a list that this key has read before calls key and chat at the same time", async () => {
  const { api, chatId } = await warmChat();
  await api("GET", `/chats/${chatId}/messages`);
  admitAfter("CHATS");
  expect((await api("GET", `/chats/${chatId}/messages`)).status).toBe(200);
});

test("a send calls the chat only after the key admitted it", async () => {
  const { api, chatId } = await warmChat();
  const admitted: object[] = [];
  aroundCall("KEYS", "admit", { after: () => admitted.push(hops()) });
  const hops = countHops();
  await send(api, chatId);
  expect([...admitted, hops()]).toEqual([{ KEYS: 1 }, { CHATS: 1 }]);
});

test("the calls of a note are the key and the chat, and D1 for whom it mentions", async () => {
  const { organizationId, chatId, ownerId } = await warmChat();
  const { secret } = await newKey(organizationId, { permissions: ["notes:write"] });
  const add = (body: object) => client(secret)("POST", `/chats/${chatId}/notes`, body);
  expect((await add({ content: "The first finds the key" })).status).toBe(201);
  const hops = countHops();
  expect((await add({ content: "For all" })).status).toBe(201);
  expect(hops()).toEqual({ KEYS: 1, CHATS: 1 });
  expect((await add({ content: "For one", mentions: [ownerId] })).status).toBe(201);
  expect(hops()).toEqual({ KEYS: 1, CHATS: 1, DB: 1 });
});

test("a revoked key can't read a chat that it read before", async () => {
  const { api, chatId, keyId } = await warmChat();
  await api("GET", `/chats/${chatId}/messages`);
  expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(200);
  const answer = await api("GET", `/chats/${chatId}/messages`);
  expect(answer.status).toBe(401);
  expect(answer.text).not.toContain("messages");
});

test("a revoked key that was not used for a day is refused without D1", async () => {
  const { keyId, api } = await newOrganization();
  expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(200);
  expect((await api("GET", "/key")).status).toBe(401);
  await evictDurableObject(env.KEYS.getByName(keyId));
  vi.setSystemTime(Date.now() + 86_400_000);
  const hops = countHops();
  expect((await api("GET", "/key")).status).toBe(401);
  expect(hops()).toEqual({ KEYS: 1 });
});

test("a key over its limit calls no object for a second, and then calls again", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 3_600 } });
  const api = client(secret);
  expect((await api("GET", "/key")).status).toBe(200);
  expect((await api("GET", "/key")).status).toBe(429);
  const hops = countHops();
  const again = await api("GET", "/key");
  expect(again.status).toBe(429);
  expect(again.headers.get("Retry-After")).toBe("3600");
  expect(hops()).toEqual({});
  vi.setSystemTime(Date.now() + 1_001);
  expect((await api("GET", "/key")).status).toBe(429);
  expect(hops()).toEqual({ KEYS: 1 });
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

test("a key that has listed chats calls its object and the organization's at the same time, unless it is refused", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 2, windowSeconds: 3_600 } });
  const api = client(secret);
  expect((await api("GET", "/chats")).status).toBe(200);
  admitAfter("ORGANIZATIONS");
  expect((await api("GET", "/chats")).status).toBe(200);
  expect((await api("GET", "/chats")).status).toBe(429);
  const hops = countHops();
  expect((await api("GET", "/chats")).status).toBe(429);
  expect(hops()).toEqual({});
});

test("a key over its limit also calls no object for a second for a chat that it read before", async () => {
  const { organizationId, chatId } = await warmChat();
  const { secret } = await newKey(organizationId, { rateLimit: { limit: 1, windowSeconds: 3_600 } });
  const list = () => client(secret)("GET", `/chats/${chatId}/messages`);
  expect([(await list()).status, (await list()).status]).toEqual([200, 429]);
  const hops = countHops();
  expect((await list()).status).toBe(429);
  expect(hops()).toEqual({});
});

test("a secret that was rotated out calls no object for a second, like a revoked key's", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const old = client(secret);
  await old("GET", "/key");
  const rotated = created(await admin("POST", `/keys/${key.id}/rotate`, {}));
  expect((await old("GET", "/key")).status).toBe(401);
  const hops = countHops();
  expect((await old("GET", "/key")).status).toBe(401);
  expect(hops()).toEqual({});
  expect((await client(rotated.secret)("GET", "/key")).status).toBe(200);
});
