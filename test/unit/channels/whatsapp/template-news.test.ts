import { expect, test } from "vitest";
import { isAboutTemplate, templateNotice } from "../../../../src/channels/whatsapp/template-news.ts";

const ENTRY = { id: "102290129340398", time: 1_790_000_000 };
const NAMED = { message_template_id: 7, message_template_name: "order", message_template_language: "en-US" };
const notice = (change: object | null) => ({
  kind: "template",
  wabaId: ENTRY.id,
  name: "order",
  language: "en_US",
  at: 1_790_000_000_000,
  change,
});

test.each<[string, object, object | null]>([
  [
    "message_template_status_update",
    { event: "APPROVED", reason: "NONE" },
    { status: "APPROVED", rejectedReason: null },
  ],
  [
    "message_template_status_update",
    { event: "REJECTED", reason: "INVALID_FORMAT" },
    { status: "REJECTED", rejectedReason: "INVALID_FORMAT" },
  ],
  [
    "message_template_status_update",
    { event: "REJECTED", reason: "NONE" },
    { status: "REJECTED", rejectedReason: null },
  ],
  ["message_template_status_update", { event: "PAUSED", reason: null }, { status: "PAUSED", rejectedReason: null }],
  ["message_template_status_update", { event: "PAUSED", reason: "SPAM" }, { status: "PAUSED", rejectedReason: null }],
  [
    "message_template_status_update",
    { event: "REJECTED", reason: "two words" },
    { status: "REJECTED", rejectedReason: null },
  ],
  ["message_template_status_update", { event: "FLAGGED" }, null],
  ["message_template_status_update", {}, null],
  ["template_category_update", { previous_category: "UTILITY", new_category: "MARKETING" }, { category: "MARKETING" }],
  ["template_category_update", { new_category: 7 }, null],
  ["message_template_quality_update", { new_quality_score: "RED" }, { quality: "RED" }],
  ["message_template_quality_update", { new_quality_score: "a b" }, null],
  ["message_template_quality_update", { new_quality_score: "xRED" }, null],
  ["message_template_quality_update", { new_quality_score: "REDx" }, null],
  ["message_template_quality_update", { new_quality_score: "R".repeat(40) }, { quality: "R".repeat(40) }],
  ["message_template_quality_update", { new_quality_score: "R".repeat(41) }, null],
  ["message_template_components_update", { message_template_element: "Hi" }, null],
  ["message_template_components_update", { event: "APPROVED" }, null],
])("%s with %j", (field, value, change) => {
  expect(templateNotice(field, { ...NAMED, ...value }, ENTRY)).toEqual(notice(change));
});

test.each<[unknown, unknown]>([
  [null, ENTRY],
  [{ ...NAMED, message_template_name: "A B" }, ENTRY],
  [{ ...NAMED, message_template_name: "!order" }, ENTRY],
  [{ ...NAMED, message_template_name: "order!" }, ENTRY],
  [{ ...NAMED, message_template_name: "x".repeat(513) }, ENTRY],
  [{ ...NAMED, message_template_language: 7 }, ENTRY],
  [{ ...NAMED, message_template_language: "e" }, ENTRY],
  [{ ...NAMED, message_template_language: "1en" }, ENTRY],
  [{ ...NAMED, message_template_language: "en1" }, ENTRY],
  [{ ...NAMED, message_template_language: "x".repeat(33) }, ENTRY],
  [NAMED, { ...ENTRY, id: "a" }],
  [NAMED, { ...ENTRY, id: "a1" }],
  [NAMED, { ...ENTRY, id: "1a" }],
  [NAMED, { ...ENTRY, id: "1".repeat(33) }],
  [NAMED, null],
])("what can't be understood is no news: %j from %j", (value, from) => {
  expect(templateNotice("message_template_status_update", value, from)).toBeNull();
});

test("news without a time counts as news of now", () => {
  const before = Date.now();
  const found = templateNotice("template_category_update", { ...NAMED, new_category: "UTILITY" }, { id: ENTRY.id });
  expect(found?.at).toBeGreaterThanOrEqual(before);
});

test.each([
  "message_template_status_update",
  "message_template_quality_update",
  "message_template_components_update",
  "template_category_update",
])("%s is about a template, and a field that only begins or ends like it is not", (field) => {
  expect(isAboutTemplate(field)).toBe(true);
  expect(isAboutTemplate(`${field}_x`)).toBe(false);
  expect(isAboutTemplate(`x_${field}`)).toBe(false);
});
