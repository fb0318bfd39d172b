import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { type Answer, admin, newChat, newOrganization, send, sendMany } from "../../support/harness.ts";

async function polled(messages = 3) {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await sendMany(api, chat.id, messages);
  const poll = (tag?: string, query = "") =>
    api("GET", `/chats/${chat.id}/messages${query}`, undefined, tag === undefined ? {} : { "If-None-Match": tag });
  return { api, channelId, chatId: chat.id, poll };
}

function tagOf(answer: Answer): string {
  const tag = answer.headers.get("ETag") ?? "";
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
  return tag;
}

function expectNotModified(answer: Answer): void {
  expect(answer.status, answer.text).toBe(304);
  expect(answer.text).toBe("");
}

test("a page that the client has is 304 without a body, with its tag and the key's limits", async () => {
  const { poll } = await polled();
  const tag = tagOf(await poll());
  const again = await poll(tag);
  expectNotModified(again);
  expect(tagOf(again)).toBe(tag);
  expect(Number(again.headers.get("X-RateLimit-Remaining"))).toBeGreaterThan(0);
});

test.each([
  ["a weak one of the same name", (tag: string) => `W/${tag}`],
  ["one of several", (tag: string) => `"other", ${tag}`],
  ["any", () => "*"],
])("a tag that is %s matches", async (_, made) => {
  const { poll } = await polled();
  expectNotModified(await poll(made(tagOf(await poll()))));
});

test("another tag, or none, is answered the page", async () => {
  const { poll } = await polled();
  const page = await poll();
  for (const tag of [undefined, "", '"other"', tagOf(page).slice(1, -1)]) {
    const answer = await poll(tag);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(page.text);
  }
});

test("a tag means the same after the chat's object was evicted", async () => {
  const { chatId, poll } = await polled();
  const tag = tagOf(await poll());
  await evictDurableObject(env.CHATS.getByName(chatId));
  expectNotModified(await poll(tag));
});

test("a new message, a redacted one and another page each have another tag", async () => {
  const { api, chatId, poll } = await polled();
  const tags = [tagOf(await poll())];
  const message = await send(api, chatId);
  tags.push(tagOf(await poll(tags[0])));
  expect((await admin("POST", `/chats/${chatId}/messages/${message.id}/redact`)).status).toBeLessThan(300);
  tags.push(tagOf(await poll(tags[1])), tagOf(await poll(undefined, "?page=2&limit=1")));
  tags.push(tagOf(await poll(undefined, "?limit=2")));
  expect(new Set(tags).size).toBe(5);
});

test("every list of a chat has a tag, by page and by cursor", async () => {
  const { api, chatId, poll } = await polled();
  const { id } = await send(api, chatId);
  for (const query of ["?page=2&limit=2", `?before=${id}`, `?after=${id}`]) {
    expectNotModified(await poll(tagOf(await poll(undefined, query)), query));
  }
});

test("a list of chats that the client has is 304 too", async () => {
  const { api, channelId } = await polled();
  const tag = tagOf(await api("GET", "/chats"));
  expectNotModified(await api("GET", "/chats", undefined, { "If-None-Match": tag }));
  await newChat(api, channelId);
  expect((await api("GET", "/chats", undefined, { "If-None-Match": tag })).status).toBe(200);
});

test("a refused key is told nothing of whether a page changed", async () => {
  const { poll } = await polled();
  const tag = tagOf(await poll());
  const stranger = await polled();
  expect(
    (await stranger.api("GET", "/chats/cht_gaaaaaaaaaaaaaaa/messages", undefined, { "If-None-Match": tag })).status,
  ).toBe(404);
});
