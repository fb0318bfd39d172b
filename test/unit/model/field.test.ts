import { expect, test } from "vitest";
import * as z from "zod/mini";
import { instant, notBlank, notBlankIfGiven, notEmpty, queryInteger, wellFormed } from "../../../src/model/field.ts";

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
  ["a time without a zone", instant, "2027-01-31T00:00:00", "must be a time such as 2027-01-31T00:00:00Z"],
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
