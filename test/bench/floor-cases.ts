import { type Case, CONNECTIONS } from "./cases.ts";
import { get, post } from "./request.ts";

export const HELLO = "hello: one bare Hono route";
export const LOGGED = "hello, and one line of log";
const HELLO_ALONE = "hello, one connection";
export const ONE_CALL = "one empty object call";
export const TWO_CALLS = "two at once";
export const TWO_ALONE = "two at once, one connection";
export const ONE_WRITE = "one call that writes a row";
export const ONE_QUERY = "one D1 query";

/** What a case with so many connections is compared to. */
export function helloOf(connections: number): string {
  return connections === 1 ? HELLO_ALONE : HELLO;
}

export const FLOORS: Case[] = [
  floor(HELLO, get("/hello", "")),
  floor(LOGGED, get("/logged", "")),
  floor(HELLO_ALONE, get("/hello", ""), 1),
  floor(ONE_CALL, get("/one", "")),
  floor(TWO_CALLS, get("/two", "")),
  floor(TWO_ALONE, get("/two", ""), 1),
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
      return { request: () => bytes, status: 200 };
    },
  };
}
