import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Chat } from "../../../src/chats/chat.ts";
import { ORGANIZATION_SCHEMA } from "../../../src/organizations/schema.ts";
import { FOLDING_VERSION, folded } from "../../../src/platform/folding.ts";
import { foldingSteps } from "../../support/folding-steps.ts";
import {
  type Answer,
  admin,
  type Client,
  created,
  expectFaults,
  newChannel,
  newOrganization,
} from "../../support/harness.ts";
import { downgrade } from "../../support/old-schema.ts";
import { once } from "../../support/once.ts";
import { rowsRead } from "../../support/rows-read.ts";

const CONTACTS = [
  { address: "maya@shop.test", name: "Maya Okafor" },
  { address: "MARA-LOU@shop.test", name: "Mara-Lou O'Neil" },
  { address: "+1 555 078 3881", name: "Jürgen Groß" },
  { address: "khalid", name: "خالد المهدي" },
  { address: "1999", name: null },
  { address: "emoji", name: "Ana 👍 Ma" },
  { address: "50%_off", name: '100% "sure" _it\'s_' },
];

async function place() {
  const organization = await newOrganization();
  const ids: string[] = [];
  for (const contact of CONTACTS) ids.push(await add(organization.api, organization.channelId, contact));
  return { ...organization, ids, find: finder(organization.api) };
}

/** For tests that only read. */
const shared = once(place);

async function add(api: Client, channelId: string, contact: { address: string; name?: string | null }) {
  return created(await api("POST", "/chats", { channelId, contact })).chat.id as string;
}

function finder(api: Client) {
  return (search: string, more = "") => api("GET", `/chats?search=${encodeURIComponent(search)}${more}`);
}

function idsOf(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(200);
  return answer.body.chats.map(({ id }: Chat) => id);
}

function object(organizationId: string) {
  return env.ORGANIZATIONS.getByName(organizationId);
}

/** The terms of an organization's contacts, each with the number of its chat in `ids`. */
function termsIn(organizationId: string, ids: string[]): Promise<[string, number][]> {
  return runInDurableObject(object(organizationId), (_object, { storage }) =>
    storage.sql
      .exec<{ term: string; chat_id: string }>("select term, chat_id from contact_terms order by kind, term, chat_id")
      .toArray()
      .map(({ term, chat_id }) => [term, ids.indexOf(chat_id)] as [string, number]),
  );
}

test.each([
  ["maya", [0]],
  ["MAYA@", [0]],
  ["ma", [1, 0, 5]],
  ["shop", []],
  ["oka", [0]],
  ["oka ma", [0]],
  ["ma oka x", []],
  ["mara-lou@", [1]],
  ["neil", [1]],
  ["o'neil", [1]],
  ["gross", [2]],
  ["GROSS jü", [2]],
  ["1555", [2]],
  ["+1 (555) 078", [2]],
  ["555", []],
  ["1", [2, 4, 6]],
  ["المه", [3]],
  ["خالد", [3]],
  ["👍", [5]],
  ["50%", [6]],
  ["%", []],
  ["_", []],
  ["it's", [6]],
  ["' or ''='", []],
  ["jurgen", [2]],
  ["خَالِد", [3]],
  ["nobody", []],
])("a search for %s finds the contacts by the beginning of an address or of words", async (text, expected) => {
  const { ids, find } = await shared();
  const answer = await find(text);
  expect(idsOf(answer)).toEqual(expected.map((at) => ids[at]));
  expect(answer.body.pagination).toEqual({ limit: 20, hasMore: false, cursor: null });
});

test("a chat that a search finds is the same as in the list of all chats", async () => {
  const { api, ids, find } = await shared();
  const { chats } = (await api("GET", "/chats")).body;
  expect((await find("okafor")).body.chats).toEqual(chats.filter(({ id }: Chat) => id === ids[0]));
});

test("the cursor continues a search, and each chat is listed once, although many of its words match", async () => {
  const { api, channelId } = await newOrganization();
  const find = finder(api);
  const ids = new Set<string>();
  for (let number = 0; number < 25; number++) {
    const name = `Ann${number % 7} Anna Annabel-${number} Annex`;
    ids.add(await add(api, channelId, { address: number % 3 === 0 ? `anna-${number}` : `x${number}`, name }));
  }
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer: Answer = await find("ann", `&limit=4${cursor && `&after=${cursor}`}`);
    found.push(...idsOf(answer));
    cursor = answer.body.pagination.cursor;
    expect(answer.body.pagination.hasMore).toBe(cursor !== null);
  }
  expect(found).toHaveLength(25);
  expect(new Set(found)).toEqual(ids);
});

test("a cursor of another organization is a 400", async () => {
  const [ours, theirs] = [await place(), await place()];
  const { cursor } = (await theirs.find("ma", "&limit=1")).body.pagination;
  expect((await theirs.find("ma", `&after=${cursor}`)).status).toBe(200);
  expectFaults(await ours.find("ma", `&after=${cursor}`), "after");
});

test("channel narrows a search to a channel or a kind", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  const other = await newChannel(organizationId, "web");
  const telegram = await newChannel(organizationId, "telegram");
  const second = await add(api, other, { address: "maya@other.test", name: "Maya" });
  const third = await add(api, telegram, { address: "4711", name: "Maya" });
  expect(idsOf(await find("maya"))).toEqual([second, ids[0], third]);
  expect(idsOf(await find("maya", `&channel=${other}`))).toEqual([second]);
  expect(idsOf(await find("maya", `&channel=${channelId}`))).toEqual([ids[0]]);
  expect(idsOf(await find("maya", "&channel=telegram"))).toEqual([third]);
  expect(idsOf(await find("maya", "&channel=whatsapp"))).toEqual([]);
});

test("a new name and new addresses are found at once, and the old name is not", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  const id = ids[0] as string;
  expect((await api("PATCH", `/chats/${id}`, { contact: { name: "Maya Adeyemi" } })).status).toBe(200);
  expect(idsOf(await find("okafor"))).toEqual([]);
  expect(idsOf(await find("adeyemi"))).toEqual([id]);
  expect((await api("PATCH", `/chats/${id}`, { contact: { name: null } })).status).toBe(200);
  expect(idsOf(await find("adeyemi"))).toEqual([]);
  expect(idsOf(await find("maya"))).toEqual([id]);
  await object(organizationId).addAddress(channelId, "maya@shop.test", "okafor@new.test");
  expect(idsOf(await find("okafor@"))).toEqual([id]);
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at === 0).map(([term]) => term)).toEqual([
    "MAYA@SHOP.TEST",
    "OKAFOR@NEW.TEST",
  ]);
});

test("a deleted chat is not found, and leaves no terms", async () => {
  const { organizationId, ids, find } = await place();
  expect((await admin("DELETE", `/chats/${ids[0]}`)).status).toBe(200);
  expect(idsOf(await find("maya"))).toEqual([]);
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at <= 0)).toEqual([]);
});

test("a chat of a channel that is being deleted is not found", async () => {
  const { organizationId, channelId, ids, find } = await place();
  expect(idsOf(await find("okafor"))).toEqual([ids[0]]);
  await object(organizationId).closeChannel(organizationId, channelId);
  expect(idsOf(await find("okafor"))).toEqual([]);
});

test("a search finds no contact of another organization, and the operator can search too", async () => {
  const { organizationId, ids } = await place();
  const { api } = await newOrganization();
  expect(idsOf(await finder(api)("maya"))).toEqual([]);
  expect(idsOf(await admin("GET", `/organizations/${organizationId}/chats?search=okafor`))).toEqual([ids[0]]);
});

test.each([
  ["search=", "search"],
  ["search=%20", "search"],
  ["search=%2D%2D", "search"],
  [`search=${"x".repeat(101)}`, "search"],
  ["search=a&search=b", "search"],
  ["search=a&contact=b", "search"],
  ["search=a&unanswered=true", "search"],
  ["search=a&scheduled=true", "search"],
  ["search=a&page=1", "page"],
  ["search=a&before=:id", "before"],
  ["search=a&after=:id", "after"],
  ["search=a&after=", "after"],
  ["search=a&after=WyJuYW1lIiwiTUFZQSIsImNodF94Il0", "after"],
  ["search=a&channel=fax", "channel"],
])("GET /chats?%s is a 400 that names %s", async (query, path) => {
  const { api, ids } = await shared();
  expectFaults(await api("GET", `/chats?${query.replace(":id", ids[0] as string)}`), path);
});

test("texts of any length and any characters are found again", async () => {
  const { api, channelId } = await newOrganization();
  const find = finder(api);
  const long = "x".repeat(39);
  const first = await add(api, channelId, { address: `${long}👍end-1`, name: `${long}👍ly` });
  const second = await add(api, channelId, { address: `${long}👍end-2`, name: "Q" });
  expect(idsOf(await find(`${long}👍end-1`))).toEqual([first]);
  expect(idsOf(await find(`${long}👍end`))).toEqual([first, second].toSorted());
  expect(idsOf(await find(`${long}👍l`))).toEqual([first]);
});

function oldId(number: number): string {
  return `cht_g${String(number).padStart(15, "0")}`;
}

/** Writes chats into the object, as it had them before contacts could be searched. */
async function withOldChats(organizationId: string, channelId: string, count: number) {
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    downgrade(storage, ORGANIZATION_SCHEMA, 1);
    for (let number = 0; number < count; number++) {
      storage.sql.exec(
        `insert into chats (id, channel_id, state, life, address, name, metadata, created_at, active_at)
         values (?, ?, 'adopted', 1, ?, 'Old Contact', '{}', 1, ?)`,
        oldId(number),
        channelId,
        `old-${number}`,
        number,
      );
    }
  });
  await evictDurableObject(object(organizationId));
}

test("an object from before the search is indexed at the first search, and chats that change meanwhile are found too", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  await withOldChats(organizationId, channelId, 1_200);
  expect((await api("PATCH", `/chats/${ids[0]}`, { contact: { name: "Zoe" } })).status).toBe(200);
  const added = await add(api, channelId, { address: "zoe@shop.test" });
  expect((await admin("DELETE", `/chats/${ids[5]}`)).status).toBe(200);
  const found = await find("old", "&limit=100");
  expect(idsOf(found)).toHaveLength(100);
  expect(idsOf(await find("old-1199"))).toEqual([oldId(1_199)]);
  expect(idsOf(await find("zoe"))).toEqual([added, ids[0]]);
  expect(idsOf(await find("okafor"))).toEqual([]);
  expect(idsOf(await find("gross"))).toEqual([ids[2]]);
  const counts = await runInDurableObject(object(organizationId), (_object, { storage }) => [
    storage.sql.exec("select count(*) as n from contact_terms where term in ('OLD', 'CONTACT')").one().n,
    storage.sql.exec("select count(*) as n from contact_fill").one().n,
  ]);
  expect(counts).toEqual([2_400, 0]);
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at === 5)).toEqual([]);
});

test("while a large object is indexed, searches examine the chats themselves, and the alarm goes on", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  await withOldChats(organizationId, channelId, 22_000);
  const first = await find("old-21999");
  expect(idsOf(first)).toEqual([]);
  expect(first.body.pagination.hasMore).toBe(true);
  const found = await pagesOf((more) => find("old-2199", more));
  expect(found.toSorted()).toEqual(["", ..."0123456789"].map((end) => oldId(Number(`2199${end}`))).toSorted());
  expect(await pagesOf((more) => find("okafor", more))).toEqual([ids[0]]);
  expect((await api("PATCH", `/chats/${ids[0]}`, { contact: { name: "Zoe" } })).status).toBe(200);
  await filled(organizationId);
  expect(idsOf(await find("old-21999"))).toEqual([oldId(21_999)]);
  expect(idsOf(await find("zoe"))).toEqual([ids[0]]);
});

/** The ids of all pages. */
async function pagesOf(page: (more: string) => Promise<Answer>): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer: Answer = await page(cursor && `&after=${cursor}`);
    found.push(...idsOf(answer));
    cursor = answer.body.pagination.cursor;
  }
  return found;
}

/** Runs the alarm until all terms are there. */
async function filled(organizationId: string) {
  for (;;) {
    await runDurableObjectAlarm(object(organizationId));
    const [left] = await runInDurableObject(object(organizationId), (_object, { storage }) =>
      storage.sql
        .exec<{ left: number }>(
          `select (select count(*) from contact_fill) + (select count(*) from contact_folding where version <> ?) as left`,
          FOLDING_VERSION,
        )
        .toArray(),
    );
    if (left?.left === 0) return;
  }
}

/** Gives the object the terms that an older folding made. */
async function withOldFolding(organizationId: string, change: (sql: SqlStorage) => void = () => {}) {
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    storage.sql.exec("delete from contact_terms where term in ('JOSE', 'NUNEZ')");
    change(storage.sql);
    storage.sql.exec("update contact_folding set version = 1");
  });
  await evictDurableObject(object(organizationId));
}

test("terms of another version of the folding are emptied and filled again at the first search", async () => {
  const { api, organizationId, channelId, ids, find } = await place();
  const jose = await add(api, channelId, { address: "jose@shop.test", name: "José Núñez" });
  await withOldFolding(organizationId, (sql) => {
    for (const term of ["JOSÉ", "NÚÑEZ"]) {
      sql.exec(
        "insert into contact_terms (kind, term, chat_id, channel_id) values (1, ?, ?, ?)",
        term,
        jose,
        channelId,
      );
    }
  });
  expect((await api("PATCH", `/chats/${ids[0]}`, { contact: { name: "Zoë" } })).status).toBe(200);
  expect((await admin("DELETE", `/chats/${ids[5]}`)).status).toBe(200);
  const added = await add(api, channelId, { address: "zoe-2", name: "Nuno" });
  expect(idsOf(await find("nunez"))).toEqual([jose]);
  expect(idsOf(await find("zoe"))).toEqual([added, ids[0]]);
  expect(idsOf(await find("okafor"))).toEqual([]);
  expect((await termsIn(organizationId, [...ids, jose, added])).map(([term, at]) => `${term} ${at}`)).toEqual(
    (await termsIn(organizationId, [...ids, jose, added])).map(([term, at]) => `${folded(term)} ${at}`),
  );
  expect((await termsIn(organizationId, ids)).filter(([, at]) => at === 5)).toEqual([]);
});

test("terms of another version go in steps of 500, by searches and the alarm, and searches are right meanwhile", async () => {
  const { organizationId, channelId, ids, find } = await place();
  await withOldChats(organizationId, channelId, 3_000);
  await filled(organizationId);
  await withOldFolding(organizationId, (sql) => {
    sql.exec(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 40000)
       insert into contact_terms (kind, term, chat_id, channel_id) select 1, 'ÓLD-' || n, 'cht_x', ? from numbers`,
      channelId,
    );
  });
  const written: number[] = [];
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    const transaction = storage.transactionSync.bind(storage);
    storage.transactionSync = ((work: () => unknown) => {
      const changes = () => storage.sql.exec<{ n: number }>("select total_changes() as n").one().n;
      const before = changes();
      const result = transaction(work);
      written.push(changes() - before);
      return result;
    }) as typeof storage.transactionSync;
  });
  expect(idsOf(await find("okafor"))).toEqual([ids[0]]);
  expect(idsOf(await find("old-2999"))).toEqual([oldId(2_999)]);
  await filled(organizationId);
  expect(idsOf(await find("okafor"))).toEqual([ids[0]]);
  expect(await termsIn(organizationId, ids).then((terms) => terms.filter(([term]) => /Ó/.test(term)))).toEqual([]);
  expect(written.length).toBeGreaterThan(45);
  expect(Math.max(...written)).toBeLessThan(580);
});

test("a search of names full of accents lets others in after short steps", async () => {
  const { organizationId, channelId, find } = await place();
  await withOldChats(organizationId, channelId, 3_000);
  await filled(organizationId);
  await runInDurableObject(object(organizationId), (_object, { storage }) => {
    storage.sql.exec("update chats set name = ? where address like 'old-%'", `Old ${"ễ".repeat(250)}`);
  });
  const steps = await foldingSteps(async () => expect(idsOf(await find("old zzz"))).toEqual([]));
  expect(steps.length).toBeGreaterThan(4);
  expect(Math.max(...steps)).toBeGreaterThan(30_000);
  for (const work of steps) expect(work).toBeLessThan(140_000);
});

test("a page costs no more than its rows, at any depth and beside any number of chats", async () => {
  const { organizationId, channelId, find } = await place();
  await withOldChats(organizationId, channelId, 2_000);
  await filled(organizationId);
  const first = await find("contact", "&limit=100");
  for (const after of ["", `&after=${first.body.pagination.cursor}`]) {
    const rows = await rowsRead(object(organizationId), async () => {
      expect(idsOf(await find("contact", `&limit=10${after}`))).toHaveLength(10);
    });
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeLessThan(30);
  }
});

test("a search that a channel narrows reads at most 10,000 rows for a page, and goes on behind them", async () => {
  const { api, organizationId, channelId, find } = await place();
  const other = await newChannel(organizationId, "web");
  const last = await add(api, other, { address: "zzz", name: "Old Zebra" });
  await withOldChats(organizationId, channelId, 10_500);
  await filled(organizationId);
  const pages: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    let answer: Answer | undefined;
    const rows = await rowsRead(object(organizationId), async () => {
      answer = await find("old", `&channel=${other}${cursor && `&after=${cursor}`}`);
    });
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeLessThan(10_300);
    pages.push(idsOf(answer as Answer).filter((id) => id === last).length);
    cursor = (answer as Answer).body.pagination.cursor;
  }
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.at(-1)).toBe(1);
});

test("reports of a chat write no terms unless its name changes", async () => {
  const { api, organizationId, ids } = await place();
  const written = () =>
    runInDurableObject(object(organizationId), (_object, { storage }) => {
      const log: string[] = [];
      const exec = storage.sql.exec.bind(storage.sql);
      storage.sql.exec = ((query: string, ...given: unknown[]) => {
        log.push(query);
        return exec(query, ...given);
      }) as typeof storage.sql.exec;
      return log;
    });
  const log = await written();
  expect((await api("PATCH", `/chats/${ids[0]}`, { metadata: { a: "b" } })).status).toBe(200);
  expect(log.filter((query) => /update chats/.test(query))).toHaveLength(1);
  expect(log.filter((query) => /contact_terms/.test(query))).toEqual([]);
});
