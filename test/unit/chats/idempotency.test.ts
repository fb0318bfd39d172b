import fc from "fast-check";
import { expect, test } from "vitest";
import { MESSAGE_TYPES } from "../../../src/channels/adapter.ts";
import { fingerprintOf } from "../../../src/chats/idempotency.ts";
import { sendBody } from "../../../src/chats/message.ts";

type Fields = Record<string, unknown>;

/** The fingerprint of a valid request body with `fields`. */
function fingerprint(fields: Fields): Promise<string> {
  return fingerprintOf(sendBody.parse(JSON.parse(JSON.stringify({ content: "hi", ...fields }))));
}

/** The same fields in another order, down to the pairs of each object. */
function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

const name = fc.stringMatching(/^[a-z0-9]{1,4}$/);
const fields = fc.record(
  {
    content: fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== ""),
    type: fc.constantFrom(...MESSAGE_TYPES),
    senderId: name,
    templateId: name,
    variables: fc.dictionary(name, fc.oneof(fc.string(), fc.integer())),
    mediaUrl: name.map((path) => `https://example.com/${path}`),
    metadata: fc.dictionary(name, fc.string()),
  },
  { requiredKeys: ["content"] },
);

test("a fingerprint is 64 hex digits", async () => {
  expect(await fingerprint({})).toMatch(/^[0-9a-f]{64}$/);
});

test("the order of fields and pairs does not change a fingerprint", async () => {
  await fc.assert(
    fc.asyncProperty(fields, async (body) => {
      expect(await fingerprint(reversed(body) as Fields)).toBe(await fingerprint(body));
    }),
  );
});

test("nulls and unknown fields don't change a fingerprint", async () => {
  const nulls = { type: null, senderId: null, templateId: null, variables: null, mediaUrl: null, metadata: null };
  await fc.assert(
    fc.asyncProperty(fields, async (body) => {
      expect(await fingerprint({ ...nulls, unknown: "x", ...body })).toBe(await fingerprint(body));
    }),
  );
});

test("another value in any field gives another fingerprint", async () => {
  await fc.assert(
    fc.asyncProperty(fields, fields, async (one, other) => {
      for (const [field, value] of Object.entries(other)) {
        // With a template the type has no meaning, and empty metadata equals none.
        if (field === "type" && one.templateId !== undefined) continue;
        const changed = { ...one, [field]: value };
        const before = sendBody.parse(one);
        if (JSON.stringify(reversed(sendBody.parse(changed))) === JSON.stringify(reversed(before))) continue;
        if (field === "type" && value === "TEXT" && one.type === undefined) continue;
        expect(await fingerprint(changed), field).not.toBe(await fingerprint(one));
      }
    }),
  );
});

test.each<[string, Fields, Fields]>([
  ["TEXT, given or not", {}, { type: "TEXT" }],
  ["a template, whatever the type", { templateId: "t" }, { templateId: "t", type: "IMAGE" }],
  ["metadata, empty or absent", {}, { metadata: {} }],
  ["numbers, however written", { variables: { n: 1 } }, { variables: { n: 1.0 } }],
])("one fingerprint for %s", async (_what, one, other) => {
  expect(await fingerprint(one)).toBe(await fingerprint(other));
});

test.each<[string, Fields, Fields]>([
  ["content", { content: "hi" }, { content: "hi " }],
  ["the case of content", { content: "hi" }, { content: "Hi" }],
  ["composed and decomposed letters", { content: "\u00e9" }, { content: "e\u0301" }],
  ["types", { type: "IMAGE" }, { type: "VIDEO" }],
  ["a type and a template", { type: "TEMPLATE" }, { templateId: "t" }],
  ["sender and template swapped", { senderId: "a", templateId: "b" }, { senderId: "b", templateId: "a" }],
  ["a number and its text", { variables: { n: 1 } }, { variables: { n: "1" } }],
  ["variables' values swapped", { variables: { a: "x", b: "y" } }, { variables: { a: "y", b: "x" } }],
  ["a pair among variables or metadata", { variables: { a: "x" } }, { metadata: { a: "x" } }],
  ["one pair and two", { metadata: { a: "b,c" } }, { metadata: { a: "b", c: "" } }],
  ["the value of a pair", { metadata: { a: "b" } }, { metadata: { a: "c" } }],
  ["the key of a pair", { metadata: { a: "b" } }, { metadata: { c: "b" } }],
  ["media or none", {}, { mediaUrl: "https://example.com/" }],
])("different fingerprints for %s", async (_what, one, other) => {
  expect(await fingerprint(one)).not.toBe(await fingerprint(other));
});

test("the fingerprint of a request never changes between versions", async () => {
  const body = sendBody.parse({ content: "Hi", variables: { b: 2, a: "1" }, metadata: { y: "2", x: "1" } });
  const meaning = '["Hi","TEXT",null,null,[["a","1"],["b",2]],null,[["x","1"],["y","2"]]]';
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(meaning));
  expect(await fingerprintOf(body)).toBe(new Uint8Array(digest).toHex());
});
