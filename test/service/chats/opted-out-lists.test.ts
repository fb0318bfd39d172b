import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { aroundCall } from "../../support/faults.ts";
import { admin, expectError, expectFaults, newChannel, newChat } from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { team } from "./assignment-fixtures.ts";
import { report } from "./inbound.ts";
import { labelsOf } from "./label-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

const OUT = { marketing: { optedOut: true } };

/** Chats in the order of their activity: the last one is the latest. */
async function desk() {
  const place = await team();
  const { api, organizationId, channelId, ann, write } = place;
  const other = await newChannel(organizationId, "telegram");
  let address = 4_711;
  const give = async (change: object, channel = channelId): Promise<string> => {
    const { id } = await newChat(api, channel, String(address++));
    pass(1_000);
    await write(id);
    const answer = await api("PATCH", `/chats/${id}`, change);
    expect(answer.status, answer.text).toBe(200);
    await report(id);
    return id;
  };
  const ids = {
    out: await give(OUT),
    silent: await give({ contact: { name: "Ada" } }),
    outOfAnn: await give({ ...OUT, assigneeId: ann }, other),
    outClosed: await give({ ...OUT, state: "closed" }),
    allowed: await give({ marketing: { optedOut: false } }),
    outOfAda: await give({ ...OUT, contact: { personId: "ada" } }),
  };
  return { ...place, other, ids };
}

test("GET /chats lists the chats whose contact opted out, latest activity first, with each of the other filters", async () => {
  const { api, ids, idsOf, ann, other, channelId, organizationId } = await desk();
  const of = (more = "") => idsOf(`optedOut=true${more}`);
  const all = [ids.outOfAda, ids.outClosed, ids.outOfAnn, ids.out];
  expect(await of()).toEqual(all);
  expect(await idsOf("")).toHaveLength(6);
  expect(await of()).toEqual(all);
  const operators = (await admin("GET", `/organizations/${organizationId}/chats?optedOut=true`)).body.chats;
  expect(operators.map(({ id }: Chat) => id)).toEqual(all);
  expect(await of("&state=open")).toEqual([ids.outOfAda, ids.outOfAnn, ids.out]);
  expect(await of("&state=snoozed")).toEqual([]);
  expect(await of(`&assignee=${ann}`)).toEqual([ids.outOfAnn]);
  expect(await of("&assignee=none")).toEqual([ids.outOfAda, ids.outClosed, ids.out]);
  expect(await of("&channel=telegram")).toEqual([ids.outOfAnn]);
  expect(await of(`&channel=${channelId}&state=closed`)).toEqual([ids.outClosed]);
  expect(await of(`&channel=${other}&assignee=none`)).toEqual([]);
  expect(await of("&person=ada")).toEqual([ids.outOfAda]);
  expect(await of("&handler=people")).toEqual(all);
  expect(await of("&handler=bot")).toEqual([]);
  expect(await of("&unanswered=true")).toEqual([ids.out, ids.outOfAnn, ids.outOfAda]);
  expect(await of("&unanswered=true&state=open&assignee=none&channel=web")).toEqual([ids.out, ids.outOfAda]);
  const label = await labelsOf(organizationId).make("Refund");
  for (const id of [ids.outClosed, ids.silent]) await api("PUT", `/chats/${id}/labels/${label}`);
  expect(await of(`&label=${label}`)).toEqual([ids.outClosed]);
});

test("a list of contacts who opted out is continued with its cursor, which belongs to its filters", async () => {
  const { api, ids, idsOf } = await desk();
  const first = (await api("GET", "/chats?optedOut=true&limit=3")).body;
  expect(first.chats.map(({ id }: Chat) => id)).toEqual([ids.outOfAda, ids.outClosed, ids.outOfAnn]);
  expect(first.pagination).toEqual({ limit: 3, hasMore: true, cursor: expect.any(String) });
  const { cursor } = first.pagination;
  expect(await idsOf(`optedOut=true&limit=3&before=${cursor}`)).toEqual([ids.out]);
  for (const query of ["state=open", "optedOut=true&state=open", "optedOut=true&channel=web", "person=true", ""]) {
    expectFaults(await api("GET", `/chats?${query}&before=${cursor}`), "before");
  }
  expectFaults(await api("GET", `/chats?optedOut=true&before=${ids.out}`), "before");
  const waiting = (await api("GET", "/chats?unanswered=true&optedOut=true&limit=1")).body;
  expect(waiting.pagination).toEqual({ limit: 1, hasMore: true, cursor: expect.any(String) });
  const rest = await idsOf(`unanswered=true&optedOut=true&after=${waiting.pagination.cursor}`);
  expect(rest).toEqual([ids.outOfAnn, ids.outOfAda]);
});

test("a list follows what contacts say, and a walk says what it left out", async () => {
  const { api, ids, idsOf, write } = await desk();
  const list = () => idsOf("optedOut=true");
  expect(await list()).toHaveLength(4);
  const { cursor } = (await api("GET", "/chats?optedOut=true&limit=1")).body.pagination;
  for (const [id, optedOut] of [
    [ids.silent, true],
    [ids.outClosed, false],
  ] as const) {
    expect((await api("PATCH", `/chats/${id}`, { marketing: { optedOut } })).status).toBe(200);
    await report(id);
  }
  expect(await list()).toEqual([ids.outOfAda, ids.outOfAnn, ids.silent, ids.out]);
  const page = async (limit: number) => (await api("GET", `/chats?optedOut=true&limit=${limit}&before=${cursor}`)).body;
  pass(1_000);
  await write(ids.allowed);
  await report(ids.allowed);
  expect((await page(1)).pagination).not.toHaveProperty("hasNewer");
  await write(ids.out);
  await report(ids.out);
  const next = await page(20);
  expect(next.chats.map(({ id }: Chat) => id)).toEqual([ids.outOfAnn, ids.silent]);
  expect(next.pagination).toEqual({ limit: 20, hasMore: false, cursor: null, hasNewer: true });
  await admin("DELETE", `/chats/${ids.outOfAnn}`);
  expect(await list()).toEqual([ids.out, ids.outOfAda, ids.silent]);
});

test.each([
  ["optedOut=", "optedOut"],
  ["optedOut=false", "optedOut"],
  ["optedOut=1", "optedOut"],
  ["optedOut=true&optedOut=true", "optedOut"],
  ["optedOut=true&contact=x", "optedOut"],
  ["optedOut=true&search=ada", "optedOut"],
  ["optedOut=true&scheduled=true", "optedOut"],
  ["optedOut=true&page=1", "page"],
  ["optedOut=true&after=x", "after"],
  ["optedOut=true&unanswered=true&before=x", "before"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api } = await team();
  expectFaults(await api("GET", `/chats?${query}`), path);
});

test("an organization's object of an earlier version does not list the chats of all contacts: 503", async () => {
  const { api } = await desk();
  const unknown = new TypeError('The RPC receiver does not implement "listNarrowed".');
  const isEarlier = { before: () => Promise.reject(Object.assign(unknown, { remote: true })) };
  aroundCall("ORGANIZATIONS", "listNarrowed", isEarlier);
  expectError(await api("GET", "/chats?optedOut=true"), 503, "unavailable");
  vi.restoreAllMocks();
});

test("an organization without chats has none of contacts who opted out", async () => {
  const { api } = await team();
  for (const query of ["optedOut=true", "optedOut=true&unanswered=true"]) {
    expect((await api("GET", `/chats?${query}`)).body).toEqual({
      chats: [],
      pagination: { limit: 20, hasMore: false, cursor: null },
    });
  }
});

test("a message of a contact who opted out writes no more rows than another one's", async () => {
  const { ids, object, write } = await desk();
  const costOf = (id: string) =>
    objectWrites({ object: () => object }, async () => {
      pass(1_000);
      await write(id);
      await report(id);
    });
  const rows = (await costOf(ids.silent)).rows;
  expect(rows).toBeGreaterThan(0);
  vi.restoreAllMocks();
  expect((await costOf(ids.outOfAda)).rows).toBe(rows);
});
