import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { aroundCall, breakObject, breakObjects, countCalls } from "../../support/faults.ts";
import { admin, client, created, expectError, newKey } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { alarmOf, crash, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { DAY } from "../chats/object/scheduled/fixtures.ts";
import { indexed, searchPlace, textsFound } from "./fixtures.ts";

stopTheClock();

/** An organization whose search is off, with this many chats that have said something. */
async function offPlace(chats: number) {
  const at = await searchPlace({ search: { on: false } });
  for (let count = 1; count <= chats; count++) created(await (await at.chat()).post({ content: `Word ${count}` }));
  await at.told();
  return withState(at);
}

async function withState(at: Awaited<ReturnType<typeof searchPlace>>) {
  const permissions = ["channels:write", "messages:read"];
  const manager = client((await newKey(at.organizationId, { permissions })).secret);
  const set = (on: boolean, as = manager) => as("PATCH", "/organization", { search: { on } });
  const state = async () => (await at.api("GET", "/organization")).body.organization.search;
  const ring = () => runAlarm(at.object());
  return { ...at, set, state, ring, all: () => textsFound(at.api, "search=word&limit=100") };
}

/** The tables of an index, without those of the platform. */
function tablesOf(organizationId: string, number: number): Promise<string[]> {
  const query = "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'";
  return runInDurableObject(env.SEARCH_INDEXES.getByName(`${organizationId}:${number}`), (_object, { storage }) =>
    storage.sql
      .exec<{ name: string }>(query)
      .toArray()
      .map(({ name }) => name),
  );
}

test("a new organization can be searched, unless it is created without", async () => {
  const body = { name: "Acme", owner: { name: "Ada" } };
  const { organization } = created(await admin("POST", "/organizations", body));
  expect(organization.search).toEqual({ state: "on", done: 0, total: 0 });
  const { organization: other } = created(await admin("POST", "/organizations", { ...body, search: { on: false } }));
  expect(other.search.state).toBe("off");
  expect((await admin("GET", `/organizations/${other.id}`)).body.organization.search.state).toBe("off");
});

test("turning the search on finds what was said before", async () => {
  const { set, state, ring, all } = await offPlace(25);
  const { status, body } = await set(true);
  expect([status, body.organization.search]).toEqual([200, { state: "filling", done: 0, total: 25 }]);
  await ring();
  expect(await state()).toEqual({ state: "on", done: 25, total: 25 });
  expect((await all()).sort()).toEqual(Array.from({ length: 25 }, (_, at) => `Word ${at + 1}`).sort());
  expect((await set(true)).status).toBe(200);
});

test("what is said during a fill is found too, and once", async () => {
  const { chat, set, ring, told, all } = await offPlace(3);
  await set(true);
  created(await (await chat()).post({ content: "A word of a new chat" }));
  await told();
  await ring();
  await told();
  expect((await all()).sort()).toEqual(["A word of a new chat", "Word 1", "Word 2", "Word 3"]);
});

test("a fill begins once in 24 hours, and is refused before anything changes", async () => {
  const { set, state, ring } = await offPlace(1);
  expect((await set(true)).status).toBe(200);
  await ring();
  expect((await set(false)).body.organization.search).toEqual({ state: "off", done: 0, total: 0 });
  pass(DAY - 60_000);
  expectError(await set(true), 409, "search_filled_today");
  expect((await state()).state).toBe("off");
  pass(60_000);
  expect((await set(true)).body.organization.search.state).toBe("filling");
});

test("turning the search off ends it at once and deletes its indexes", async () => {
  const { set, ring, api, organizationId, chat, told } = await offPlace(2);
  await set(true);
  await ring();
  expect(await tablesOf(organizationId, 1)).not.toEqual([]);
  await set(false);
  expectError(await api("GET", "/messages?search=word"), 409, "search_off");
  await ring();
  expect(await tablesOf(organizationId, 1)).toEqual([]);
  // A chat that has not heard of it tells an erased index: that stores nothing.
  created(await (await chat()).post({ content: "Late word" }));
  await told();
  for (const number of [1, 2]) expect(await tablesOf(organizationId, number)).toEqual([]);
});

test("a chat that learns from an erased index that the search is off stops telling it", async () => {
  const { set, ring, chat, api } = await offPlace(1);
  await set(true);
  await ring();
  const { id, object, post } = await chat();
  created(await post({ content: "A word" }));
  await runAlarm(object());
  pass(3_000);
  await runAlarm(object());
  await set(false);
  await ring();
  breakObjects("ORGANIZATIONS", "report");
  vi.spyOn(console, "warn").mockReturnValue();
  created(await api("POST", `/chats/${id}/messages`, { content: "Another word" }));
  const told = countCalls("SEARCH_INDEXES", "index");
  for (let rings = 0; rings < 4; rings++) {
    pass(3_000);
    await runAlarm(object());
  }
  expect(told()).toBe(1);
});

test("the alarm of a chat rings for the index after the report in which the chat learns of it", async () => {
  const { chat } = await searchPlace();
  const { object, post } = await chat();
  created(await post({ content: "A word" }));
  await runAlarm(object());
  const told = countCalls("SEARCH_INDEXES", "index");
  expect(await alarmOf(object())).toBe(Date.now() + 2_000);
  pass(2_000);
  await runAlarm(object());
  expect(told()).toBe(1);
  expect(await alarmOf(object())).toBeNull();
});

test("the search can be turned on while the chats are told of another retention", async () => {
  const { set, object, channelId } = await offPlace(1);
  expect((await admin("PATCH", `/channels/${channelId}`, { retentionDays: 30 })).status).toBe(200);
  await evictDurableObject(object());
  expect((await set(true)).status).toBe(200);
});

test("an index that can't be erased is erased later", async () => {
  const { set, ring, organizationId } = await offPlace(2);
  await set(true);
  await ring();
  await set(false);
  vi.spyOn(console, "error").mockReturnValue();
  breakObjects("SEARCH_INDEXES", "erase");
  await ring();
  vi.restoreAllMocks();
  expect(await tablesOf(organizationId, 1)).not.toEqual([]);
  pass(60_000);
  await ring();
  expect(await tablesOf(organizationId, 1)).toEqual([]);
});

test("a fill goes on after the organization's object is lost, and tries a chat that fails again", async () => {
  vi.spyOn(console, "warn").mockReturnValue();
  const { set, state, ring, all, object } = await offPlace(30);
  await set(true);
  breakObjects("CHATS", "fillSearch", (call) => call === 3);
  await crash(object());
  await ring();
  expect(await state()).toMatchObject({ state: "on", total: 30 });
  expect(await all()).toHaveLength(29);
  pass(60_000);
  await ring();
  expect(await all()).toHaveLength(30);
});

test("a version that folds texts in another way fills new indexes automatically, which is not the day's fill", async () => {
  const { chat, told, object, ring, all, state, set, organizationId } = await withState(await searchPlace());
  created(await (await chat()).post({ content: "A word" }));
  await told();
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.kv.put("search", { ...(storage.kv.get("search") as object), folding: 0 });
  });
  await evictDurableObject(object());
  await object().checkAlarms();
  await ring();
  expect(await state()).toEqual({ state: "on", done: 1, total: 1 });
  expect(await all()).toEqual(["A word"]);
  await ring();
  expect(await tablesOf(organizationId, 1)).toEqual([]);
  await set(false);
  expect((await set(true)).status).toBe(200);
});

test("a chat that hears late that the search was off stays in the index", async () => {
  const { set, object: organization, chat, all, organizationId } = await offPlace(1);
  const { object, post, redact } = await chat();
  const [ofChat, ofOrganization] = [object(), organization()];
  const { message } = created(await post({ content: "Secret word" }));
  let [isHeld, isOver] = [false, false];
  const after = () => {
    isHeld = true;
    return until("the answer arrives", () => isOver);
  };
  aroundCall("ORGANIZATIONS", "report", { after });
  const reporting = runAlarm(ofChat);
  await until("the report is answered", () => isHeld);
  await set(true);
  await runAlarm(ofOrganization);
  expect(await all()).toContain("Secret word");
  isOver = true;
  await reporting;
  vi.restoreAllMocks();
  await redact(message.id);
  for (let rings = 0; rings < 3; rings++) {
    pass(3_000);
    await runAlarm(object());
  }
  expect(await Promise.all([1, 2].map((number) => indexed(organizationId, number)))).toEqual([1, 0]);
});

test("an index that is down keeps no other one", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { set, ring, organizationId, chat, told } = await offPlace(1);
  await set(true);
  await ring();
  const { id, post } = await chat();
  created(await post({ content: "New word" }));
  await told();
  expect(await indexed(organizationId, 2)).toBe(1);
  expect((await admin("DELETE", `/chats/${id}`)).status).toBe(200);
  breakObject("SEARCH_INDEXES", `${organizationId}:1`, "removeChat");
  pass(60_000);
  await ring();
  vi.restoreAllMocks();
  vi.spyOn(console, "error").mockReturnValue();
  expect(await indexed(organizationId, 2)).toBe(0);
  await set(false);
  breakObject("SEARCH_INDEXES", `${organizationId}:1`, "erase");
  pass(600_000);
  await ring();
  vi.restoreAllMocks();
  expect(await tablesOf(organizationId, 2)).toEqual([]);
  expect(await tablesOf(organizationId, 1)).not.toEqual([]);
  vi.spyOn(console, "error").mockReturnValue();
  pass(600_000);
  await ring();
  expect(await tablesOf(organizationId, 1)).toEqual([]);
});

test("a fill counts no more chats than there were when it began", async () => {
  const { chat, set, state, ring, told } = await offPlace(3);
  await set(true);
  for (const content of ["A word", "Another word"]) created(await (await chat()).post({ content }));
  await told();
  await ring();
  expect(await state()).toEqual({ state: "on", done: 3, total: 3 });
});

test("the search needs channels:write and messages:read, and other settings members:write", async () => {
  const { organizationId, set } = await offPlace(1);
  const keyWith = async (...permissions: string[]) => client((await newKey(organizationId, { permissions })).secret);
  for (const few of [["channels:write"], ["members:write", "messages:read"]])
    expectError(await set(true, await keyWith(...few)), 403, "permission_denied");
  const searcher = await keyWith("channels:write", "messages:read");
  expectError(await searcher("PATCH", "/organization", { assignOnAnswer: true }), 403, "permission_denied");
  const both = { assignOnAnswer: true, search: { on: true } };
  expectError(await searcher("PATCH", "/organization", both), 403, "permission_denied");
  expect((await set(true, searcher)).body.organization.search.state).toBe("filling");
});
