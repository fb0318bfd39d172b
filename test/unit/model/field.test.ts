import { expect, test } from "vitest";
import * as z from "zod/mini";
import {
  atMost,
  instant,
  notBlank,
  notBlankIfGiven,
  notEmpty,
  onlyTrue,
  plainFileName,
  queryInteger,
  queryText,
  wellFormed,
} from "../../../src/model/field.ts";

const word = z.minLength(3, "must have three letters");
const wordOrNone = z.string().check(notBlankIfGiven, word);

/** What a client is told about a value. */
function faults(schema: z.ZodMiniType, value: unknown): string[] {
  return schema.safeParse(value).error?.issues.map((issue) => issue.message) ?? [];
}

test.each<[string, z.ZodMiniType, unknown, string]>([
  ["an absent text", z.string(), undefined, "is required"],
  ["a text that is null", z.string(), null, "is required"],
  ["a text of another type", z.string(), 5, "must be text"],
  ["a number of another type", z.number(), "", "must be a number"],
  ["an absent choice", z.union([z.string(), z.number()]), undefined, "is not valid"],
  ["a whole number of another type", z.int(), "1", "must be a number"],
  ["a fraction", z.int(), 1.5, "must be a whole number"],
  ["a switch of another type", z.boolean(), "yes", "must be true or false"],
  ["a list of another type", z.array(z.string()), {}, "must be a list"],
  ["an object of another type", z.object({}), [], "must be an object"],
  ["pairs of another type", z.record(z.string(), z.string()), [], "must be an object"],
  ["another type that has no word", z.bigint(), 1, "must be bigint"],
  ["another value than the only one", z.literal("a"), "b", "must be a"],
  ["a value that is not a choice", z.enum(["a", "b"]), "c", "must be one of a, b"],
  ["a filter that is only set", onlyTrue, "false", "must be true"],
  ["a short text", z.string().check(z.minLength(2)), "a", "must have at least 2 characters"],
  ["a text without its only character", z.string().check(z.minLength(1)), "", "must have at least 1 character"],
  ["a long text", z.string().check(...atMost(2)), "abc", "must have at most 2 characters"],
  ["a long text for zod", z.string().check(z.maxLength(1)), "ab", "must have at most 1 character"],
  ["a short list", z.array(z.string()).check(z.minLength(2)), ["a"], "must have at least 2 entries"],
  ["a list without its only entry", z.array(z.string()).check(z.minLength(1)), [], "must have at least 1 entry"],
  ["a long list", z.array(z.string()).check(z.maxLength(1)), ["a", "b"], "must have at most 1 entry"],
  ["a small set", z.set(z.string()).check(z.minSize(1)), new Set(), "must have at least 1 entry"],
  ["a small map", z.map(z.string(), z.string()).check(z.minSize(2)), new Map(), "must have at least 2 entries"],
  ["a small number", z.number().check(z.gte(1)), 0, "must be at least 1"],
  ["a number at its lower bound", z.number().check(z.gt(1)), 1, "must be more than 1"],
  ["a large number", z.number().check(z.lte(2)), 3, "must be at most 2"],
  ["a number at its upper bound", z.number().check(z.lt(2)), 2, "must be less than 2"],
  ["a text that is no email", z.email(), "ann", "must be an email address"],
  ["a text in another format", z.string().check(z.regex(/^a$/)), "b", "must be in the right format"],
  ["an object with other fields", z.strictObject({}), { a: 1, b: 2 }, "must not contain a, b"],
  ["a wrong key", z.record(z.string().check(z.minLength(2)), z.string()), { a: "" }, "must have at least 2 characters"],
  ["a value that a union does not have", z.union([z.string(), z.boolean()]), 1, "is not valid"],
  ["a path", z.string().check(plainFileName), "a/b", expect.stringContaining("must be a file name: without slashes")],
  ["an empty text in a query", queryText(2), "", "must not be empty"],
  ["a long text in a query", queryText(2), "abc", "must have at most 2 characters"],
  ["an empty text", z.string().check(notEmpty), "", "must not be empty"],
  ["a blank text", z.string().check(notBlank, word), " \n", "is required"],
  ["a text of invisible characters", z.string().check(notBlank, word), "\u200b\u2060\ufeff", "is required"],
  ["a text of joiners and selectors", z.string().check(notBlank, word), "\u200d\ufe0f\u{e0020}", "is required"],
  ["a text of fillers that look empty", z.string().check(notBlank, word), "\u3164\u2800\u00ad", "is required"],
  ["a text of controls", z.string().check(notBlank, word), "\0\u001b\u202e\ufff9", "is required"],
  ["a blank text that may be absent", wordOrNone, " \n", "must not be blank"],
  ["an invisible text that may be absent", wordOrNone, "\u200b", "must not be blank"],
  ["an empty text that may be absent", wordOrNone, "", "must not be blank"],
  ["a short text that may be absent", wordOrNone, "a", "must have three letters"],
  ["half a surrogate pair", z.string().check(wellFormed), "a\ud83e", "must be well-formed Unicode"],
  ["a fraction in a query", queryInteger(1, 9), "1.5", "must be an integer"],
  ["a small integer in a query", queryInteger(1, 9), "0", "must be at least 1"],
  ["a large integer in a query", queryInteger(1, 9), "10", "must be at most 9"],
  ["a date without a time", instant, "2027-01-31", "must be a time such as 2027-01-31T00:00:00Z"],
  ["a time without a zone", instant, "2027-01-31T00:00:00", "must be a time such as 2027-01-31T00:00:00Z"],
  ["a text with a z", instant, "z", "must be a time such as 2027-01-31T00:00:00Z"],
  ["a time before 1970", instant, "1969-12-31T23:59:59.999Z", "must be in the years 1970 to 9999"],
  ["a time before 1970 in UTC", instant, "1970-01-01T00:30:00+01:00", "must be in the years 1970 to 9999"],
  ["a time after 9999 in UTC", instant, "9999-12-31T23:00:00-01:00", "must be in the years 1970 to 9999"],
])("%s has one fault, which says what is wrong", (_, schema, value, fault) => {
  expect(faults(schema, value)).toEqual([fault]);
});

test.each([
  ["1970-01-01T00:00:00Z", 0],
  ["2027-01-31T02:00:00+02:00", Date.UTC(2027, 0, 31)],
  ["9999-12-31T23:59:59.999Z", Date.UTC(10_000) - 1],
  ["2027-01-31t00:00:00.5z", Date.UTC(2027, 0, 31) + 500],
  ["2027-01-31t02:00:00+02:00", Date.UTC(2027, 0, 31)],
])("the time %s is %d", (text, time) => {
  expect(instant.parse(text)).toBe(time);
});

test.each(["a\u200b\u200b", "\u0600\u0661", "👩\u200d🚀", "🇺🇦", "\u200f\u05d0\u05d1", "ㅤㅤ가"])(
  "%j shows something",
  (text) => {
    expect(faults(z.string().check(notBlank), text)).toEqual([]);
  },
);

test("a filter that is only set is the word true", () => {
  expect(["true", "", "1", "TRUE"].map((text) => onlyTrue.safeParse(text).success)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("a text at its longest has no fault, counted in UTF-16 units", () => {
  const atMostTwo = z.string().check(...atMost(2));
  expect(["", "ab", "🙂"].map((text) => faults(atMostTwo, text))).toEqual([[], [], []]);
  expect(faults(atMostTwo, "🙂a")).toEqual(["must have at most 2 characters"]);
});
