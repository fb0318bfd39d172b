import { expect, test } from "vitest";
import * as z from "zod/mini";
import { MESSAGE_TYPES } from "../../../src/model/content.ts";
import {
  DIRECTIONS,
  expiryOf,
  MESSAGE_STATUSES,
  mergedMetadata,
  metadataPatch,
  resendBody,
  sendBody,
  typeOf,
} from "../../../src/model/message.ts";

/** Validates the body of a request with `fields`. */
function validated(fields: object) {
  return sendBody.parse(JSON.parse(JSON.stringify({ content: "hi", ...fields })));
}

/** The paths of the faults in a JSON body; empty if it is valid. */
function faultsOf(text: string): string[] {
  const result = sendBody.safeParse(JSON.parse(text));
  return result.success ? [] : result.error.issues.map((issue) => issue.path.join("."));
}

function faultsWith(fields: object): string[] {
  return faultsOf(JSON.stringify({ content: "hi", ...fields }));
}

function pairs(count: number, value = "value"): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, place) => [`key${place}`, value]));
}

/** Metadata that has this many bytes as JSON: each é has two. */
function metadataOf(bytes: number): Record<string, string> {
  const most = pairs(4, "é".repeat(500));
  return { ...most, rest: "x".repeat(bytes - JSON.stringify({ ...most, rest: "" }).length - 2_000) };
}

test.each([
  ["one character", "a"],
  ["4,096 characters", "a".repeat(4_096)],
  ["2,048 surrogate pairs", "🙂".repeat(2_048)],
  ["a NUL in text", "a\0b"],
  ["white space around text", "  a\n"],
  ["a zero-width joiner in text", "\u0915\u094d\u200d"],
])("content of %s is accepted as it is", (_what, content) => {
  expect(validated({ content }).content).toBe(content);
});

test.each([
  ["4,097 characters", "a".repeat(4_097)],
  ["2,048 surrogate pairs and a letter", `${"🙂".repeat(2_048)}a`],
  ["4,097 spaces and letters", `${" ".repeat(4_096)}a`],
  ["an empty string", ""],
  ["spaces", "   "],
  ["a NUL", "\0"],
  ["a zero-width joiner", "\u200d"],
  ["line ends and tabs", "\r\n\t\v\f"],
  ["white space beyond ASCII", "\u00a0\u2003\u3000\u2028\ufeff"],
  ["null", null],
  ["a number", 5],
  ["a boolean", true],
  ["an array", ["a"]],
  ["an object", {}],
])("content of %s is refused", (_what, content) => {
  expect(faultsWith({ content })).toEqual(["content"]);
});

test("content is required even with a template", () => {
  expect(faultsOf('{"templateId":"tpl_1"}')).toEqual(["content"]);
});

test("null in an optional field means absent", () => {
  const nulls = { type: null, senderId: null, templateId: null, variables: null, mediaUrl: null, metadata: null };
  expect(validated(nulls)).toEqual(validated({}));
});

test("unknown fields are ignored", () => {
  expect(validated({ contents: 5, constructor: "x" })).toEqual(validated({}));
});

test("fields under __proto__ are ignored", () => {
  expect(sendBody.parse(JSON.parse('{"content":"hi","__proto__":{"type":"IMAGE"}}')).type).toBe(undefined);
});

test.each([[""], ["k".repeat(41)]])("the error of the metadata key %j says how long a key can be", (key) => {
  const { error } = sendBody.safeParse({ content: "hi", metadata: { [key]: "value" } });
  expect(error?.issues.map(({ path, message }) => [path.join("."), message])).toEqual([
    [`metadata.${key}`, "must have a key of 1 to 40 characters"],
  ]);
});

test("all faults are listed", () => {
  const faults = faultsOf('{"type":"X","senderId":5,"mediaUrl":"x","metadata":{"a":1},"variables":{"b":[]}}');
  expect(faults.sort()).toEqual(["content", "mediaUrl", "metadata.a", "senderId", "type", "variables.b"]);
});

test.each(MESSAGE_TYPES)("the type %s is accepted with any content", (type) => {
  expect(validated({ type }).type).toBe(type);
});

test.each(["text", "", "STICKER", "TEXT ", 0, true, ["TEXT"], "toString"])("the type %j is refused", (type) => {
  expect(faultsWith({ type })).toEqual(["type"]);
});

test.each(["", 5, {}])("the senderId and templateId %j are refused", (id) => {
  expect(faultsWith({ senderId: id, templateId: id })).toEqual(["senderId", "templateId"]);
});

test("variables are strings and finite numbers", () => {
  const variables = { name: "Ada", empty: "", count: 0, price: -1.5, constructor: "x", toString: "y" };
  expect(validated({ variables }).variables).toEqual(variables);
});

test.each(["1e999", "-1e999", "null", "true", "[]", "{}", '["a"]'])("a variable of %s is refused", (value) => {
  expect(faultsOf(`{"content":"hi","variables":{"a":${value}}}`)).toEqual(["variables.a"]);
});

test.each(['"a"', "5", "true", "[]", '["a"]'])("variables that are %s are refused", (value) => {
  expect(faultsOf(`{"content":"hi","variables":${value}}`)).toEqual(["variables"]);
});

test("metadata is empty by default", () => {
  expect(validated({}).metadata).toEqual({});
});

test.each([
  ["20 pairs", pairs(20)],
  ["a key of one character", { k: "v" }],
  ["a key of 40 characters", { ["k".repeat(40)]: "v" }],
  ["an empty value", { k: "" }],
  ["a value of 500 characters", { k: "v".repeat(500) }],
  ["a value of 250 surrogate pairs", { k: "🙂".repeat(250) }],
  ["4,096 bytes", metadataOf(4_096)],
  ["keys that every object inherits", { constructor: "a", toString: "b", hasOwnProperty: "c" }],
])("metadata of %s is accepted as it is", (_what, metadata) => {
  expect(validated({ metadata }).metadata).toEqual(metadata);
});

test.each([
  ["21 pairs", pairs(21), "metadata"],
  ["an empty key", { "": "v" }, "metadata."],
  ["a key of 41 characters", { ["k".repeat(41)]: "v" }, `metadata.${"k".repeat(41)}`],
  ["a value of 501 characters", { k: "v".repeat(501) }, "metadata.k"],
  ["a value of 251 surrogate pairs", { k: "🙂".repeat(251) }, "metadata.k"],
  ["a key of 21 surrogate pairs", { ["🙂".repeat(21)]: "v" }, `metadata.${"🙂".repeat(21)}`],
  ["a number", { k: 5 }, "metadata.k"],
  ["a null", { k: null }, "metadata.k"],
  ["a list as value", { k: ["v"] }, "metadata.k"],
  ["an object as value", { k: {} }, "metadata.k"],
  ["a list", ["v"], "metadata"],
  ["a text", "v", "metadata"],
])("metadata with %s is refused", (_what, metadata, path) => {
  expect(faultsWith({ metadata })).toEqual([path]);
});

test.each([
  ['{"content":"Hi","metadata":{"__proto__":"x","k":"v"}}', "metadata must not have the key __proto__"],
  ['{"content":"Hi","metadata":{"__proto__":5}}', "metadata must not have the key __proto__"],
  ['{"content":"Hi","variables":{"__proto__":"x"}}', "variables must not have the key __proto__"],
  ['{"content":"Hi","variables":{"__proto__":true}}', "variables must not have the key __proto__"],
  ['{"content":"Hi","variables":{"a":true}}', "variables.a must be a string or a number"],
  ['{"content":"Hi","variables":{"a":1e999}}', "variables.a must be a string or a number"],
  ['{"content":"Hi","mediaUrl":"http://media.test/a"}', "mediaUrl must be an https URL"],
  ['{"content":"Hi","variables":{"a":"\\ud83d"}}', "variables.a must be well-formed Unicode"],
  ['{"content":"Hi","metadata":{"\\ud83d":"v"}}', "metadata must have keys of well-formed Unicode"],
  ['{"content":"Hi","metadata":["v"]}', "metadata must be an object"],
  ['{"content":"Hi","mediaUrl":"https://user@media.test/a"}', "mediaUrl must be an https URL"],
  [JSON.stringify({ content: "Hi", metadata: pairs(21) }), "metadata must have at most 20 pairs"],
  [JSON.stringify({ content: "Hi", metadata: pairs(21, "v".repeat(500)) }), "metadata must have at most 20 pairs"],
  [JSON.stringify({ content: "Hi", metadata: metadataOf(4_097) }), "metadata must have at most 4096 bytes as JSON"],
])("the body %s has a specific fault", (body, words) => {
  const { error } = sendBody.safeParse(JSON.parse(body));
  expect(error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`)).toEqual([words]);
});

test.each([
  "https://example.com/a.jpg",
  "HTTPS://EXAMPLE.COM/",
  "https://example.com:8443/a?b=c#d",
  "https://[2001:db8::1]/",
  "https://müller.example/",
])("the mediaUrl %s is accepted as it is", (mediaUrl) => {
  expect(validated({ mediaUrl }).mediaUrl).toBe(mediaUrl);
});

test.each([
  "http://example.com/a.jpg",
  "javascript:alert(1)",
  "data:image/png;base64,AAAA",
  "ftp://example.com/",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "//example.com/a.jpg",
  "/a.jpg",
  "example.com",
  "https://",
  "https:",
  "",
  "https://user@example.com/",
  "https://user:secret@example.com/",
  "https://:secret@example.com/",
  "https://exa mple.com/",
  "https://example.com:99999/",
  5,
  {},
  ["https://example.com/"],
])("the mediaUrl %j is refused", (mediaUrl) => {
  expect(faultsWith({ mediaUrl })).toContain("mediaUrl");
});

test("a mediaUrl has at most 2,048 characters", () => {
  const urlOf = (length: number) => "https://example.com/".padEnd(length, "a");
  expect([faultsWith({ mediaUrl: urlOf(2_048) }), faultsWith({ mediaUrl: urlOf(2_049) })]).toEqual([[], ["mediaUrl"]]);
});

test("the documented pattern of a mediaUrl is that of the whole text", () => {
  const { properties } = z.toJSONSchema(sendBody, { io: "input", unrepresentable: "any" });
  const { mediaUrl } = properties as { mediaUrl: { anyOf: [{ pattern: string }] } };
  const pattern = new RegExp(mediaUrl.anyOf[0].pattern);
  const texts = ["https://media.test/a", "xhttps://media.test/a", "https://media.test/a b", "https://media.test\\a"];
  expect(texts.filter((text) => pattern.test(text))).toEqual(["https://media.test/a"]);
});

test("a senderId and a templateId have at most 64 characters", () => {
  expect(faultsWith({ senderId: "m".repeat(64), templateId: "t".repeat(64) })).toEqual([]);
  expect(faultsWith({ senderId: "m".repeat(65), templateId: "t".repeat(65) })).toEqual(["senderId", "templateId"]);
});

test.each(["senderId", "mediaId", "replyTo", "draftId"])("the id %s has 1 to 64 characters", (field) => {
  expect(["a", "a".repeat(64)].map((id) => faultsWith({ [field]: id }))).toEqual([[], []]);
  expect(["", "a".repeat(65)].map((id) => faultsWith({ [field]: id }))).toEqual([[field], [field]]);
});

test.each([
  ["ifSeq", [0, 1, null], [-1, 0.5, "1"]],
  ["ifOpen", [true, false, null], [0, "true"]],
  ["scheduledAt", ["2026-11-20T12:00:00Z", null], ["soon", 5]],
  ["expiresAt", ["2026-11-20T12:00:00Z", null], ["soon", 5]],
])("a send and a resend read %s", (field, right, wrong) => {
  for (const schema of [sendBody, resendBody]) {
    const isValid = (value: unknown) => schema.safeParse({ content: "hi", [field]: value }).success;
    expect(right.map(isValid)).toEqual(right.map(() => true));
    expect(wrong.map(isValid)).toEqual(wrong.map(() => false));
    const [first] = right;
    expect(schema.parse({ content: "hi", [field]: first })).toHaveProperty(
      field,
      typeof first === "string" ? Date.parse(first) : first,
    );
  }
});

test("directions and statuses are those that clients and stored messages have", () => {
  expect(DIRECTIONS).toEqual(["OUTBOUND", "INBOUND"]);
  expect(MESSAGE_STATUSES).toEqual([
    "SCHEDULED",
    "QUEUED",
    "SENT",
    "DELIVERED",
    "READ",
    "FAILED",
    "CANCELED",
    "RECEIVED",
  ]);
});

test("a message without type and template is TEXT", () => {
  expect(typeOf(validated({}))).toBe("TEXT");
});

test.each(MESSAGE_TYPES)("a message keeps its type %s without a template", (type) => {
  expect(typeOf(validated({ type }))).toBe(type);
});

test.each([...MESSAGE_TYPES, null])("a message with a template is TEMPLATE even if its type is %s", (type) => {
  expect(typeOf(validated({ type, templateId: "tpl_1" }))).toBe("TEMPLATE");
});

test.each([
  ["without a change is as before, and not checked again", pairs(21), undefined, pairs(21)],
  ["changed by null is empty", { a: "1", b: "2" }, null, {}],
  ["changed by no pair is as before", { a: "1", b: "2" }, {}, { a: "1", b: "2" }],
  ["has the change's pairs", { a: "1", b: "2" }, { b: "3", c: "4" }, { a: "1", b: "3", c: "4" }],
  ["loses the pairs whose change is null", { a: "1", b: "2" }, { a: null, c: null }, { b: "2" }],
])("metadata %s", (_what, before, patch, after) => {
  expect(mergedMetadata(before, metadataPatch.parse(patch))).toEqual({ metadata: after });
});

test.each([
  [pairs(20), { key20: "value" }, "must have at most 20 pairs"],
  [metadataOf(4_096), { more: "" }, "must have at most 4096 bytes as JSON"],
])("metadata that a change makes too large is refused", (before, patch, message) => {
  expect(mergedMetadata(before, patch)).toEqual({ faults: [{ path: "metadata", message }] });
});

test.each([
  ["an empty key", '{"":"v"}', "must have a key of 1 to 40 characters"],
  ["the key __proto__", '{"__proto__":"v"}', "must not have the key __proto__"],
  ["a number", '{"k":5}', "must be a string"],
])("a change of metadata with %s is refused", (_what, patch, message) => {
  expect(metadataPatch.safeParse(JSON.parse(patch)).error?.issues).toMatchObject([{ message }]);
});

test("a resent message can have another sender and other times", () => {
  expect(resendBody.parse({})).toEqual({});
  expect(
    resendBody.parse({ senderId: "mbr_1", scheduledAt: "2026-11-20T12:00:00Z", expiresAt: "2026-11-20T13:00:00Z" }),
  ).toEqual({ senderId: "mbr_1", scheduledAt: Date.UTC(2026, 10, 20, 12), expiresAt: Date.UTC(2026, 10, 20, 13) });
  expect(resendBody.safeParse({ senderId: "", scheduledAt: 1, expiresAt: "soon" }).error?.issues.length).toBe(3);
});

test("a message without `expiresAt` never expires", () => {
  expect([expiryOf({}), expiryOf({ expiresAt: "1970-01-01T00:00:01.000Z" })]).toEqual([null, 1_000]);
});
