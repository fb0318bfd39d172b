import * as z from "zod/mini";
import { issueText } from "./issue-text.ts";

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

/** Neither empty nor only white space. */
export const notBlank = z.refine<string>((text) => text.trim() !== "", { error: REQUIRED, abort: true });

/** An optional field that is given must not be empty or only white space. */
export const notBlankIfGiven = z.refine<string>((text) => text.trim() !== "", {
  error: "must not be blank",
  abort: true,
});

/** No lone surrogates: D1 would replace them. */
export const wellFormed = z.refine<string>((text) => text.isWellFormed(), "must be well-formed Unicode");

/** The id of something, in a body. */
export const bodyId = z.string().check(notEmpty, ...atMost(64));

/** A required string of 1 to `max` UTF-16 units that is not only white space, for the directory. */
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

/** A time in a body: RFC 3339 text, parsed to Unix milliseconds. */
export const instant = z.pipe(
  z.iso.datetime({ offset: true }).check(
    // In UTC, the date may be outside the years that RFC 3339 allows.
    z.refine(
      (text) => !(Date.parse(text) < 0 || Date.parse(text) >= Date.UTC(10_000)),
      "must be in the years 1970 to 9999",
    ),
  ),
  z.transform((text) => Date.parse(text)),
);

/** An integer in a query: 1 to 15 decimal digits, within bounds. */
export function queryInteger(min: number, max: number) {
  return z.pipe(
    z.string().check(z.regex(/^\d{1,15}$/, "must be an integer")),
    z.pipe(z.transform(Number), z.number().check(z.gte(min), z.lte(max))),
  );
}

/** Text of a filter or a cursor in a query. */
export function queryText(max: number) {
  return z.optional(z.string().check(notEmpty, ...atMost(max)));
}
