import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { countRoundTrips } from "../faults.ts";
import { admin, created, newChat, newOrganization, send } from "../harness.ts";

// A day ahead of the platform's clock, so that no alarm runs in between.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A chat whose key and whose own object have been used. */
async function warmChat() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, organization.channelId);
  await send(organization.api, chat.id);
  return { ...organization, chatId: chat.id };
}

test.each<
  [string, number, (at: string, ids: { ownerId: string; templateId: string }) => ["GET" | "POST", string, object?]]
>([
  ["a warm list asks", 0, (at) => ["GET", `${at}/messages`]],
  ["a warm list from a cursor asks", 0, (at) => ["GET", `${at}/messages?page=3&limit=1`]],
  ["a warm read of a message asks", 0, (at) => ["GET", `${at}/messages/msg_gaaaaaaaaaaaaaaa`]],
  ["a warm send asks", 0, (at) => ["POST", `${at}/messages`, { content: "Hello" }]],
  [
    "a send with a sender asks",
    1,
    (at, { ownerId }) => ["POST", `${at}/messages`, { content: "Hello", senderId: ownerId }],
  ],
  [
    "a send with sender and template asks",
    1,
    (at, { ownerId, templateId }) => ["POST", `${at}/messages`, { content: "Hi", senderId: ownerId, templateId }],
  ],
  ["a list of chats asks", 1, () => ["GET", "/chats"]],
  ["a walk over chats asks", 1, (at) => ["GET", `/chats?before=${at.slice("/chats/".length)}`]],
  ["GET /key asks", 0, () => ["GET", "/key"]],
])("%s the directory %i times", async (_name, roundTrips, request) => {
  const { api, chatId, ownerId, organizationId } = await warmChat();
  const body = { name: "hello", language: "en", body: "Hello" };
  const { template } = created(await admin("POST", `/organizations/${organizationId}/templates`, body));
  const counted = countRoundTrips();
  const answer = await api(...request(`/chats/${chatId}`, { ownerId, templateId: template.id }));
  expect(answer.status, answer.text).toBeLessThan(405);
  expect(counted()).toBe(roundTrips);
});

test("a warm list and a warm send call two objects, one call each", async () => {
  const { api, chatId } = await warmChat();
  const calls = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  await api("GET", `/chats/${chatId}/messages`);
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([1, 1, 0]);
  await send(api, chatId);
  expect(calls.map((spy) => spy.mock.calls.length)).toEqual([2, 2, 0]);
});

test("a first call to a chat asks the directory once, and never again", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const roundTrips = countRoundTrips();
  await api("GET", `/chats/${chat.id}/messages`);
  expect(roundTrips()).toBe(1);
  await api("GET", `/chats/${chat.id}/messages`);
  await send(api, chat.id);
  expect(roundTrips()).toBe(1);
});
