import * as z from "zod/mini";
import type { $ZodRawIssue } from "zod/v4/core";
import { isPlainFileName } from "./file.ts";
import { linkIn } from "./link.ts";

/** The message for a field that is missing, null or blank. */
export const REQUIRED = "is required";

// For all schemas in the Worker.
z.config({
  localeError: issueText,
  customError: ({ code, input }) => ((input ?? null) === null && code !== "invalid_union" ? REQUIRED : undefined),
});

export const notEmpty = z.minLength(1, "must not be empty");

/** At most `max` UTF-16 units. zod's own check counts code points, and is only there for the OpenAPI documents. */
export function atMost(max: number) {
  return [
    z.refine<string>((text) => text.length <= max, { error: `must have at most ${max} characters`, abort: true }),
    z.maxLength(max),
  ] as const;
}

/**
 * A character that can be seen. White space can't, nor can controls, what Unicode calls ignorable (such as zero-width
 * spaces), the empty braille cell and the marks of annotations.
 */
const VISIBLE = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u;

/** Whether a text shows nothing: it is empty, or has only white space and invisible characters. */
export function showsNothing(text: string): boolean {
  return !VISIBLE.test(text);
}

/** A required text that shows something. */
export const notBlank = z.refine<string>((text) => !showsNothing(text), { error: REQUIRED, abort: true });

/** An optional field that is given must show something. */
export const notBlankIfGiven = z.refine<string>((text) => !showsNothing(text), {
  error: "must not be blank",
  abort: true,
});

/** No lone surrogates: D1 would replace them. */
export const wellFormed = z.refine<string>((text) => text.isWellFormed(), "must be well-formed Unicode");

/** The id of something, in a body. */
export const bodyId = z.string().check(notEmpty, ...atMost(64));

/** A required string of 1 to `max` UTF-16 units that is not blank, for the directory. */
export function requiredText(max: number) {
  return z.string().check(notBlank, wellFormed, ...atMost(max));
}

/** An optional request field: `null` means absent. */
export function optional<T extends z.ZodMiniType>(schema: T) {
  return z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? undefined),
  );
}

/** zod's pattern, but with a `t` and a `z` of either case (RFC 3339, 5.6). `z.regexes` would bring all of zod's. */
const { pattern: UPPER_CASE } = z.iso.datetime({ offset: true })._zod.def;
const DATETIME = {
  offset: true,
  pattern: new RegExp(String(UPPER_CASE?.source).replace("T(", "[Tt](").replace("Z|", "[Zz]|")),
};

/** A time in a body: RFC 3339 text, parsed to Unix milliseconds. */
export const instant = z.pipe(
  z.iso.datetime(DATETIME).check(
    // In UTC, the date may be outside the years that RFC 3339 allows.
    z.refine(
      (text) => !(millisecondsOf(text) < 0 || millisecondsOf(text) >= Date.UTC(10_000)),
      "must be in the years 1970 to 9999",
    ),
  ),
  z.transform(millisecondsOf),
);

function millisecondsOf(text: string): number {
  // Date.parse need not know the lower case.
  return Date.parse(text.toUpperCase());
}

/** An integer in a query: 1 to 15 decimal digits, within bounds. */
export function queryInteger(min: number, max: number) {
  return z.pipe(
    z.string().check(z.regex(/^\d{1,15}$/, "must be an integer")),
    z.pipe(z.transform(Number), z.number().check(z.gte(min), z.lte(max))),
  );
}

/** A filter of a list that can only be set. Its opposite would be a list of its own. */
export const onlyTrue = z.literal("true", "must be true");

/** Text of a filter or a cursor in a query. */
export function queryText(max: number) {
  return z.optional(z.string().check(notEmpty, ...atMost(max)));
}

const MAX_URL = 2_048;

/** Copying an object loses its key `__proto__`, so it is refused in fields that the API returns. */
export const noProto = z.refine(
  (value: unknown) => !Object.hasOwn(Object(value), "__proto__"),
  "must not have the key __proto__",
);

/** An https URL without credentials. It goes to the networks; the service never fetches it. */
export const httpsUrl = z.string().check(
  wellFormed,
  ...atMost(MAX_URL),
  // Without the flag `i`, because the OpenAPI document contains this pattern.
  z.regex(/^[Hh][Tt][Tt][Pp][Ss]:\/\/[^\s\\]+$/, { error: "must be an https URL", abort: true }),
  z.refine((text) => linkIn(text) === text, "must be an https URL"),
);

const stringOrNumber = z
  .union([z.string(), z.number()], "must be a string or a number")
  .check(z.refine((value) => typeof value === "number" || value.isWellFormed(), "must be well-formed Unicode"));

/** The values of placeholders. */
export const variablesBody = z.pipe(z.unknown().check(noProto), z.record(z.string(), stringOrNumber));

export const plainFileName = z.refine<string>(
  isPlainFileName,
  "must be a file name: without slashes, backslashes, control characters and characters that turn the direction of text",
);

const TYPES: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const FORMATS: Record<string, string> = {
  email: "an email address",
  datetime: "a time such as 2027-01-31T00:00:00Z",
};

/** Describes an invalid value, as a sentence without its subject: `must be at least 1`. */
function issueText(issue: $ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must ${sizeOf(issue.origin, issue.inclusive ? "at least" : "more than", issue.minimum)}`;
    case "too_big":
      return `must ${sizeOf(issue.origin, issue.inclusive ? "at most" : "less than", issue.maximum)}`;
    case "invalid_format":
      return `must be ${FORMATS[issue.format] ?? "in the right format"}`;
    case "unrecognized_keys":
      return `must not contain ${issue.keys.join(", ")}`;
    // What is wrong with a record's key.
    case "invalid_key":
      return issue.issues[0]?.message ?? "is not valid";
    default:
      return "is not valid";
  }
}

function sizeOf(origin: string, comparison: string, bound: number | bigint): string {
  if (origin === "string") return `have ${comparison} ${bound} ${bound === 1 ? "character" : "characters"}`;
  if (["array", "set", "map"].includes(origin))
    return `have ${comparison} ${bound} ${bound === 1 ? "entry" : "entries"}`;
  return `be ${comparison} ${bound}`;
}
