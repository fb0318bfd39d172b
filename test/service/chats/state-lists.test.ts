import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { client, expectFaults, newChannel, newChat, newKey } from "../../support/harness.ts";
import { Random } from "../../support/random.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { team } from "./assignment-fixtures.ts";
import { report } from "./inbound.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { DAY, inFuture } from "./object/scheduled/fixtures.ts";

stopTheClock();

/** A chat of each kind, in the order of their activity: the last one is the latest. */
async function desk() {
  const place = await team();
  const { api, organizationId, channelId, ann, ben, write } = place;
  const other = await newChannel(organizationId, "telegram");
  let address = 4_711;
  const give = async (state: string, assigneeId: string | null, channel = channelId): Promise<string> => {
    const { id } = await newChat(api, channel, String(address++));
    pass(1_000);
    await write(id);
    await report(id);
    const snoozedUntil = state === "snoozed" ? inFuture(DAY) : null;
    const answer = await api("PATCH", `/chats/${id}`, { state, snoozedUntil, assigneeId });
    expect(answer.status, answer.text).toBe(200);
    return id;
  };
  const ids = {
    open: await give("open", null),
    annsOpen: await give("open", ann),
    annsClosed: await give("closed", ann),
    snoozed: await give("snoozed", null),
    bensSnoozed: await give("snoozed", ben, other),
    otherOpen: await give("open", null, other),
    closed: await give("closed", null, other),
  };
  return { ...place, other, ids };
}

test("GET /chats lists the chats of a state, latest activity first, with each of the other filters", async () => {
  const { ids, idsOf, ann, other, channelId } = await desk();
  expect(await idsOf("state=open")).toEqual([ids.otherOpen, ids.annsOpen, ids.open]);
  expect(await idsOf("state=snoozed")).toEqual([ids.bensSnoozed, ids.snoozed]);
  expect(await idsOf("state=closed")).toEqual([ids.closed, ids.annsClosed]);
  expect(await idsOf("state=open&channel=telegram")).toEqual([ids.otherOpen]);
  expect(await idsOf(`state=closed&channel=${channelId}`)).toEqual([ids.annsClosed]);
  expect(await idsOf(`state=open&assignee=${ann}`)).toEqual([ids.annsOpen]);
  expect(await idsOf("state=open&assignee=none")).toEqual([ids.otherOpen, ids.open]);
  expect(await idsOf(`state=open&assignee=none&channel=${other}`)).toEqual([ids.otherOpen]);
  expect(await idsOf(`assignee=${ann}&channel=${other}`)).toEqual([]);
  expect(await idsOf(`assignee=${ann}&channel=web`)).toEqual([ids.annsClosed, ids.annsOpen]);
  expect(await idsOf("unanswered=true")).toEqual([ids.open, ids.annsOpen, ids.snoozed, ids.bensSnoozed, ids.otherOpen]);
  expect(await idsOf("unanswered=true&state=open")).toEqual([ids.open, ids.annsOpen, ids.otherOpen]);
  expect(await idsOf("unanswered=true&state=snoozed&channel=telegram")).toEqual([ids.bensSnoozed]);
  expect(await idsOf("unanswered=true&state=closed")).toEqual([]);
  expect(await idsOf("")).toHaveLength(7);
  expect(await idsOf("channel=telegram")).toEqual([ids.closed, ids.otherOpen, ids.bensSnoozed]);
  expect(await idsOf(`channel=${channelId}&limit=2&page=2`)).toEqual([ids.annsOpen, ids.open]);
});

test("a list of a state is continued with its cursor, which belongs to its filters", async () => {
  const { api, ids, idsOf } = await desk();
  const first = (await api("GET", "/chats?state=open&limit=2")).body;
  expect(first.chats.map(({ id }: Chat) => id)).toEqual([ids.otherOpen, ids.annsOpen]);
  expect(first.pagination).toEqual({ limit: 2, hasMore: true, cursor: expect.any(String) });
  const { cursor } = first.pagination;
  expect(await idsOf(`state=open&limit=2&before=${cursor}`)).toEqual([ids.open]);
  for (const query of ["state=closed", "state=open&assignee=none", "state=open&channel=web", "assignee=none"]) {
    expectFaults(await api("GET", `/chats?${query}&before=${cursor}`), "before");
  }
  expectFaults(await api("GET", `/chats?state=open&before=${ids.open}`), "before");
  expectFaults(await api("GET", "/chats?state=open&page=1"), "page");
  expectFaults(await api("GET", `/chats?state=open&after=${cursor}`), "after");
  const waiting = (await api("GET", "/chats?unanswered=true&state=open&limit=1")).body;
  expect(waiting.pagination).toEqual({ limit: 1, total: 3, hasMore: true, cursor: expect.any(String) });
  expect(await idsOf(`unanswered=true&state=open&limit=1&after=${waiting.pagination.cursor}`)).toEqual([ids.annsOpen]);
});

test("a chat whose state changes moves from one list to the other, at its place, and a new message brings it forward", async () => {
  const { api, ids, idsOf, write } = await desk();
  await api("PATCH", `/chats/${ids.annsOpen}`, { state: "closed" });
  expect(await idsOf("state=closed")).toEqual([ids.closed, ids.annsClosed, ids.annsOpen]);
  pass(1_000);
  await write(ids.annsClosed);
  await report(ids.annsClosed);
  expect(await idsOf("state=open")).toEqual([ids.annsClosed, ids.otherOpen, ids.open]);
  expect(await idsOf("")).toEqual(await idsOf("limit=100"));
});

test.each([
  ["state=", "state"],
  ["state=done", "state"],
  ["state=open&state=closed", "state"],
  ["state=open&contact=x", "state"],
  ["state=open&search=ada", "state"],
  ["state=open&scheduled=true", "state"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api } = await team();
  expectFaults(await api("GET", `/chats?${query}`), path);
});

test("an organization without chats has none in any state", async () => {
  const { api } = await team();
  const read = async (query: string) => (await api("GET", `/chats?${query}`)).body;
  const none = { limit: 20, hasMore: false, cursor: null };
  for (const query of ["state=open", "state=closed&unanswered=true"]) {
    expect(await read(query)).toEqual({ chats: [], pagination: none });
  }
  expect(await read("state=open&unanswered=true")).toEqual({ chats: [], pagination: { ...none, total: 0 } });
});

test.each([1, 2, 3])(
  "the total of the open unanswered chats is the length of their list, whatever happens: seed %i",
  async (seed) => {
    const { ids, api, write, organizationId } = await desk();
    const { secret } = await newKey(organizationId, { permissions: ["chats:erase"] });
    const eraser = client(secret);
    const random = new Random(seed);
    const list = async (query: string) => (await api("GET", `/chats?${query}&limit=100`)).body;
    const left = Object.values(ids);
    const erase = async (id: string) => {
      left.splice(left.indexOf(id), 1);
      expect((await eraser("DELETE", `/chats/${id}`)).status).toBe(200);
    };
    const snooze = (id: string) => api("PATCH", `/chats/${id}`, { state: "snoozed", snoozedUntil: inFuture(DAY) });
    const acts: ((id: string) => Promise<unknown>)[] = [
      (id) => write(id),
      snooze,
      (id) => api("PATCH", `/chats/${id}`, { state: "closed" }),
      (id) => api("PATCH", `/chats/${id}`, { state: "open" }),
      (id) => api("POST", `/chats/${id}/answered`),
      (id) => api("DELETE", `/chats/${id}/answered`),
      async (id) => void (left.length > 3 && random.next() < 0.3 && (await erase(id))),
    ];
    const totals = new Set<number>();
    const check = async (after: string) => {
      const { chats, pagination } = await list("unanswered=true&state=open");
      expect(pagination.total, after).toBe(chats.length);
      const ofAll = (await list("unanswered=true")).chats.filter(({ state }: Chat) => state === "open");
      expect(chats.map(({ id }: Chat) => id)).toEqual(ofAll.map(({ id }: Chat) => id));
      totals.add(pagination.total);
    };
    for (let n = 0; n < 40; n++) {
      const id = random.pick(left);
      pass(1_000);
      await random.pick(acts)(id);
      if (left.includes(id)) await report(id);
      await check(`after act ${n}`);
    }
    const [last = ""] = left;
    await write(last);
    await snooze(last);
    await erase(last);
    await check("after the deletion of a snoozed chat that waits");
    expect(totals.size).toBeGreaterThan(2);
  },
);

test("a page of a state reads as few rows as one of all chats, however few chats are in it", async () => {
  const { api, object, channelId, ann, newChat, rows } = await team();
  await newChat();
  // One in 500 is open, one in 500 snoozed, and a member has one in 25.
  await rows(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 25000)
    insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, assignee, work_state)
    select printf('cht_g%015d', n), '${channelId}', 'adopted', 1, 'contact ' || n, '{}', 1, n,
      iif(n % 25 = 0, '${ann}', null), iif(n % 500 = 0, 'open', iif(n % 500 = 1, 'snoozed', 'closed')) from numbers`);
  await rows("update channels set chats = 25001");
  const cost = async (query: string, count: number) => {
    await evictDurableObject(object);
    let cursor = "";
    const read: number[] = [];
    for (const page of [1, 2]) {
      const each = await rowsRead(object, async () => {
        const { body } = await api("GET", `/chats?limit=20&${query}${cursor}`);
        expect(body.chats, `page ${page} of ${query}`).toHaveLength(page === 1 ? 20 : Math.min(20, count - 20));
        expect(body.pagination.hasMore).toBe(count > page * 20);
        cursor = `&before=${body.pagination.cursor}`;
      });
      read.push(each.reduce((sum, rows) => sum + rows, 0));
    }
    return Math.max(...read);
  };
  const all = await cost("", 25_001);
  for (const [query, count] of [
    ["state=open", 51],
    ["state=snoozed", 50],
    ["state=closed", 24_900],
    [`state=open&assignee=${ann}`, 50],
    [`assignee=${ann}&channel=web`, 1_000],
  ] as const) {
    expect(await cost(query, count), query).toBeLessThan(all * 1.3);
  }
});
