import fc from "fast-check";
import { expect, test } from "vitest";
import { fillTemplate, placeholdersOf, type Variables } from "../../../src/model/placeholder.ts";

const MAX_LENGTH = 10_000;
const fill = (body: string, variables: Variables) => fillTemplate(body, variables, MAX_LENGTH);

/** The filled template. All its variables must be given. */
function textOf(body: string, variables: Variables): string {
  const filled = fill(body, variables);
  if (!("text" in filled)) throw new Error(`not filled: ${JSON.stringify(filled)}`);
  return filled.text;
}

/** Variables as parsed from a request. */
function parsed(json: string): Variables {
  return JSON.parse(json);
}

test.each([
  ["", []],
  ["no placeholder", []],
  ["{{name}}", ["name"]],
  ["{{ name }}", ["name"]],
  ["{{\tname\n}}", ["name"]],
  ["{{a}}{{b}}{{c}}", ["a", "b", "c"]],
  ["{{b}} {{a}} {{b}}", ["b", "a"]],
  ["{{1}} {{2}}", ["1", "2"]],
  ["{{Name}} {{name}}", ["Name", "name"]],
  ["{{order_id}}", ["order_id"]],
  ["{ {a} } }} { }", []],
  ["}}{{a}}{", ["a"]],
  [`{{${"n".repeat(64)}}}`, ["n".repeat(64)]],
  ["{{constructor}}{{__proto}}{{__proto__x}}", ["constructor", "__proto", "__proto__x"]],
])("the placeholders of %j are %j", (body, names) => {
  expect(placeholdersOf(body)).toEqual(names);
});

test.each([
  "{{",
  "{{}}",
  "{{ }}",
  "{{__proto__}}",
  "{{name",
  "{{name}",
  "{{name} }",
  "{{a}} {{b",
  "{{a b}}",
  "{{a-b}}",
  "{{a.b}}",
  "{{é}}",
  "{{{a}}}",
  "{{ {{a}} }}",
  "{{{{a}}}}",
  "{{#if}}",
  "{{>a}}",
  "{{a|b}}",
  `{{${"n".repeat(65)}}}`,
])("the body %j is malformed", (body) => {
  expect(placeholdersOf(body)).toBe(null);
});

test("each placeholder is filled with its variable, wherever it occurs", () => {
  expect(textOf("{{a}}, {{ b }}, {{a}}!", { a: "x", b: "y" })).toBe("x, y, x!");
});

test("the text around placeholders is unchanged", () => {
  expect(textOf(" }}{ {{a}} $1 \\n\n🙂", { a: "x" })).toBe(" }}{ x $1 \\n\n🙂");
});

test.each(["{{b}}", "{{a}}", "{{", "}}", "$&", "$1", "$$", "$`", "\\", "", "  ", "<b>", "\0"])(
  "the value %j is inserted unchanged",
  (value) => {
    expect(textOf("<{{a}}|{{a}}|{{b}}>", { a: value, b: "B" })).toBe(`<${value}|${value}|B>`);
  },
);

test.each([
  [0, "0"],
  [-0, "0"],
  [-1.5, "-1.5"],
  [19.9, "19.9"],
  [9_007_199_254_740_991, "9007199254740991"],
])("the number %d is inserted as %s", (value, text) => {
  expect(textOf("{{n}}", { n: value })).toBe(text);
});

test.each(["constructor", "toString", "hasOwnProperty", "valueOf"])(
  "a placeholder %s without a variable is missing",
  (name) => {
    expect(fill(`{{${name}}}`, {})).toEqual({ missing: [name] });
  },
);

test.each(["constructor", "toString", "hasOwnProperty", "valueOf"])(
  "a placeholder %s is filled with the variable of that name",
  (name) => {
    expect(textOf(`<{{${name}}}>`, parsed(`{"${name}":"x"}`))).toBe("<x>");
  },
);

test("missing variables are listed once each, in the body's order", () => {
  expect(fill("{{c}}{{a}}{{b}}{{c}}", { a: "x" })).toEqual({ missing: ["c", "b"] });
});

test("an empty value is a value", () => {
  expect(fill("{{a}}", { a: "" })).toMatchObject({ text: "" });
});

test("names differ by case", () => {
  expect(fill("{{Name}}", { name: "x" })).toEqual({ missing: ["Name"] });
});

test("variables without a placeholder are ignored", () => {
  expect(fill("{{a}}", { a: "x", b: "y" })).toEqual({ text: "x", parameters: [{ name: "a", value: "x" }] });
});

test("the parameters are the values used, as text, once each, in the body's order", () => {
  expect(fill("{{b}}{{a}}{{b}}", { a: 1, b: "y" })).toMatchObject({
    parameters: [
      { name: "b", value: "y" },
      { name: "a", value: "1" },
    ],
  });
});

test.each([
  ["{{a}}{{a}}", MAX_LENGTH / 2],
  ["x{{a}}", MAX_LENGTH - 1],
])("%j is filled up to the maximum length", (body, length) => {
  expect(textOf(body, { a: "a".repeat(length) })).toHaveLength(MAX_LENGTH);
  expect(fill(body, { a: "a".repeat(length + 1) })).toEqual({ tooLong: true });
});

test("a template that would exceed the longest string is too long, and is never built", () => {
  expect(fill("{{a}}".repeat(1_000), { a: "a".repeat(1_000_000) })).toEqual({ tooLong: true });
});

test("a malformed body is delivered unchanged, and needs no variables", () => {
  expect(fill("{{a}} {{b", { a: "x" })).toEqual({ text: "{{a}} {{b", parameters: [] });
});

test("text and placeholders in any order are filled part by part", () => {
  const literal = fc
    .string()
    .map((text) => text.replaceAll(/[{}]/g, ""))
    .map((text) => ({ body: text, filled: text }));
  const variables: Variables = { a: "{{b}}", b: "$&", c: 3 };
  const placeholder = fc
    .constantFrom("a", "b", "c")
    .map((name) => ({ body: `{{${name}}}`, filled: `${variables[name]}` }));
  fc.assert(
    fc.property(fc.array(fc.oneof(literal, placeholder)), (parts) => {
      const joined = (side: "body" | "filled") => parts.map((part) => part[side]).join("");
      expect(textOf(joined("body"), variables)).toBe(joined("filled"));
    }),
  );
});

// A quadratic parser would take minutes for these.
test.each([
  ["open braces", "{{".repeat(500_000), null],
  ["placeholders", "{{a}}".repeat(200_000), ["a"]],
  ["closed braces", "}}".repeat(500_000), []],
  ["spaces in an open placeholder", `{{${" ".repeat(1_000_000)}`, null],
  ["single braces", "{ ".repeat(500_000), []],
])("a megabyte of %s is parsed in linear time", (_what, body, names) => {
  expect(placeholdersOf(body)).toEqual(names);
});
