import type { $ZodRawIssue } from "zod/v4/core";

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
export function issueText(issue: $ZodRawIssue): string {
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
