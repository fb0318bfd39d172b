import { Hono } from "hono";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { errorResponse } from "../../../src/http/error-response.ts";
import { afterQuery, beforeQuery, pageQuery, positionParameters } from "../../../src/http/pagination.ts";
import { fault, isSearch, validBody, validQuery } from "../../../src/http/validation.ts";
import type { ApiError } from "../../../src/model/error.ts";
import { optional, queryInteger, queryText, requiredText } from "../../../src/model/field.ts";
import { sendBody } from "../../../src/model/message.ts";

const HEADERS = { isSecure: false, own: {} };

/** The response of a route with the body `schema` to these bytes. */
async function post(schema: z.ZodMiniType, body: string, options = {}): Promise<{ status: number; json: unknown }> {
  const app = new Hono().post("/", validBody(schema, options), (c) => c.json(c.req.valid("json") as object));
  app.onError((error) => errorResponse(error as ApiError, HEADERS));
  const response = await app.request("/", { method: "POST", body });
  return { status: response.status, json: await response.json() };
}

/** The response of a route with the query `schema` to this query string. */
async function get(schema: z.ZodMiniObject, query: string): Promise<{ status: number; json: unknown }> {
  const app = new Hono().get("/", validQuery(schema), (c) => c.json(c.req.valid("query") as object));
  app.onError((error) => errorResponse(error as ApiError, HEADERS));
  const response = await app.request(`/${query}`);
  return { status: response.status, json: await response.json() };
}

test.each([
  ["1", 1],
  ["100", 100],
  ["007", 7],
])("the integer %j in a query is %d", (text, value) => {
  expect(queryInteger(1, 100).parse(text)).toBe(value);
});

test("an integer in a query has 1 to 15 digits, whatever its bounds", () => {
  const integer = queryInteger(0, Number.MAX_SAFE_INTEGER);
  expect(integer.parse("999999999999999")).toBe(999_999_999_999_999);
  expect(["", "1000000000000000"].map((text) => integer.safeParse(text).success)).toEqual([false, false]);
});

test.each([
  "",
  "0",
  "101",
  "-1",
  "+1",
  "1.0",
  "1.5",
  "1e1",
  "0x1",
  " 1",
  "1 ",
  "1\n",
  "١",
  "1_0",
  "a",
  "NaN",
  "Infinity",
  "1".repeat(16),
])("%j is not an integer from 1 to 100, and has one fault", (text) => {
  expect(queryInteger(1, 100).safeParse(text).error?.issues).toHaveLength(1);
});

test.each([
  [undefined, true],
  ["a", true],
  ["abc", true],
  ["abcd", false],
  ["🙂🙂", false],
  ["", false],
])("the text %j in a query, with at most 3 characters: %s", (text, accepted) => {
  expect(queryText(3).safeParse(text).success).toBe(accepted);
});

test.each([
  ["a", true],
  ["abc", true],
  [" a ", true],
  ["abcd", false],
  ["🙂a", true],
  ["🙂🙂", false],
  ["", false],
  [" \n", false],
  [null, false],
  [undefined, false],
  [5, false],
])("the required text %j, with at most 3 characters: %s", (text, accepted) => {
  expect(requiredText(3).safeParse(text).success).toBe(accepted);
});

test.each([null, undefined])("an optional field that is %s is absent", (value) => {
  expect(optional(z.number()).parse(value)).toBe(undefined);
});

test.each([0, "", false])("an optional field that is %j is present", (value) => {
  expect(optional(z.unknown()).parse(value)).toBe(value);
});

test("an optional field is validated if it is present", () => {
  expect(optional(z.number()).safeParse("a").success).toBe(false);
});

test("a fault is a 400 with its path", async () => {
  const response = errorResponse(fault("contact.address", "is wrong"), HEADERS);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    message: "Validation failed",
    code: "validation_failed",
    errors: [{ path: "contact.address", message: "is wrong" }],
  });
});

test("a valid body reaches the route as parsed, whatever its content type", async () => {
  expect(await post(sendBody, '{"content":"hi","x":1}')).toEqual({
    status: 200,
    json: { content: "hi", metadata: {} },
  });
});

test.each([
  "{}",
  '{"__proto__":{"content":"hi"}}',
  '{"content":null}',
  '{"content":""}',
  '{"content":" \\n"}',
  '{"content":null,"type":null}',
])("the body %s lacks one required field, and has no other fault", async (body) => {
  const json = { error: "content is required", code: "missing_field" };
  expect(await post(sendBody, body)).toEqual({ status: 400, json });
});

test("a nested required field is named by its dotted path", async () => {
  const schema = z.object({ contact: z.object({ address: requiredText(9) }) });
  expect((await post(schema, '{"contact":{}}')).json).toMatchObject({ error: "contact.address is required" });
});

test("a body with a missing field and another fault lists both", async () => {
  const { status, json } = await post(sendBody, '{"type":"X"}');
  expect(status).toBe(400);
  expect(json).toMatchObject({
    code: "validation_failed",
    errors: [{ path: "content", message: "is required" }, { path: "type" }],
  });
});

test("a required field of the wrong type is a fault, not a missing field", async () => {
  expect((await post(sendBody, '{"content":5}')).json).toMatchObject({
    code: "validation_failed",
    errors: [{ path: "content" }],
  });
});

test.each(["variables", "metadata"])("a null inside %s is a fault, not a missing field", async (field) => {
  const { json } = await post(sendBody, `{"content":"hi","${field}":{"name":null}}`);
  expect(json).toMatchObject({ code: "validation_failed", errors: [{ path: `${field}.name` }] });
});

test.each([
  "",
  " ",
  "null",
  "5",
  '"a"',
  "[]",
  '[{"content":"hi"}]',
  "{",
  '{"content":"hi"',
  "{'content':'hi'}",
  "\0",
  "content=hi",
  "true",
  '{"content":"hi"}{}',
  '{"content":"hi",}',
  '{"content":"h\ni"}',
])("the body %j is not a JSON object", async (body) => {
  const { status, json } = await post(sendBody, body);
  expect(status).toBe(400);
  expect(json).toMatchObject({ code: "validation_failed", errors: [{ path: "", message: "must be a JSON object" }] });
});

test("an empty body is an empty object only if the route allows it", async () => {
  const schema = z.object({ overlapSeconds: optional(z.number()) });
  expect(await post(schema, "", { mayBeEmpty: true })).toEqual({ status: 200, json: {} });
  expect(await post(schema, '{"overlapSeconds":5}', { mayBeEmpty: true })).toMatchObject({
    json: { overlapSeconds: 5 },
  });
  expect((await post(schema, "[]", { mayBeEmpty: true })).status).toBe(400);
  expect((await post(schema, "")).status).toBe(400);
});

test("a query without parameters has the defaults", async () => {
  expect((await get(pageQuery, "")).json).toEqual({ page: 1, limit: 20 });
});

test("a list with a cursor only is read in one direction", async () => {
  expect((await get(afterQuery, "?after=a&limit=5")).json).toEqual({ after: "a", limit: 5 });
  expect((await get(beforeQuery, "?before=a")).json).toEqual({ before: "a", limit: 20 });
  expect((await get(afterQuery, "?before=a")).json).toMatchObject({ errors: [{ path: "before" }] });
  expect((await get(beforeQuery, "?after=a&page=1")).json).toMatchObject({
    errors: [{ path: "after" }, { path: "page" }],
  });
  const all = { page: 2, limit: 5, before: "a", after: "b" };
  expect((await get(z.object(positionParameters), "?page=2&limit=5&before=a&after=b")).json).toEqual(all);
});

test.each([
  ["", false],
  ["?search=a", true],
  ["?search=", true],
  ["?search", true],
  ["?limit=5&search=a", true],
  ["?se%61rch=a", true],
  ["?%73earch=a", true],
  ["?searching=a", false],
  ["?research=a", false],
  ["?limit=search", false],
  ["?limit=%20", false],
])("the query %j is a search: %s", (query, expected) => {
  expect(isSearch(`https://parley.test/search/v1${query}`)).toBe(expected);
});

test("each unknown query parameter is reported once", async () => {
  const { status, json } = await get(pageQuery, "?page=2&x=1&limit=5&x=2&y");
  expect(status).toBe(400);
  expect(json).toMatchObject({ code: "validation_failed", errors: [{ path: "x" }, { path: "y" }] });
});

test.each([
  ["?limit=0", "limit"],
  ["?limit=101", "limit"],
  ["?limit=", "limit"],
  ["?limit=1&limit=1", "limit"],
  ["?limit=5.0", "limit"],
  ["?page=0", "page"],
  ["?page=-1", "page"],
  ["?page=", "page"],
  ["?page=1&page=2", "page"],
  ["?page=1000000000000000", "page"],
  ["?before=", "before"],
  ["?after=", "after"],
  ["?before=a&before=b", "before"],
  [`?after=${"a".repeat(65)}`, "after"],
])("the query %s is refused, not clamped", async (query, path) => {
  const { status, json } = await get(z.object(positionParameters), query);
  expect(status).toBe(400);
  expect(json).toMatchObject({ code: "validation_failed", errors: [{ path }] });
});

test("no error has both text fields", async () => {
  const answers = [await post(sendBody, "{}"), await post(sendBody, '{"type":"X"}'), await post(sendBody, "")];
  for (const { json } of answers)
    expect(["message", "error"].filter((field) => Object.hasOwn(json as object, field))).toHaveLength(1);
});

const numbers = (text: string) => `{"content":"x","templateId":"tpl_1","variables":{"n":${text}}}`;

test.each([
  ["12345678901234567890", "12345678901234567000"],
  ["-9007199254740993", "-9007199254740992"],
  ["0.1234567890123456789", "0.12345678901234568"],
  ["19.900000000000000000001", "19.9"],
  ["1e21", "1e+21"],
  ["1000000000000000000000", "1e+21"],
  ["0.0000001", "1e-7"],
  [`1.${"0".repeat(30_000)}`, "1"],
  [`0.${"0".repeat(30_000)}1`, "0"],
])("a variable that is the number %s would be %s: a 400 that says so", async (written, sent) => {
  const message = `would be sent as ${sent}. Send it as text, in quotes`;
  for (const body of [numbers(written), `{"variables":{"n":1},${numbers(` ${written}\n`).slice(1)}`]) {
    const { status, json } = await post(sendBody, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: "validation_failed", errors: [{ path: "variables.n", message }] });
  }
});

test.each([
  ["19.90", 19.9],
  ["2.0", 2],
  ["-0", -0],
  ["0.000", 0],
  ["1E2", 100],
  ["12.5e-1", 1.25],
  ["0.30000000000000004", 0.30000000000000004],
  ["9007199254740992", 9007199254740992],
  ["123456789012345680000", 123456789012345680000],
])("a variable that is the number %s stays the same", async (written, value) => {
  const { status, json } = await post(sendBody, numbers(written));
  expect(status).toBe(200);
  expect((json as { variables: object }).variables).toEqual({ n: JSON.parse(JSON.stringify(value)) });
});

test("each number that would change is named, in the header of a template too, and others don't matter", async () => {
  const wrong = "12345678901234567890";
  const template = `"template":{"header":{"variables":{"a":1,"b":${wrong}}}}`;
  const { json } = await post(
    sendBody,
    `{"content":"${wrong}","templateId":"t","variables":{"c":${wrong},"d":"${wrong}"},${template},"other":${wrong}}`,
  );
  expect((json as { errors: { path: string }[] }).errors.map(({ path }) => path)).toEqual([
    "variables.c",
    "template.header.variables.b",
  ]);
});

test("numbers in a body that is nested too deeply to be read again are refused", async () => {
  const deep = `"other":${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  const { status, json } = await post(sendBody, `{"content":"x","variables":{"n":1},${deep}}`);
  expect([status, (json as { errors: object[] }).errors]).toEqual([
    400,
    [{ path: "variables.n", message: "can't be read exactly in a body that is nested this deeply" }],
  ]);
  expect((await post(sendBody, `{"content":"x","variables":{"n":"1"},${deep}}`)).status).toBe(200);
});
