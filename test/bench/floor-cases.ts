import { type Case, CONNECTIONS, type Goal, same } from "./cases.ts";
import { CALLS } from "./many-calls.ts";
import { get, post } from "./request.ts";

export const BARE = "bare: one Hono route";
/** The most that a refusal can reach: nothing is checked, and only the headers are those of the service. */
export const REFUSAL = "bare, with the headers of a refusal";
const BARE_ALONE = "bare, one connection";
const ONE_CALL = "one empty object call";
export const TWO_CALLS = "two at once";
export const TWO_ALONE = "two at once, one connection";
export const MANY_CALLS = `${CALLS} empty object calls at once`;
export const ONE_WRITE = "one call that writes a row";
const ONE_QUERY = "one D1 query";

/** The bare route that a case with this number of connections is compared to. */
export function bareOf(connections: number): string {
  return connections === 1 ? BARE_ALONE : BARE;
}

/** A share of the rate of the bare route. */
export function toBare(must: number, aim?: number): Goal {
  return { to: BARE, of: "rate", must, ...(aim !== undefined && { aim }) };
}

export const FLOORS: Case[] = [
  floor(BARE, get("/bare", "")),
  { ...floor(REFUSAL, get("/refusal", "")), make: async () => same(get("/refusal", ""), 401) },
  floor(BARE_ALONE, get("/bare", ""), 1),
  floor(ONE_CALL, get("/one", "")),
  floor(TWO_CALLS, get("/two", "")),
  floor(TWO_ALONE, get("/two", ""), 1),
  floor(MANY_CALLS, get("/many", ""), 4),
  floor(ONE_WRITE, post("/write", "")),
  floor(ONE_QUERY, get("/query", ""), CONNECTIONS, async (sql) => {
    await sql([{ sql: "create table rows (id integer primary key)", values: [] }]);
  }),
];

function floor(
  name: string,
  bytes: string,
  connections = CONNECTIONS,
  prepare: (sql: (statements: { sql: string; values: [] }[]) => Promise<void>) => Promise<void> = async () => {},
): Case {
  return {
    name,
    front: "floors",
    connections,
    make: async (place) => {
      await prepare((statements) => place.sql("floors", statements));
      return same(bytes, 200);
    },
  };
}
