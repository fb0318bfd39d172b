import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { stopTheClock } from "../../../service/chats/object/delivery/conversation.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { crowdWith, idOf, idsOfCrowd, walked } from "./crowd-fixtures.ts";

stopTheClock();

/** Of 25,000 chats, one in `every` is the person's, or its contact opted out. The others have a person, or said yes. */
const CROWDS = {
  "person=ada": (every: number) => crowdWith("person_id", `iif(n % ${every} = 0, 'ada', 'p' || n)`),
  "optedOut=true": (every: number) =>
    crowdWith(
      "marketing",
      `json_object('optedOut', json(iif(n % ${every} = 0, 'true', 'false')), 'at', '2027-01-31T09:00:00.000Z', 'by', 'key')`,
    ),
};
type Filter = keyof typeof CROWDS;
const FILTERS = Object.keys(CROWDS) as Filter[];

/** How many chats are found: one in `every`, and of those the ones of the other filters. */
const WALKS: [every: number, others: string, isIts: (n: number) => boolean][] = [
  [500, "", (n) => n % 500 === 0],
  [500, "&state=closed", (n) => n % 1_500 === 0],
  [10, "", (n) => n % 10 === 0],
  [10, "&state=closed", (n) => n % 30 === 0],
  [10, "&assignee=none", () => false],
  [7, "&assignee=none&channel=web", (n) => n % 7 === 0 && n % 2 === 1],
  [24, "&assignee=ANN", (n) => n % 24 === 0],
];

test.each(FILTERS.flatMap((filter) => WALKS.map(([every, others, isIts]) => ({ filter, every, others, isIts }))))(
  "where one chat in $every has $filter, a walk of $filter$others has each once, in order",
  async ({ filter, every, others, isIts }) => {
    const { api, ann } = await CROWDS[filter](every);
    expect(await walked(api, `${filter}${others.replace("ANN", ann)}`)).toEqual(idsOfCrowd(isIts));
  },
);

test("a walk goes on beyond the moment from which the person has more chats than are sorted", async () => {
  const { api, idsOf, rows } = await CROWDS["person=ada"](50);
  const { cursor } = (await api("GET", "/chats?person=ada&limit=100")).body.pagination;
  const waiting = (await api("GET", "/chats?unanswered=true&person=ada&limit=100")).body.pagination.cursor;
  const next = [`person=ada&limit=50&before=${cursor}`, `unanswered=true&person=ada&limit=50&after=${waiting}`];
  const before = [await idsOf(next[0] as string), await idsOf(next[1] as string)];
  expect(before[0]?.at(-1)).toBe(idOf(25_000 - 149 * 50));
  expect(before[1]?.at(-1)).toBe(idOf(150 * 50));
  // None of the new ones stands between those of a page.
  await rows("update chats set person_id = 'ada' where active_at > 23000 or active_at < 20");
  expect([await idsOf(next[0] as string), await idsOf(next[1] as string)]).toEqual(before);
  expect((await api("GET", `/chats?${next[0]}`)).body.pagination).toMatchObject({ hasMore: true });
});

/** The rows that the dearer of a list's first two pages reads, the first after an eviction. */
async function costOf(filter: Filter, every: number, others = ""): Promise<number> {
  const { api, object } = await CROWDS[filter](every);
  await evictDurableObject(object);
  const by = others.includes("unanswered") ? "after" : "before";
  let from = "";
  const read: number[] = [];
  for (let page = 1; page <= 2; page++) {
    const each = await rowsRead(object, async () => {
      const { cursor } = (await api("GET", `/chats?limit=20&${filter}${others}${from}`)).body.pagination;
      from = cursor && `&${by}=${cursor}`;
    });
    read.push(each.reduce((sum, rows) => sum + rows, 0));
    if (!from) break;
  }
  return Math.max(...read);
}

test.each(FILTERS)("a page of %s reads few rows if few chats have it, and a bounded number else", async (filter) => {
  for (const others of ["", "&state=closed", "&unanswered=true"]) {
    // 50 chats have it.
    expect(await costOf(filter, 500, others), others).toBeLessThan(400);
    expect(await costOf(filter, 10, others), others).toBeLessThan(8_000);
  }
  // No chat is found among those that are examined: each is two rows, once for the page and once for hasNewer.
  expect(await costOf(filter, 10, "&assignee=none")).toBeLessThan(45_000);
});

test("a page of contacts who opted out reads a bounded number of rows although half of them did", async () => {
  // If all that opted out were read, they would be 12,500.
  expect(await costOf("optedOut=true", 2)).toBeLessThan(8_000);
});
