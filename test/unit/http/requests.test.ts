import { Hono } from "hono";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { errorResponse } from "../../../src/http/error-response.ts";
import { positionOf } from "../../../src/http/pagination.ts";
import { parse, validBody, validQuery } from "../../../src/http/validation.ts";
import type { ApiError } from "../../../src/model/error.ts";
import { pagination } from "../../../src/model/list-page.ts";
import { causeOf } from "../../../src/platform/log.ts";

const HEADERS = { isSecure: false, own: {} };

/** The error that a client would see. */
async function told(act: () => unknown): Promise<unknown> {
  try {
    act();
  } catch (error) {
    return errorResponse(error as ApiError, HEADERS).json();
  }
  return null;
}

const invalid = (path: string, message: string, text = "Validation failed") => ({
  message: text,
  code: "validation_failed",
  errors: [{ path, message }],
});

test("a query has one position, and page 1 by default", () => {
  expect(positionOf({ limit: 20 })).toEqual({ page: 1, limit: 20 });
  expect(positionOf({ page: 3, limit: 20 })).toEqual({ page: 3, limit: 20 });
  expect(positionOf({ before: "a", limit: 20 })).toEqual({ before: "a", limit: 20 });
  expect(positionOf({ after: "a", limit: 20 })).toEqual({ after: "a", limit: 20 });
});

test("a query with two positions is refused, and the error names both", async () => {
  const place = { page: 1, limit: 20 };
  expect(await told(() => positionOf({ ...place, before: "a" }))).toEqual(
    invalid("page", "can't be given with before"),
  );
  expect(await told(() => positionOf({ ...place, after: "a" }))).toEqual(invalid("page", "can't be given with after"));
  expect(() => positionOf({ ...place, before: "a", after: "b" })).toThrow("Validation failed");
  expect(await told(() => positionOf({ limit: 20, before: "a", after: "b" }))).toEqual(
    invalid("after", "can't be given with before"),
  );
});

test.each([
  [0, 1, 0, false],
  [1, 1, 1, false],
  [20, 1, 1, false],
  [40, 1, 2, true],
  [40, 2, 2, false],
  [40, 3, 2, false],
  [41, 2, 3, true],
])("with %d rows in pages of twenty, page %d is one of %d", (total, page, totalPages, hasMore) => {
  expect(pagination({ page, limit: 20, total })).toEqual({ page, limit: 20, total, totalPages, hasMore });
});

const list = z.object({ limit: z._default(z.optional(z.string()), "20"), name: z.optional(z.string()) });

async function ask(query: string) {
  const read: unknown[] = [];
  const app = new Hono().get("/", validQuery(list), (c) => {
    read.push(c.req.valid("query"));
    return c.json(c.req.valid("query"));
  });
  app.onError((error) => errorResponse(error as ApiError, HEADERS));
  const response = await app.request(`/${query}`);
  return { status: response.status, json: await response.json(), read };
}

test("a request without a query gets the same frozen defaults each time", async () => {
  const [one, other] = [await ask(""), await ask("")];
  expect(one.json).toEqual({ limit: "20" });
  expect(Object.isFrozen(one.read[0])).toBe(true);
  expect(other.read[0]).toBe(one.read[0]);
});

test("a repeated or unknown query parameter is refused", async () => {
  expect((await ask("?name=a")).json).toEqual({ limit: "20", name: "a" });
  const unknown = invalid("other", "is not a query parameter of this route");
  expect(await ask("?name=a&other=b")).toMatchObject({ status: 400, json: unknown });
  expect(await ask("?name=a&name=b")).toMatchObject({ status: 400, json: invalid("name", "is given more than once") });
});

async function send(body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  const app = new Hono().post("/", validBody(z.object({ name: z.string() })), (c) => c.json(c.req.valid("json")));
  app.onError((error) => errorResponse(error as ApiError, HEADERS));
  const request = new Request("https://parley.test/", {
    method: "POST",
    body,
    headers,
    duplex: "half",
  } as RequestInit);
  return app.request(request);
}

async function post(body: BodyInit): Promise<unknown> {
  return (await send(body)).json();
}

test.each(["gzip", "br, gzip", "identity, gzip"])("a body with the encoding %s is refused", async (encoding) => {
  const response = await send("{}", { "Content-Encoding": encoding });
  expect([response.status, response.headers.get("Accept-Encoding")]).toEqual([415, "identity"]);
  expect(await response.json()).toMatchObject({ code: "media_type" });
});

test.each(["identity", "Identity", ""])("a body with the encoding %j is read", async (encoding) => {
  expect((await send('{"name":"Ada"}', { "Content-Encoding": encoding })).status).toBe(200);
});

const NO_OBJECT = "The request body must be a JSON object";

test("a body is UTF-8, and a byte order mark is ignored", async () => {
  expect(await post(Uint8Array.from([0x7b, 0xff, 0x7d]))).toEqual(invalid("", "must be UTF-8", NO_OBJECT));
  expect(await post('\ufeff{"name":"Ada"}')).toEqual({ name: "Ada" });
  expect(await post("[]")).toEqual(invalid("", "must be a JSON object", NO_OBJECT));
});

test("an interrupted body is refused", async () => {
  const body = new ReadableStream({
    pull(controller) {
      controller.error(new Error("hung up"));
    },
  });
  expect(await post(body)).toEqual(invalid("", "was interrupted", NO_OBJECT));
});

test("a missing field has an error of its own, unless it is in a list", async () => {
  const schema = z.object({ people: z.array(z.object({ name: z.string("is required") })), at: z.optional(z.string()) });
  const missing = { error: "body.name is required", code: "missing_field" };
  expect(await told(() => parse(z.object({ name: z.string() }), {}, ["body"]))).toEqual(missing);
  expect(await told(() => parse(schema, { people: [{}] }))).toEqual(invalid("people.0.name", "is required"));
});

test("a choice without a match is reported as a whole, also if it is missing", async () => {
  const schema = z.object({ value: z.union([z.string(), z.number()], "must be a string or a number") });
  expect(await told(() => parse(schema, { value: true }))).toEqual(invalid("value", "must be a string or a number"));
  expect(await told(() => parse(schema, {}))).toEqual(invalid("value", "must be a string or a number"));
});

test("at most eight causes are shown, and an error without a stack has no frames", () => {
  const chain = Array.from({ length: 12 }).reduce<Error | undefined>(
    (cause, _, i) => Object.assign(new Error(`e${i}`, { cause }), { stack: undefined }),
    undefined,
  );
  expect(causeOf(chain)).toBe(
    ["e11", "e10", "e9", "e8", "e7", "e6", "e5", "e4"].map((name) => `Error: ${name}`).join("\ncaused by "),
  );
});

test("a failed query without parameters is shown unchanged", () => {
  const error = Object.assign(new Error("Failed query: select 1"), { stack: "Failed query: select 1\n    at x" });
  expect(causeOf(error)).toBe("Error: Failed query: select 1\n    at x");
});
