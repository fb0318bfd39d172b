import fc from "fast-check";
import { Hono } from "hono";
import { expect, test } from "vitest";
import {
  fingerprintOf,
  handoverFingerprintOf,
  handoverNoteHashOf,
  idempotencyHashOf,
  noteFingerprintOf,
  noteHashOf,
  readIdempotencyKey,
  visitorUploadHashOf,
} from "../../../src/chats/idempotency.ts";
import { MESSAGE_TYPES } from "../../../src/model/content.ts";
import type { ApiError } from "../../../src/model/error.ts";
import { sendBody } from "../../../src/model/message.ts";

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

const YES = { type: "reply", id: "y", title: "Yes" };
const card = (name: string) => ({ name, phones: ["1"] });
const AT = "2026-11-20T12:00:00Z";
const LATER = "2026-11-20T13:00:00Z";

test.each<[string, Fields, Fields]>([
  ["a scheduled message and another", { scheduledAt: AT }, {}],
  ["a message that expires and another", { expiresAt: AT }, {}],
  ["two times of sending", { scheduledAt: AT }, { scheduledAt: LATER }],
  ["two times of expiry", { expiresAt: AT }, { expiresAt: LATER }],
  ["a time of sending and one of expiry", { scheduledAt: AT }, { expiresAt: AT }],
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
  ["a file or none", {}, { mediaId: "med_g1" }],
  ["two files", { mediaId: "med_g1" }, { mediaId: "med_g2" }],
  ["a note's draft or none", {}, { draftId: "note_g1" }],
  ["the drafts of two notes", { draftId: "note_g1" }, { draftId: "note_g2" }],
  ["a file and a draft of one id", { mediaId: "x" }, { draftId: "x" }],
  ["choices or none", {}, { interactive: { choices: [YES] } }],
  ["a choice's id", { interactive: { choices: [YES] } }, { interactive: { choices: [{ ...YES, id: "z" }] } }],
  [
    "a header and a footer",
    { interactive: { choices: [YES], header: "x" } },
    { interactive: { choices: [YES], footer: "x" } },
  ],
  ["two places", { location: { latitude: 1, longitude: 2 } }, { location: { latitude: 2, longitude: 1 } }],
  ["a quote or none", {}, { replyTo: "msg_g1" }],
  ["cards in another order", { contacts: [card("A"), card("B")] }, { contacts: [card("B"), card("A")] }],
])("different fingerprints for %s", async (_what, one, other) => {
  expect(await fingerprint(one)).not.toBe(await fingerprint(other));
});

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

test("the fingerprint of a plain request is the one that is stored since the first version", async () => {
  const body = { content: "Hi", variables: { b: 2, a: "1" }, metadata: { y: "2", x: "1" } };
  const nothing = { interactive: null, location: null, contacts: null, replyTo: null };
  const stored = "4b4c3caae7bd8488e8fc9d648757cc99895c8e72fb7d632fe37336a716f78305";
  expect([await fingerprint(body), await fingerprint({ ...body, ...nothing })]).toEqual([stored, stored]);
});

test.each<[Fields, string]>([
  [{}, ""],
  [{ scheduledAt: "1970-01-01T00:00:01Z" }, ",1000,null"],
  [{ expiresAt: "1970-01-01T00:00:02Z" }, ",null,2000"],
  [{ replyTo: "msg_g1" }, ',{"replyTo":"msg_g1"}'],
  [{ replyTo: "msg_g1", expiresAt: "1970-01-01T00:00:02Z" }, ',null,2000,{"replyTo":"msg_g1"}'],
  [
    { interactive: { footer: "F", header: null, choices: [{ title: "Yes", section: null, id: "y", type: "reply" }] } },
    ',{"interactive":{"choices":[{"type":"reply","id":"y","title":"Yes"}],"footer":"F"}}',
  ],
  [
    { replyTo: "msg_g1", location: { name: "N", longitude: 2, latitude: 1.5, address: null } },
    ',{"location":{"latitude":1.5,"longitude":2,"name":"N"},"replyTo":"msg_g1"}',
  ],
  [{ draftId: "note_g1" }, ',{"draftId":"note_g1"}'],
  [{ mediaId: "med_g1" }, ',{"mediaId":"med_g1"}'],
  [{ replyTo: "msg_g1", mediaId: "med_g1" }, ',{"mediaId":"med_g1"},{"replyTo":"msg_g1"}'],
  [{ contacts: [{ phones: ["1"], name: "A" }] }, ',{"contacts":[{"name":"A","phones":["1"]}]}'],
])("the fingerprint of a request with %j never changes between versions", async (times, end) => {
  const body = { content: "Hi", variables: { b: 2, a: "1" }, metadata: { y: "2", x: "1" }, ...times };
  const meaning = `["Hi","TEXT",null,null,[["a","1"],["b",2]],null,[["x","1"],["y","2"]]${end}]`;
  expect(await fingerprint(body)).toBe((await sha256(meaning)).toHex());
});

test.each([
  ["a message", idempotencyHashOf, '["cht_g1","k"]'],
  ["a visitor's file", visitorUploadHashOf, '["cht_g1","visitor","k"]'],
  ["a note", noteHashOf, '["cht_g1","note","k"]'],
  ["the note of a handover", handoverNoteHashOf, '["cht_g1","handover","k"]'],
])("the hash of a key of %s never changes between versions, and no other has it", async (_what, hashOf, meaning) => {
  expect(await hashOf("cht_g1", "k")).toBe((await sha256(meaning)).toBase64());
});

test.each<[string, string[], boolean, string]>([
  ["Call them", [], false, '["Call them",[]]'],
  ["Call them", [], true, '["Call them",[],"draft"]'],
  ["Call them", ["mbr_g2", "mbr_g1"], false, '["Call them",["mbr_g1","mbr_g2"]]'],
  ["Call them", ["mbr_g1", "mbr_g2"], true, '["Call them",["mbr_g1","mbr_g2"],"draft"]'],
])("the fingerprint of the note %j of %j, a draft: %s, never changes", async (content, mentions, isDraft, meaning) => {
  const asked = [...mentions];
  expect(await noteFingerprintOf(content, asked, isDraft)).toBe((await sha256(meaning)).toHex());
  expect(asked).toEqual(mentions);
});

test("the fingerprint of a handover is one of all that it asks for, in its order", async () => {
  const asked = ["team", null, { note: "Hi" }];
  expect(await handoverFingerprintOf(asked)).toBe((await sha256('["team",null,{"note":"Hi"}]')).toHex());
});

test.each<[string | undefined, unknown]>([
  [undefined, null],
  ["k", "k"],
  ["x".repeat(255), "x".repeat(255)],
  ["", "must have 1 to 255 characters"],
  ["x".repeat(256), "must have 1 to 255 characters"],
  ["one,two", "must be one key without a comma"],
])("the header Idempotency-Key %j is read as %j", async (key, expected) => {
  const app = new Hono().get("/", (c) => c.json(readIdempotencyKey(c)));
  app.onError((error, c) => c.json((error as ApiError).faults, 400));
  const response = await app.request("/", { headers: key === undefined ? {} : { "Idempotency-Key": key } });
  expect(await response.json()).toEqual(response.ok ? expected : [{ path: "Idempotency-Key", message: expected }]);
});
