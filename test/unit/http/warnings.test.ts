import { Hono } from "hono";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { errorResponse } from "../../../src/http/error-response.ts";
import { type RequestVariables, requestLog } from "../../../src/http/request-log.ts";
import { validBody, warnWithin } from "../../../src/http/validation.ts";
import { MAX_WARNING, MAX_WARNINGS, type WarningVariables } from "../../../src/http/warnings.ts";
import type { ApiError } from "../../../src/model/error.ts";
import { optional } from "../../../src/model/field.ts";
import { metadata, sendBody } from "../../../src/model/message.ts";

const body = z.object({
  name: z.optional(z.string()),
  place: optional(z.object({ city: z.optional(z.string()) })),
  choices: optional(
    z.array(
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("reply"), id: z.string() }),
        z.object({ type: z.literal("link"), url: z.string() }),
      ]),
    ),
  ),
  week: optional(z.record(z.string(), z.array(z.object({ opens: z.string() })))),
  settings: optional(z.record(z.string(), z.unknown())),
  metadata,
});

/** The warnings of the response to this JSON. */
async function warningsOf(text: string, schema: z.ZodMiniType = body): Promise<string[] | undefined> {
  const app = new Hono<{ Bindings: Env; Variables: RequestVariables }>();
  app.use(requestLog());
  app.post("/", validBody(schema), (c) => c.json({ done: true }, 201));
  app.onError((error, c) => errorResponse(error as ApiError, c.get("responseHeaders")));
  const response = await app.request("/", { method: "POST", body: text }, { LOG_REQUESTS: "none" });
  const { warnings, ...rest } = (await response.json()) as { warnings?: string[] };
  expect([response.status, rest]).toEqual([201, { done: true }]);
  expect(response.headers.get("Content-Type")).toBe("application/json");
  return warnings;
}

test.each([
  ['{"nmae":"Ada"}', "nmae is not a field"],
  ['{"nmae":null}', "nmae is not a field"],
  ['{"constructor":{"name":"x"}}', "constructor is not a field"],
  ['{"place":{"town":"Rome"}}', "place.town is not a field"],
  ['{"choices":[{"type":"link","url":"u"},{"type":"reply","id":"1","url":"u"}]}', "choices.1.url is not a field"],
  ['{"week":{"monday":[{"opens":"09:00","clsoes":"17:00"}]}}', "week.monday.0.clsoes is not a field"],
  ['{"settings":{"__proto__":1}}', "settings.__proto__ is not a field"],
  ['{"__proto__":{"name":"x"}}', "__proto__ is not a field"],
  ['{"Name":"Ada"}', "Name is not a field"],
  ['{"":1}', '"" is not a field'],
  ['{"name ":"Ada"}', '"name " is not a field'],
  ['{"place.city":"Rome"}', '"place.city" is not a field'],
  ['{"a\\"b":1}', '"a\\"b" is not a field'],
  ['{"\\u001b[31m":1}', '"\\u001b[31m" is not a field'],
  ['{"a\\u007f\\u009b":1}', '"a\\u007f\\u009b" is not a field'],
  ['{"\\u202etnetnoc":1}', '"\\u202etnetnoc" is not a field'],
  ['{"n\\u0430me":1}', '"n\\u0430me" is not a field'],
  ['{"\\ud83d":1}', '"\\ud83d" is not a field'],
  ['{"\\ud83d\\ude00":1}', '"\\ud83d\\ude00" is not a field'],
])("the body %s has the warning %j", async (text, warning) => {
  expect(await warningsOf(text)).toEqual([warning]);
});

test.each([
  "{}",
  '{"name":"Ada","place":{"city":"Rome"}}',
  '{"place":null,"choices":[{"type":"reply","id":"1"}],"metadata":{"any":"value"}}',
  '{"settings":{"any":{"thing":1}},"week":{"monday":[]}}',
])("the body %s has no warnings", async (text) => {
  expect(await warningsOf(text)).toBe(undefined);
});

test("a response has at most ten warnings, and says how many there would be", async () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `x${n}`);
  const bodyWith = (count: number) => JSON.stringify(Object.fromEntries(names(count).map((name) => [name, 1])));
  expect(await warningsOf(bodyWith(MAX_WARNINGS))).toEqual(names(10).map((name) => `${name} is not a field`));
  const many = [...names(9).map((name) => `${name} is not a field`), "4991 more are not fields"];
  expect(await warningsOf(bodyWith(5_000))).toEqual(many);
});

test.each([
  ["a long name", "x".repeat(50_000)],
  ["a long name that is escaped", "\u202e".repeat(10_000)],
  ["a long name of pairs", "😀".repeat(10_000)],
])("%s is cut", async (_, name) => {
  for (const given of [{ [name]: 1 }, { place: { [name]: 1 } }]) {
    const [warning = ""] = (await warningsOf(JSON.stringify(given))) ?? [];
    expect(warning).toMatch(/^[ -~]+\.\.\. is not a field$/);
    expect(warning).toHaveLength(MAX_WARNING);
  }
});

test("the parts of a send have warnings, and the names of its placeholders and pairs have none", async () => {
  const send = {
    content: "Hello",
    sheduledAt: "2027-01-31T09:00:00Z",
    variables: { any: "1" },
    metadata: { any: "1" },
    interactive: { choices: [{ type: "reply", id: "1", title: "Yes", url: "x" }], heading: "x" },
    replyTo: null,
  };
  expect(await warningsOf(JSON.stringify(send), sendBody)).toEqual([
    "sheduledAt is not a field",
    "interactive.choices.0.url is not a field",
    "interactive.heading is not a field",
  ]);
  const template = { header: { variables: { any: "1" }, location: { latitude: 1, longitude: 2, zoom: 3 } }, footer: 1 };
  const ofTemplate = { content: "x", templateId: "tpl_1", template };
  expect(await warningsOf(JSON.stringify(ofTemplate), sendBody)).toEqual([
    "template.header.location.zoom is not a field",
    "template.footer is not a field",
  ]);
});

test("a body of any fields has no unknown ones", async () => {
  expect(await warningsOf('{"any":{"field":1}}', z.unknown())).toBe(undefined);
});

test("the unknown fields of a part are named with its path, after those of the body", () => {
  let fields: WarningVariables["unknownFields"] | undefined;
  const context = {
    get: (name: "unknownFields") => ({ unknownFields: fields })[name],
    set: (name: "unknownFields", unknown: WarningVariables["unknownFields"]) => {
      fields = { unknownFields: unknown }[name];
    },
  };
  warnWithin(context, z.object({ token: z.string() }), "credentials", { token: "t" });
  expect(fields).toBe(undefined);
  warnWithin(context, z.unknown() as z.ZodMiniType, "credentials", { any: 1 });
  expect(fields).toBe(undefined);
  fields = [["nmae"]];
  warnWithin(context, z.object({ token: z.string() }), "credentials", { token: "t", user: "u" });
  warnWithin(context, z.object({ greeting: z.string() }), "settings", { greting: "Hi" });
  expect(fields).toEqual([["nmae"], ["credentials", "user"], ["settings", "greting"]]);
});
