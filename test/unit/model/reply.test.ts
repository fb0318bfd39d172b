import fc from "fast-check";
import { expect, test } from "vitest";
import { fillReply, placeholderFault, replyKeys } from "../../../src/model/reply.ts";

test.each([
  "",
  "no placeholder",
  "{ {a} } }} { }",
  "{{contact.name}}{{member.name}}",
  "{{ contact.name }}",
  "{{contact.name|there}}",
  "{{contact.name | there}}",
  "{{member.name|}}",
  "{{metadata.order}}",
  "{{metadata.order|your order}}",
  "{{metadata.order|a | b}}",
  "{{metadata.order|a { b } c}}",
  "{{metadata.contact.name}}",
  "{{metadata.first name}}",
  "{{metadata.имя}}",
  "{{metadata.a\nb}}",
  `{{metadata.${"k".repeat(40)} | words}}`,
])("%j has no wrong placeholder", (content) => {
  expect(placeholderFault(content)).toBeNull();
});

test.each([
  ["{{}}", "{{}}"],
  ["{{|}}", "{{|}}"],
  ["{{name}}", "{{name}}"],
  ["{{ name }}", "{{name}}"],
  ["{{contact}}", "{{contact}}"],
  ["{{contact.name }}{{xcontact.name}}", "{{xcontact.name}}"],
  ["{{contactxname}}", "{{contactxname}}"],
  ["{{memberxname}}", "{{memberxname}}"],
  ["{{metadataxa}}", "{{metadataxa}}"],
  ["{{contact.names}}", "{{contact.names}}"],
  ["{{member.name.first}}", "{{member.name.first}}"],
  ["{{metadata}}", "{{metadata}}"],
  ["{{metadata.}}", "{{metadata.}}"],
  ["{{metadata.|a}}", "{{metadata.|a}}"],
  ["{{metadata. |a}}", "{{metadata. |a}}"],
  ["{{a}} {{b}}", "{{a}}"],
  ["{{contact.name}} {{a", null],
  ["{{contact.name}", null],
])("what is wrong with %j names the placeholder %j, or says that one is not closed", (content, named) => {
  const fault = placeholderFault(content) ?? "";
  if (named === null) expect(fault).toBe("has a placeholder that is not closed");
  else {
    expect(fault).toContain(`has the unknown placeholder "${named}". Known are {{contact.name}}, {{member.name}} and `);
  }
});

test("a key of 41 characters is unknown, and the error repeats 60 characters of a placeholder at most", () => {
  expect(placeholderFault(`{{metadata.${"k".repeat(41)}}}`)).toContain(`{{metadata.${"k".repeat(41)}}}`);
  expect(placeholderFault(`{{${"k".repeat(60)}}}`)).toContain(`"{{${"k".repeat(60)}}}"`);
  expect(placeholderFault(`{{${"k".repeat(61)}}}`)).toContain(`"{{${"k".repeat(60)}}}"`);
});

test("an error has no controls of what it repeats, and no half of a pair", () => {
  expect(placeholderFault("{{\u001b[31m\n}}")).toContain('"{{\\u001b[31m}}"');
  expect(placeholderFault(`{{${"x".repeat(59)}😀}}`)?.isWellFormed()).toBe(true);
});

test("any content with known placeholders alone is right, and any other one in it is found", () => {
  const known = fc.constantFrom("{{contact.name}}", "{{member.name}}", "{{metadata.order|your order}}");
  const text = fc.string().map((plain) => plain.replaceAll(/[{}]/g, ""));
  const content = fc.array(fc.tuple(text, known)).map((parts) => parts.flat().join(""));
  fc.assert(
    fc.property(content, content, (before, after) => {
      expect(placeholderFault(before + after)).toBeNull();
      expect(placeholderFault(`${before}{{other}}${after}`)).toContain("{{other}}");
    }),
  );
});

const VALUES = { "contact.name": "Tom Toast", "member.name": "Ann", "metadata.order": "A-17", "metadata.note": " " };

test.each([
  ["no placeholder", "no placeholder"],
  [
    "Hello {{contact.name}}, {{metadata.order|your order}} has shipped. {{member.name}}",
    "Hello Tom Toast, A-17 has shipped. Ann",
  ],
  ["{{ contact.name }}{{contact.name|there}}{{ contact.name | there }}", "Tom ToastTom ToastTom Toast"],
  ["{{metadata.parcel|your parcel}}", "your parcel"],
  ["{{metadata.parcel | a | b }}", "a | b"],
  ["a{{metadata.parcel|}}b", "ab"],
  ["a{{metadata.note|no note}}b", "ano noteb"],
  ["{{metadata.parcel}}, {{metadata.note}}", "{{metadata.parcel}}, {{metadata.note}}"],
  ["{{metadata.toString}}{{metadata.__proto__|none}}", "{{metadata.toString}}none"],
  ["{{unknown}} {{constructor|words}}", "{{unknown}} words"],
  ["{{contact.name}} {{member.name", "{{contact.name}} {{member.name"],
])("%j is filled in as %j", (content, filled) => {
  expect(fillReply(content, VALUES)).toBe(filled);
});

test("a placeholder without a value stays also if it is the contact's name", () => {
  expect(fillReply("{{contact.name}}", { "contact.name": null })).toBe("{{contact.name}}");
  expect(fillReply("{{contact.name}}", {})).toBe("{{contact.name}}");
});

test("a contact whose name looks like a placeholder is not filled in again", () => {
  const values = { "contact.name": "{{member.name}}", "member.name": "Ann" };
  expect(fillReply("{{contact.name}} {{member.name}}", values)).toBe("{{member.name}} Ann");
});

test("what the placeholders name is listed once, in their order", () => {
  expect(replyKeys("{{metadata.b|x}} {{contact.name}} {{ metadata.b }} {{metadata.a | y}}")).toEqual([
    "metadata.b",
    "contact.name",
    "metadata.a",
  ]);
  expect(replyKeys("none, {{unknown}}, {{metadata.}}")).toEqual([]);
  expect(replyKeys("{{contact.name}} {{open")).toEqual([]);
});

test("without values, any content whose placeholders have no words stays as it is", () => {
  const known = fc.constantFrom("{{contact.name}}", "{{member.name}}", "{{metadata.order}}");
  const text = fc.string().map((plain) => plain.replaceAll(/[{}]/g, ""));
  const content = fc.array(fc.tuple(text, known)).map((parts) => parts.flat().join(""));
  fc.assert(
    fc.property(content, text, (before, after) => {
      expect(fillReply(before + after, {})).toBe(before + after);
    }),
  );
});
