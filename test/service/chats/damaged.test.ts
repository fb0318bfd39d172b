import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Answer, expectError, newChat, newOrganization, sendMany } from "../../support/harness.ts";

beforeEach(() => {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

/** A chat of five messages at rest, of which what `statement` says was lost. */
async function damagedBy(statement: string): Promise<(query?: string) => Promise<Answer>> {
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await sendMany(api, id, 5);
  const object = env.CHATS.getByName(id);
  await runInDurableObject(object, (_object, { storage }) => {
    storage.kv.put("reported", 5);
    storage.sql.exec(statement);
  });
  await evictDurableObject(object);
  return (query = "") => api("GET", `/chats/${id}/messages${query}`);
}

test.each([
  ["a message amid the others", "delete from messages where seq = 3"],
  ["the first message", "delete from messages where seq = 1"],
  ["the newest message, of which the list of chats knows", "delete from messages where seq = 5"],
  ["all messages", "delete from messages"],
])("a list that has lost %s is a 503, and none that is shorter", async (_name, statement) => {
  const list = await damagedBy(statement);
  expectError(await list(), 503, "unavailable");
});

test("a page whose messages are whole is listed, though others of the chat are lost", async () => {
  const list = await damagedBy("delete from messages where seq = 1");
  const { status, body } = await list("?limit=3");
  expect([status, body.messages.map(({ seq }: { seq: number }) => seq)]).toEqual([200, [5, 4, 3]]);
  expectError(await list("?limit=3&page=2"), 503, "unavailable");
});
