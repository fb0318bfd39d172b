import { type Case, CONNECTIONS, type Goal, inTurn, onceInARun, same } from "./cases.ts";
import type { Place } from "./fixtures.ts";
import { CALLS } from "./many-calls.ts";
import { get, post } from "./request.ts";
import type { Sizes } from "./sizes.ts";

export const BARE = "bare: one Hono route";
/** The most that a refusal can reach: nothing is checked, and only the headers are those of the service. */
export const REFUSAL = "bare, with the headers of a refusal";
const BARE_ALONE = "bare, one connection";
const ONE_CALL = "one empty object call";
export const TWO_CALLS = "two at once";
export const TWO_ALONE = "two at once, one connection";
/** The bounds of a list and a send: their calls and their answer's size and headers, without any work of the service. */
export const BARE_LIST = "a list's two calls and its answer";
export const BARE_LIST_ALONE = "a list's two calls and its answer, one connection";
export const BARE_SEND_ALONE = "a send's two calls, two rows and its answer, one connection";
export const BARE_SPREAD = "a list's two calls and its answer, many objects";
export const MANY_CALLS = `${CALLS} empty object calls at once`;
export const ONE_WRITE = "one call that writes a row";
export const WRITE_ALONE = "one call that writes a row, one connection";
const ONE_QUERY = "one D1 query";
export const ASLEEP = "two objects that were asleep, one after the other";
export const ASLEEP_AND_QUERY = "two objects that were asleep, and a D1 query between them";

/** The bare route that a case with this number of connections is compared to. */
export function bareOf(connections: number): string {
  return connections === 1 ? BARE_ALONE : BARE;
}

/** A share of the rate of the bare route. */
export function toBare(must: number, aim?: number): Goal {
  return { to: BARE, of: "rate", must, ...(aim !== undefined && { aim }) };
}

/** What the platform takes for a part of what the service does. */
export function floorCases({ asleep, keys }: Sizes): Case[] {
  return [
    ...FLOORS,
    bareSpread(keys),
    sleepers(ASLEEP, "read", asleep),
    sleepers(ASLEEP_AND_QUERY, "read-and-query", asleep),
  ];
}

const FLOORS: Case[] = [
  floor(BARE, get("/bare", "")),
  { ...floor(REFUSAL, get("/refusal", "")), make: async () => same(get("/refusal", ""), 401) },
  floor(BARE_ALONE, get("/bare", ""), 1),
  floor(ONE_CALL, get("/one", "")),
  floor(TWO_CALLS, get("/two", "")),
  floor(TWO_ALONE, get("/two", ""), 1),
  floor(BARE_LIST, get("/list/one/two", "")),
  floor(BARE_LIST_ALONE, get("/list/one/two", ""), 1),
  floor(BARE_SEND_ALONE, post("/send/one/sent", '{"content":"Hello"}'), 1, 201),
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

/** Lists whose objects are others for each request. */
function bareSpread(count: number): Case {
  const requests = Array.from({ length: count }, (_, n) => get(`/list/key-${n}/chat-${n}`, ""));
  return { name: BARE_SPREAD, front: "floors", connections: CONNECTIONS, make: async () => inTurn(requests, 200) };
}

function floor(name: string, bytes: string, connections = CONNECTIONS, status = 200): Case {
  return { name, front: "floors", connections, make: async () => same(bytes, status) };
}
