import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { type Case, type Goal, parley, same, type Traffic } from "./cases.ts";
import type { Place } from "./fixtures.ts";
import { ONE_CALL, toBare } from "./floor-cases.ts";
import { get } from "./request.ts";
import { lastPage, type Sizes, shown } from "./sizes.ts";

const FLOOR = { floor: ONE_CALL };
/** No page may begin past this many chats. */
const MAX_OFFSET = 10_000;
/** The share of chats in the first channel. */
const FIRST_SHARE = 0.7;

interface Walk {
  /** How many chats the list has. */
  count: number;
  /** The id of a chat near the end: a hundredth of the chats come after it. */
  late: string;
}

/** The pages whose cost is compared. Page 1 is in the cache of the isolate, and page 2 costs as much as page 1 without it. */
const PAGES: Record<string, (walk: Walk) => string> = {
  "page 1": () => "",
  "page 2": () => "page=2",
  "the last page by number": ({ count }) => `page=${lastPage(Math.min(count, MAX_OFFSET))}`,
  "near the end": ({ late }) => `before=${late}`,
};

/** The lists of an inbox. `assignee` and `label` get an id. */
const FILTERS = [
  "state=open",
  "state=closed",
  "unanswered=true",
  "unanswered=true&state=open",
  "assignee=&state=open",
  "unanswered=true&assignee=",
  "label=",
  "label=&state=open",
] as const;

export function directoryCases({ chats, manyChats }: Sizes): Case[] {
  return [
    ...casesOf(chats, { goal: toBare(0.46) }),
    ...casesOf(manyChats, {}).map((each) => ({ ...each, scale: true })),
  ];
}

/** @param first the goal of page 1 */
function casesOf(count: number, first: { goal?: Goal }): Case[] {
  const ofMember = ["page 1", "page 2"].map((page) =>
    parley(`GET /chats?assignee=, ${page} among ${shown(count)}`, FLOOR, (place) =>
      list(place, count, ({ ofMember: { id, page2 } }) => `assignee=${id}${page === "page 2" ? page2 : ""}`),
    ),
  );
  const pages = Object.entries(PAGES).flatMap(([page, query]) => {
    const all = `GET /chats, ${page} of ${shown(count)}`;
    return [
      parley(all, { ...FLOOR, ...(page === "page 1" && first) }, (place) =>
        list(place, count, ({ all }) => query(all)),
      ),
      parley(`${all}, one channel`, FLOOR, (place) =>
        list(place, count, ({ first }) => `channel=${first.id}&${query(first)}`),
      ),
      parley(`${all}, one kind`, FLOOR, (place) => list(place, count, ({ all }) => `channel=web&${query(all)}`)),
    ];
  });
  const filtered = FILTERS.map((filter) =>
    parley(`GET /chats?${filter}, page 2 among ${shown(count)}`, FLOOR, (place) => filteredList(place, count, filter)),
  );
  return [...pages, ...ofMember, ...filtered];
}

/** A list of chats that were worked on. Its second page is read, which no isolate holds; if there is none, the first. */
async function filteredList(place: Place, count: number, filter: string): Promise<Traffic> {
  const { secret, assigneeId, labelId } = await place.once(`${count} worked chats`, () => fillWorked(place, count));
  const path = `/api/v1/chats?${filter.replace("assignee=", `assignee=${assigneeId}`).replace("label=", `label=${labelId}`)}`;
  const page1 = await place.ask(path, { headers: { Authorization: `Bearer ${secret}` } });
  const { pagination } = (await page1.json()) as { pagination: { cursor: string | null } };
  const after = filter.startsWith("unanswered") ? "after" : "before";
  return same(get(pagination.cursor === null ? path : `${path}&${after}=${pagination.cursor}`, secret), 200);
}

async function fillWorked(place: Place, count: number) {
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const { secret } = await createKey(organization, { permissions: ["chats:read", "labels:write"] });
  const headers = { Authorization: `Bearer ${secret}` };
  const made = await place.ask("/api/v1/labels", { method: "POST", headers, body: '{"name":"Refund"}' });
  const { label } = (await made.json()) as { label: { id: string } };
  await place.chats(channel, "visitor", count, label.id);
  return { secret, assigneeId: organization.memberId, labelId: label.id };
}

async function list(place: Place, count: number, query: (walks: Walks) => string) {
  const { secret, walks } = await place.once(`${count} chats`, () => fill(place, count));
  return same(get(`/api/v1/chats?${query(walks)}`, secret), 200);
}

/** The list of all chats, which is also that of the kind, the list of the first channel, and that of a member. */
interface Walks {
  all: Walk;
  first: Walk & { id: string };
  /** What its second page has in the query; nothing if there is none. */
  ofMember: { id: string; page2: string };
}

async function fill(place: Place, count: number): Promise<{ secret: string; walks: Walks }> {
  const organization = await createOrganization(place);
  const first = await createChannel(organization);
  const second = await createChannel(organization);
  const inFirst = Math.round(count * FIRST_SHARE);
  const idOf = await place.chats(first, "visitor", inFirst);
  await place.chats(second, "user", count - inFirst);
  const { secret } = await createKey(organization);
  const { memberId: id } = organization;
  const page1 = await place.ask(`/api/v1/chats?assignee=${id}`, { headers: { Authorization: `Bearer ${secret}` } });
  const { pagination } = (await page1.json()) as { pagination: { cursor: string | null } };
  const ofMember = { id, page2: pagination.cursor === null ? "" : `&before=${pagination.cursor}` };
  const late = idOf(Math.floor(count / 100));
  return {
    secret,
    walks: { ofMember, all: { count, late }, first: { id: first.id, count: inFirst, late } },
  };
}
