import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { database, directory, isOutage } from "../../../src/db/client.ts";
import { organizations } from "../../../src/db/schema.ts";
import { newId } from "../../../src/model/id.ts";
import { breakDirectory, OUTAGES, outageError } from "../../support/faults.ts";

type Fetch = () => Promise<Response>;
type Binding = new (line: { fetch: Fetch }) => D1Database;

/** The runtime's own D1 binding, with a connection to the database that the test makes. */
function overLine(fetch: Fetch): Env {
  const Runtime = Object.getPrototypeOf(env.DB).constructor as Binding;
  return { ...env, DB: new Runtime({ fetch }) };
}

const lost = () => Object.assign(new Error("Network connection lost."), { retryable: true });
const broken: Fetch = () => Promise.reject(lost());
const cutOff: Fetch = async () => new Response(new ReadableStream({ start: (stream) => stream.error(lost()) }));
const failing: (error: string) => Fetch = (error) => async () => Response.json({ success: false, error });

const READS: [string, (broken: Env) => Promise<unknown>][] = [
  ["a query", (broken) => directory(broken).select().from(organizations).get()],
  ["a batch", (broken) => directory(broken).batch([directory(broken).select().from(organizations)])],
  ["a statement", (broken) => database(broken).prepare("select ?1").bind(1).first()],
  ["a batch of statements", (broken) => database(broken).batch([database(broken).prepare("select 1")])],
];

const LINES: [string, Fetch, boolean][] = [
  ["a connection that is lost", broken, true],
  ["an internal error of the platform", () => Promise.reject(new Error("internal error; reference = 1")), true],
  ["another Worker's error", () => Promise.reject(Object.assign(new Error("reset"), { remote: true })), true],
  ["a response that is cut off", cutOff, true],
  ["a response that is not JSON", async () => new Response("<html>"), true],
  ["an overloaded database", failing("D1 DB is overloaded. Requests queued for too long."), true],
  ["a full database", failing("database or disk is full: SQLITE_FULL"), true],
  ["a wrong statement", failing("no such table: x: SQLITE_ERROR"), false],
  ["a row that breaks a constraint", failing("UNIQUE constraint failed: x.id: SQLITE_CONSTRAINT"), false],
];

test.each(LINES.flatMap(([what, line, isDown]) => READS.map(([name, read]) => ({ what, line, isDown, name, read }))))(
  "$what fails $name: an outage is $isDown",
  async ({ line, isDown, read }) => {
    const error: unknown = await read(overLine(line)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(isOutage(error), String(error)).toBe(isDown);
  },
);

test("a value that D1 refuses is not an outage", async () => {
  const statement = () => database(env).prepare("select ?1").bind({}).first();
  const error = await Promise.try(statement).catch((thrown: unknown) => thrown);
  expect(String(error)).toContain("D1_TYPE_ERROR");
  expect(isOutage(error)).toBe(false);
});

test.each(OUTAGES)("the tests inject outages in the form of the runtime's binding: %s", async (outage) => {
  const { DB } = overLine(outage === "bare" ? broken : cutOff);
  const error = (await DB.prepare("select 1")
    .first()
    .catch((thrown: unknown) => thrown)) as Error;
  const injected = outageError(outage);
  expect({ ...error, message: error.message }).toEqual({ ...injected, message: injected.message });
});

test.each(OUTAGES)("the caller of an object recognizes an outage inside the object: %s", async (outage) => {
  breakDirectory(outage);
  const id = newId("key", null);
  const error: unknown = await env.KEYS.getByName(id)
    .describe(id)
    .catch((thrown) => thrown);
  vi.restoreAllMocks();
  expect(isOutage(error), String(error)).toBe(true);
});
