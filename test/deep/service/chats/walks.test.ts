import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Chat } from "../../../../src/model/chat.ts";
import { type Answer, admin, type Client, expectFaults, newOrganization } from "../../../support/harness.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { listReader, type Walk, WalkedChats } from "./walked-chats.ts";

const SEEDS = env.TEST_SEED
  ? [Number(env.TEST_SEED)]
  : Array.from({ length: Number(env.TEST_WALKS || 3) }, (_, n) => n + 1);
/** No walk of these few chats has more pages. */
const MAX_PAGES = 200;

interface Walked {
  ids: string[];
  hasNewer: boolean;
}

/** Walks a list to its end. @param meanwhile what happens after each page */
async function walk(
  read: (query: string) => Promise<Answer>,
  { query, by }: Walk,
  limit: number,
  meanwhile: (shown: string[]) => Promise<void>,
): Promise<Walked> {
  const ids: string[] = [];
  for (let [pages, from] = [0, ""]; pages < MAX_PAGES; pages++) {
    const answer = await read(`limit=${limit}&${query}${from}`);
    expect(answer.status, answer.text).toBe(200);
    const { chats, pagination } = answer.body;
    const shown = chats.map(({ id }: Chat) => id);
    ids.push(...shown);
    expect(pagination.hasMore, "hasMore says whether there is a cursor").toBe(pagination.cursor !== null);
    if (!pagination.hasMore) return { ids, hasNewer: pagination.hasNewer === true };
    from = `&${by}=${pagination.cursor}`;
    await meanwhile(shown);
  }
  throw new Error(`The walk of ${query || "all chats"} has no end`);
}

const asClient = (api: Client) => (query: string) => api("GET", `/chats?${query}`);
const asOperator = (organizationId: string) => (query: string) =>
  admin("GET", `/organizations/${organizationId}/chats?${query}`);

test.each(SEEDS)(
  "each walk has each chat once and an end, and misses none to which nothing happened (SEED=%i)",
  async (seed) => {
    const chats = await WalkedChats.create(seed, 16);
    const readers = [asClient(chats.api), asOperator(chats.organizationId)];
    for (const [n, list] of chats.walks().entries()) {
      const start = await chats.idsOf(list.query);
      chats.watch();
      const read = readers[(n + seed) % 2] as (typeof readers)[0];
      const { ids } = await walk(read, list, 1 + ((n + seed) % 4), (shown) => chats.stir(shown));
      const name = list.query || "all chats";
      expect(ids, `${name}: twice`).toEqual([...new Set(ids)]);
      expect(ids, `${name}: missed`).toEqual(expect.arrayContaining(start.filter((id) => !chats.isTouched(id))));
    }
  },
);

test("a program that writes to each chat of a page before it asks for the next one reaches each chat once", async () => {
  const chats = await WalkedChats.create(4, 12);
  for (const list of chats.walks().filter(({ query }) => !query.startsWith("search"))) {
    const start = await chats.idsOf(list.query);
    const { ids, hasNewer } = await walk(asClient(chats.api), list, 2, (shown) => chats.answerAll(shown));
    expect(ids, list.query).toEqual(start);
    expect(hasNewer, list.query).toBe(start.length > 2);
  }
});

test("a walk goes on when all chats that it has shown are deleted", async () => {
  const { length } = (await WalkedChats.create(5, 1)).walks();
  for (let n = 0; n < length; n++) {
    const chats = await WalkedChats.create(5, 7);
    const list = chats.walks()[n] as Walk;
    const start = await chats.idsOf(list.query);
    const { ids, hasNewer } = await walk(asClient(chats.api), list, 2, (shown) => chats.deleteAll(shown));
    expect(ids, list.query).toEqual(start);
    expect(hasNewer, list.query).toBe(false);
  }
});

test("a page by its number has a cursor too, which goes on behind its last chat", async () => {
  const chats = await WalkedChats.create(6, 8);
  const all = await chats.idsOf("");
  const page = await chats.api("GET", "/chats?page=2&limit=3");
  expect(page.body.pagination).toEqual({
    ...{ page: 2, limit: 3, total: 8, totalPages: 3, hasMore: true, cursor: expect.any(String) },
  });
  const next = () => chats.api("GET", `/chats?limit=3&before=${page.body.pagination.cursor}`);
  expect((await next()).body).toMatchObject({ chats: all.slice(6).map((id) => ({ id })) });
  expect((await next()).body.pagination).toEqual({ limit: 3, total: 8, hasMore: false, cursor: null });
  await chats.answerAll(all.slice(0, 1));
  expect((await next()).body.pagination).toEqual({ limit: 3, total: 8, hasMore: false, cursor: null, hasNewer: true });
});

test("a chat's id is still accepted as before, and the answer has a cursor", async () => {
  const chats = await WalkedChats.create(7, 5);
  const all = await chats.idsOf("");
  const first = await chats.api("GET", `/chats?limit=2&before=${all[0]}`);
  expect(first.body).toMatchObject({ chats: [{ id: all[1] }, { id: all[2] }], pagination: { hasMore: true } });
  const second = await chats.api("GET", `/chats?limit=2&before=${first.body.pagination.cursor}`);
  expect(second.body).toMatchObject({ chats: [{ id: all[3] }, { id: all[4] }], pagination: { hasMore: false } });
});

test("a cursor is a 400 with other filters, in another organization, and if it was changed", async () => {
  const chats = await WalkedChats.create(8, 80);
  const stranger = await listReader((await newOrganization()).organizationId);
  const cursors = new Map<Walk, string>();
  for (const list of chats.walks()) {
    const { pagination } = (await chats.api("GET", `/chats?limit=1&${list.query}`)).body;
    if (pagination.cursor) cursors.set(list, pagination.cursor);
  }
  expect(cursors.size).toBe(chats.walks().length);
  for (const [{ query, by }, cursor] of cursors) {
    // A key of its own, whose rate limit lets all of them pass.
    const api = await listReader(chats.organizationId);
    for (const other of cursors.keys()) {
      const answer = await api("GET", `/chats?${other.query}&${by}=${cursor}`);
      if (other.query === query) expect(answer.status, query).toBe(200);
      else expectFaults(answer, by);
    }
    expect(cursor.length).toBeLessThanOrEqual(128);
    expectFaults(await stranger("GET", `/chats?${query}&${by}=${cursor}`), by);
    for (const bad of [cursor.slice(1), `${cursor}A`, `${cursor.slice(0, 8)}-${cursor.slice(9)}`, `${cursor}=`])
      expectFaults(await chats.api("GET", `/chats?${query}&${by}=${bad}`), by);
  }
});

test.each(["", "channel=web", "assignee=none", "unanswered=true", "scheduled=true"])(
  "among 20,000 chats, a page of a walk reads little more than its own rows: %s",
  async (query) => {
    const { api, organizationId } = await WalkedChats.create(9, 1);
    const object = env.ORGANIZATIONS.getByName(organizationId);
    const fill = (first: number, last: number) =>
      runInDurableObject(object, (_object, { storage }) => {
        storage.sql.exec(
          `insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, unanswered_since,
             next_scheduled_at)
           with recursive numbers (n) as (select ? union all select n + 1 from numbers where n < ?)
           select 'cht_g' || printf('%015d', n), (select id from channels where kind = 'web' limit 1), 'adopted', n,
             'a' || n, '{}', n, 4000000000000 + n, n, n from numbers`,
          first,
          last,
        );
        storage.sql.exec("update channels set chats = ? where kind = 'web'", last);
      });
    await fill(1, 20_000);
    const { pagination } = (await api("GET", `/chats?limit=50&${query}`)).body;
    await fill(20_001, 21_000);
    const by = /true/.test(query) ? "after" : "before";
    const rows = await rowsRead(object, async () => {
      const { body } = await api("GET", `/chats?limit=50&${query}&${by}=${pagination.cursor}`);
      expect(body).toMatchObject({ chats: expect.any(Array), pagination: { hasMore: true } });
      expect(body.chats).toHaveLength(50);
      if (by === "before") expect(body.pagination.hasNewer).toBe(true);
    });
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(3 * 50 + 20);
  },
);

test.each(["channel=telegram", "assignee", "assignee=none"])(
  "a walk of the few chats of %s reads few rows, however many others were active meanwhile",
  async (list) => {
    const { api, organizationId, memberId } = await WalkedChats.create(10, 12);
    const others = list === "assignee=none" ? "mbr_gOther0000000000" : null;
    const [mine, query] = list === "assignee" ? [memberId, `assignee=${memberId}`] : [null, list];
    const object = env.ORGANIZATIONS.getByName(organizationId);
    const fill = (first: number, last: number, kind: string, assignee: string | null) =>
      runInDurableObject(object, (_object, { storage }) => {
        storage.sql.exec(
          `insert into chats (id, channel_id, state, life, address, metadata, created_at, active_at, assignee)
           with recursive numbers (n) as (select ? union all select n + 1 from numbers where n < ?)
           select 'cht_g' || printf('%015d', n), (select id from channels where kind = ? limit 1), 'adopted', n,
             'a' || n, '{}', n, 4000000000000 + n, ? from numbers`,
          ...[first, last, kind, assignee],
        );
      });
    await fill(1, 4, "telegram", mine);
    const { pagination } = (await api("GET", `/chats?limit=2&${query}`)).body;
    await fill(5, 25_005, "web", others);
    const next = () => api("GET", `/chats?limit=2&${query}&before=${pagination.cursor}`);
    const rows = await rowsRead(object, next);
    const isBounded = list === "assignee=none";
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(isBounded ? 20_100 : 40);
    // Whoever can't see whether a chat was left out is told that one may be.
    expect((await next()).body.pagination.hasNewer).toBe(isBounded || undefined);
  },
);
