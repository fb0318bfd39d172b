import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { aroundCall } from "../../support/faults.ts";
import { expectError, expectFaults, newChannel, newChat } from "../../support/harness.ts";
import { team } from "./assignment-fixtures.ts";
import { report } from "./inbound.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

/** A chat of each kind, in the order of their activity: the last one is the latest. */
async function desk() {
  const place = await team();
  const { api, organizationId, channelId, ann, write } = place;
  const other = await newChannel(organizationId, "telegram");
  let address = 4_711;
  const give = async (personId: string | null, more: object = {}, channel = channelId): Promise<string> => {
    const { id } = await newChat(api, channel, String(address++));
    pass(1_000);
    await write(id);
    await report(id);
    const answer = await api("PATCH", `/chats/${id}`, { contact: { personId }, ...more });
    expect(answer.status, answer.text).toBe(200);
    return id;
  };
  const ids = {
    ada: await give("ada"),
    nobody: await give(null),
    adaOfAnn: await give("ada", { assigneeId: ann }, other),
    adaClosed: await give("ada", { state: "closed" }),
    bo: await give("bo"),
    adaOfAnnClosed: await give("ada", { assigneeId: ann, state: "closed" }),
    upper: await give("ADA"),
  };
  return { ...place, other, ids };
}

test("GET /chats lists the chats of a person, latest activity first, with each of the other filters", async () => {
  const { ids, idsOf, ann, other, channelId } = await desk();
  expect(await idsOf("person=ada")).toEqual([ids.adaOfAnnClosed, ids.adaClosed, ids.adaOfAnn, ids.ada]);
  expect(await idsOf("person=ADA")).toEqual([ids.upper]);
  expect(await idsOf("person=ad")).toEqual([]);
  expect(await idsOf("person=null")).toEqual([]);
  expect(await idsOf("person=ada&state=open")).toEqual([ids.adaOfAnn, ids.ada]);
  expect(await idsOf("person=ada&state=snoozed")).toEqual([]);
  expect(await idsOf(`person=ada&assignee=${ann}`)).toEqual([ids.adaOfAnnClosed, ids.adaOfAnn]);
  expect(await idsOf("person=ada&assignee=none")).toEqual([ids.adaClosed, ids.ada]);
  expect(await idsOf("person=ada&channel=telegram")).toEqual([ids.adaOfAnn]);
  expect(await idsOf(`person=ada&channel=${channelId}&state=closed`)).toEqual([ids.adaOfAnnClosed, ids.adaClosed]);
  expect(await idsOf(`person=ada&assignee=${ann}&state=closed&channel=${other}`)).toEqual([]);
  expect(await idsOf("unanswered=true&person=ada")).toEqual([ids.ada, ids.adaOfAnn]);
  expect(await idsOf("unanswered=true&person=ada&state=open&assignee=none&channel=web")).toEqual([ids.ada]);
  expect(await idsOf("unanswered=true&person=ada&state=closed")).toEqual([]);
});

test("a list of a person is continued with its cursor, which belongs to its filters", async () => {
  const { api, ids, idsOf } = await desk();
  const first = (await api("GET", "/chats?person=ada&limit=3")).body;
  expect(first.chats.map(({ id }: Chat) => id)).toEqual([ids.adaOfAnnClosed, ids.adaClosed, ids.adaOfAnn]);
  expect(first.pagination).toEqual({ limit: 3, hasMore: true, cursor: expect.any(String) });
  const { cursor } = first.pagination;
  expect(await idsOf(`person=ada&limit=3&before=${cursor}`)).toEqual([ids.ada]);
  for (const query of ["person=bo", "person=ada&state=open", "person=ada&channel=web", "state=open", ""]) {
    expectFaults(await api("GET", `/chats?${query}&before=${cursor}`), "before");
  }
  expectFaults(await api("GET", `/chats?person=ada&before=${ids.ada}`), "before");
  const waiting = (await api("GET", "/chats?unanswered=true&person=ada&limit=1")).body;
  expect(waiting.pagination).toEqual({ limit: 1, hasMore: true, cursor: expect.any(String) });
  expect(await idsOf(`unanswered=true&person=ada&after=${waiting.pagination.cursor}`)).toEqual([ids.adaOfAnn]);
});

test("a chat moves from one person's list to another's, and a walk says what it left out", async () => {
  const { api, ids, idsOf, write } = await desk();
  const { cursor } = (await api("GET", "/chats?person=ada&limit=1")).body.pagination;
  pass(1_000);
  await write(ids.ada);
  await report(ids.ada);
  await api("PATCH", `/chats/${ids.adaClosed}`, { contact: { personId: "bo" } });
  const next = (await api("GET", `/chats?person=ada&before=${cursor}`)).body;
  expect(next.chats.map(({ id }: Chat) => id)).toEqual([ids.adaOfAnn]);
  expect(next.pagination).toEqual({ limit: 20, hasMore: false, cursor: null, hasNewer: true });
  expect(await idsOf("person=bo")).toEqual([ids.bo, ids.adaClosed]);
  expect(await idsOf("person=ada")).toEqual([ids.ada, ids.adaOfAnnClosed, ids.adaOfAnn]);
});

test.each([
  ["person=", "person"],
  [`person=${"x".repeat(129)}`, "person"],
  ["person=a&person=b", "person"],
  ["person=a&contact=x", "person"],
  ["person=a&search=ada", "person"],
  ["person=a&scheduled=true", "person"],
  ["person=a&page=1", "page"],
  ["person=a&after=x", "after"],
  ["person=a&unanswered=true&before=x", "before"],
  ["person=a&state=", "state"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api } = await team();
  expectFaults(await api("GET", `/chats?${query}`), path);
});

test("a filter that the organization's object does not know, because it runs an earlier version, is a 503", async () => {
  const { api, idsOf } = await desk();
  const unknown = new TypeError('The RPC receiver does not implement "listNarrowed".');
  const isEarlier = { before: () => Promise.reject(Object.assign(unknown, { remote: true })) };
  for (const query of ["person=ada", "label=lbl_g0000000000000000"]) {
    aroundCall("ORGANIZATIONS", "listNarrowed", isEarlier);
    expectError(await api("GET", `/chats?${query}`), 503, "unavailable");
    vi.restoreAllMocks();
  }
  expect(await idsOf("person=ada")).toHaveLength(4);
});

test("an organization without chats has none of any person", async () => {
  const { api } = await team();
  for (const query of ["person=a", "person=a&unanswered=true"]) {
    expect((await api("GET", `/chats?${query}`)).body).toEqual({
      chats: [],
      pagination: { limit: 20, hasMore: false, cursor: null },
    });
  }
});

test("a person's chat is not listed once its deletion has begun, and its scheduled messages go with it", async () => {
  const { api, ids, idsOf, rows } = await desk();
  await api("POST", `/chats/${ids.ada}/messages`, { content: "Later", scheduledAt: inFuture(MINUTE) });
  await rows(`update chats set state = 'deleting', active_at = null, unanswered_since = null where id = '${ids.ada}'`);
  expect(await idsOf("person=ada&state=open")).toEqual([ids.adaOfAnn]);
  expect(await idsOf("unanswered=true&person=ada")).toEqual([ids.adaOfAnn]);
});
