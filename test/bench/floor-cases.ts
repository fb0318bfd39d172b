import { type Case, CONNECTIONS, type Goal, inTurn, onceInARun, paced, same } from "./cases.ts";
import type { Place } from "./fixtures.ts";
import { CALLS } from "./many-calls.ts";
import { get, post } from "./request.ts";
import { DELAYS } from "./server.ts";
import { type Sizes, shown } from "./sizes.ts";

export const BARE = "bare: one Hono route";
/** The most that a refusal can reach: nothing is checked, and only the headers are those of the service. */
export const REFUSAL = "bare, with the headers of a refusal";
const BARE_ALONE = "bare, one connection";
export const ONE_CALL = "one empty object call";
export const ONE_ALONE = "one empty object call, one connection";
export const TWO_CALLS = "two at once";
const TWO_ALONE = "two at once, one connection";
/** The bounds of a list and a send: their call and their answer's size and headers, without any work of the service. */
export const BARE_LIST = "a list's call and its answer";
export const BARE_LIST_ALONE = "a list's call and its answer, one connection";
export const BARE_SEND_ALONE = "a send's call, two rows and its answer, one connection";
export const MANY_CALLS = `${CALLS} empty object calls at once`;
export const ONE_WRITE = "one call that writes a row";
export const WRITE_ALONE = "one call that writes a row, one connection";
const ONE_QUERY = "one D1 query";
export const ASLEEP = "two objects that were asleep, one after the other";
export const ASLEEP_AND_QUERY = "two objects that were asleep, and a D1 query between them";

/** What the platform takes for the parts of a list and a send: `--goals` has all of them. */
export const PARTS = [BARE, BARE_ALONE, ONE_CALL, ONE_ALONE, TWO_CALLS, TWO_ALONE, ONE_WRITE, WRITE_ALONE];

/** The distance of the cases with a goal: milliseconds each way. */
export const FAR_MS = DELAYS[0];
export const FAR_CALL = `one empty object call, ${FAR_MS} ms each way`;

/** The bound of lists whose chat is another one for each request. */
export function bareSpread(chats: number): string {
  return `a list's call and its answer, ${shown(chats)} chats`;
}

/** The bare route that a case with this number of connections is compared to. */
export function bareOf(connections: number): string {
  return connections === 1 ? BARE_ALONE : BARE;
}

/** A share of the rate of the bare route. */
export function toBare(must: number): Goal {
  return { to: BARE, of: "rate", must };
}

/** What the platform takes for a part of what the service does. */
export function floorCases({ asleep, keys, manyKeys }: Sizes): Case[] {
  return [
    ...FLOORS,
    spread(keys),
    spread(manyKeys),
    sleepers(ASLEEP, "read", asleep),
    sleepers(ASLEEP_AND_QUERY, "read-and-query", asleep),
  ];
}

const FLOORS: Case[] = [
  floor(BARE, get("/bare", "")),
  { ...floor(REFUSAL, get("/refusal", "")), make: async () => same(get("/refusal", ""), 401) },
  floor(BARE_ALONE, get("/bare", ""), 1),
  floor(ONE_CALL, get("/one", "")),
  floor(ONE_ALONE, get("/one", ""), 1),
  { ...floor(FAR_CALL, get(`/far/${FAR_MS}`, "")), ...paced(1) },
  floor(TWO_CALLS, get("/two", "")),
  floor(TWO_ALONE, get("/two", ""), 1),
  floor(BARE_LIST, get("/list/one", "")),
  floor(BARE_LIST_ALONE, get("/list/one", ""), 1),
  floor(BARE_SEND_ALONE, post("/send/sent", '{"content":"Hello"}'), 1, 201),
  floor(MANY_CALLS, get("/many", ""), 4),
  floor(ONE_WRITE, post("/write", "")),
  floor(WRITE_ALONE, post("/write", ""), 1),
  {
    ...floor(ONE_QUERY, get("/query", "")),
    make: async (place) => {
      await makeTable(place);
      return same(get("/query", ""), 200);
    },
  },
];

/** Objects with a row each, two for a request: the call of the second needs what the first says. */
function sleepers(name: string, route: string, count: number): Case {
  return {
    name,
    front: "floors",
    connections: 1,
    make: async (place) => {
      await makeTable(place);
      const names = Array.from({ length: 2 * count }, (_, n) => `${route}-${n}`);
      for (const each of names) await (await place.ask(`/write/${each}`, { method: "POST" }, "floors")).text();
      const requests = names.slice(count).map((other, n) => get(`/${route}/${names[n]}/${other}`, ""));
      return onceInARun(requests, 200);
    },
  };
}

/** Makes the table of the D1 queries. */
function makeTable(place: Place): Promise<void> {
  const sql = "create table rows (id integer primary key)";
  return place.once("the floors' table", () => place.sql("floors", [{ sql, values: [] }]));
}

function spread(chats: number): Case {
  const requests = Array.from({ length: chats }, (_, n) => get(`/list/chat-${n}`, ""));
  return {
    name: bareSpread(chats),
    front: "floors",
    connections: CONNECTIONS,
    make: async () => inTurn(requests, 200),
  };
}

function floor(name: string, bytes: string, connections = CONNECTIONS, status = 200): Case {
  return { name, front: "floors", connections, make: async () => same(bytes, status) };
}
