import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { MAX_EXAMINED_TEXT } from "../../../src/chats/search-budget.ts";
import { MAX_PAGE_TEXT } from "../../../src/model/list-page.ts";
import { runAlarm } from "../../support/alarms.ts";
import { breakObjects, replaceMethod } from "../../support/faults.ts";
import { admin, client, created, expectError, newChannel, newChat, newKey, send } from "../../support/harness.ts";
import { writeAsContact } from "../chats/inbound.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { endedEntries } from "../keys/ended-entries.ts";
import { indexed, searchPlace } from "./fixtures.ts";

stopTheClock();

test("a search can ask for a channel, an assignee, a direction and a time", async () => {
  const { chat, told, found, api, organizationId, ownerId, channelId } = await searchPlace();
  const [mine, nobodys] = [await chat(), await chat()];
  expect((await api("PATCH", `/chats/${mine.id}`, { assigneeId: ownerId })).status).toBe(200);
  created(await mine.post({ content: "Mine, a word" }));
  pass(60_000);
  const since = new Date().toISOString();
  created(await nobodys.post({ content: "A later word" }));
  await writeAsContact(organizationId, nobodys.id, "My word");
  await told();
  const all = ["A later word", "Mine, a word", "My word"];
  const sorted = async (more: string) => (await found("word", more)).sort();
  expect(await sorted("")).toEqual(all);
  expect(await sorted(`&channel=${channelId}`)).toEqual(all);
  expect(await sorted("&channel=web")).toEqual(all);
  expect(await sorted("&channel=telegram")).toEqual([]);
  expect(await sorted(`&assignee=${ownerId}`)).toEqual(["Mine, a word"]);
  expect(await sorted("&assignee=none")).toEqual(["A later word", "My word"]);
  expect(await sorted("&direction=INBOUND")).toEqual(["My word"]);
  expect(await sorted("&direction=OUTBOUND")).toEqual(["A later word", "Mine, a word"]);
  expect(await sorted(`&since=${since}`)).toEqual(["A later word", "My word"]);
  expect(await sorted(`&until=${since}&direction=OUTBOUND`)).toEqual(["A later word", "Mine, a word"]);
  expect(await sorted("&until=2026-01-01T00:00:00Z")).toEqual([]);
});

test("an organization finds nothing of another one", async () => {
  const [one, other] = [await searchPlace(), await searchPlace()];
  created(await (await one.chat()).post({ content: "A word" }));
  await one.told();
  expect(await one.found("word")).toEqual(["A word"]);
  expect(await other.found("word")).toEqual([]);
});

test("a search needs chats:read and messages:read, and leaves a row in the audit log", async () => {
  const { organizationId } = await searchPlace();
  const keyWith = async (...permissions: string[]) => client((await newKey(organizationId, { permissions })).secret);
  for (const permission of ["chats:read", "messages:read"])
    expectError(await (await keyWith(permission))("GET", "/messages?search=word"), 403, "permission_denied");
  const reader = await keyWith("chats:read", "messages:read");
  expect((await reader("GET", "/messages?search=word")).status).toBe(200);
  const entries = await endedEntries(organizationId, "&action=message.search");
  expect(entries).toMatchObject([{ action: "message.search", status: 200 }]);
});

test("a redaction holds while the index does not answer, and the index forgets the text later", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, found, organizationId } = await searchPlace();
  const { post, redact, object } = await chat();
  const { message } = created(await post({ content: "The secret word" }));
  await told();
  breakObjects("SEARCH_INDEXES", "index");
  await redact(message.id);
  pass(3_000);
  await runAlarm(object());
  vi.restoreAllMocks();
  expect(await found("secret")).toEqual([]);
  expect(await indexed(organizationId)).toBe(1);
  pass(60_000);
  await told();
  expect(await indexed(organizationId)).toBe(0);
});

test("a deleted chat is not found, and the index forgets it after a minute", async () => {
  const { chat, told, found, organizationId, object } = await searchPlace();
  const { id, post } = await chat();
  created(await post({ content: "A word" }));
  created(await (await chat()).post({ content: "Another word" }));
  await told();
  expect((await admin("DELETE", `/chats/${id}`)).status).toBe(200);
  expect(await found("word")).toEqual(["Another word"]);
  expect(await indexed(organizationId)).toBe(2);
  pass(60_000);
  await runAlarm(object());
  expect(await indexed(organizationId)).toBe(1);
});

test("what is in a channel that is being deleted is not found", async () => {
  const { organizationId, api, found } = await searchPlace();
  const channelId = await newChannel(organizationId, "web");
  const { id } = await newChat(api, channelId);
  await send(api, id, { content: "A word" });
  for (let rings = 0; rings < 2; rings++) {
    await runAlarm(env.CHATS.getByName(id));
    pass(3_000);
  }
  expect(await found("word")).toEqual(["A word"]);
  breakObjects("CHATS", "erase");
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(503);
  expect(await found("word")).toEqual([]);
});

test("an index that does not answer is a 503, and no send waits for it", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, api } = await searchPlace();
  const { post } = await chat();
  breakObjects("SEARCH_INDEXES", "index");
  created(await post({ content: "A word" }));
  await told();
  vi.restoreAllMocks();
  breakObjects("SEARCH_INDEXES", "candidates");
  expectError(await api("GET", "/messages?search=word"), 503, "unavailable");
});

test("the searches of a caller may examine so much text in a minute, and a look into an index or a chat counts too", async () => {
  const { chat, told, api } = await searchPlace();
  created(await (await chat()).post({ content: "A word" }));
  await told();
  const docs = [JSON.stringify({ id: "msg_1" })];
  const almostAll = MAX_EXAMINED_TEXT - MAX_PAGE_TEXT - 147_456;
  let work = almostAll - 1;
  replaceMethod("CHATS", "matching", () => async () => ({ outcome: "ok", docs: docs.map(() => null), work }));
  const search = () => api("GET", "/messages?search=word");
  expect((await search()).status).toBe(200);
  work = 2;
  expect((await search()).status).toBe(200);
  const refused = await search();
  expectError(refused, 429, "rate_limited");
  expect(refused.headers.get("Retry-After")).toBe("60");
});
