import { expect, test } from "vitest";
import { type DirectoryTemplate, preparedTemplate } from "../../../src/chats/prepare-template.ts";
import type { TemplateComponent } from "../../../src/model/template.ts";

const BODY: TemplateComponent = { type: "BODY", text: "Hi {{name}}" };
const IMAGE: TemplateComponent = { type: "HEADER", format: "IMAGE" };
const FOOTER: TemplateComponent = { type: "FOOTER", text: "Acme" };
const LINK = "https://files.example/a.jpg";
const LOCAL: DirectoryTemplate = {
  name: "welcome",
  language: "en",
  body: "Hi {{name}}",
  components: null,
  status: null,
  category: null,
};

/** A template that was synced from its network. */
function synced(changes: Partial<DirectoryTemplate> = {}): DirectoryTemplate {
  return { ...LOCAL, components: [BODY], status: "APPROVED", category: "UTILITY", ...changes };
}

const refused = (...faults: { path: string; message: string }[]) => ({
  outcome: "refused",
  code: "validation_failed",
  faults,
});

const ADA = { name: "Ada" };
const USED = { name: "welcome", language: "en", parameters: [{ name: "name", value: "Ada" }] };

test("a template that was never synced has its text and its values, and no parts", () => {
  expect(preparedTemplate(LOCAL, { variables: ADA })).toStrictEqual({
    outcome: "filled",
    text: "Hi Ada",
    template: USED,
  });
  expect(preparedTemplate({ ...LOCAL, body: "Hi" }, {})).toMatchObject({ text: "Hi", template: { parameters: [] } });
});

test("a synced template has the parts that its network approved, filled in", () => {
  expect(preparedTemplate(synced({ components: [BODY, FOOTER] }), { variables: ADA })).toStrictEqual({
    outcome: "filled",
    text: "Hi Ada",
    template: { ...USED, parts: { header: null, footer: "Acme", buttons: [] } },
  });
  const given = { variables: ADA, template: { header: { mediaUrl: LINK } } };
  expect(preparedTemplate(synced({ components: [BODY, IMAGE] }), given)).toMatchObject({
    template: { parts: { header: { type: "media", format: "IMAGE", link: LINK, fileName: null } } },
  });
});

test.each([
  ["MARKETING", true],
  ["UTILITY", undefined],
  ["AUTHENTICATION", undefined],
  [null, undefined],
])("only marketing is marked as such: a template of the category %s", (category, isMarketing) => {
  const answer = preparedTemplate(synced({ category }), { variables: ADA });
  const template = answer.outcome === "filled" ? answer.template : {};
  expect([answer.outcome, Object.hasOwn(template, "isMarketing"), template]).toEqual([
    "filled",
    isMarketing === true,
    { ...USED, parts: { header: null, footer: null, buttons: [] }, isMarketing },
  ]);
});

test.each([
  ["never synced", LOCAL],
  ["synced", synced()],
])("each missing variable of a template that was %s is named, before anything else is wrong", (_what, template) => {
  const body = "{{name}} of {{company}}, {{name}}";
  expect(preparedTemplate({ ...template, body }, { template: { header: { mediaUrl: LINK } } })).toEqual(
    refused({ path: "variables.name", message: "is required" }, { path: "variables.company", message: "is required" }),
  );
});

test("a filled template has at most 4096 characters", () => {
  const fill = (length: number) => preparedTemplate(LOCAL, { variables: { name: "x".repeat(length - 3) } });
  expect(fill(4_096)).toMatchObject({ outcome: "filled", text: `Hi ${"x".repeat(4_093)}` });
  expect(fill(4_097)).toEqual(
    refused({ path: "variables", message: "fill the template to more than 4096 characters" }),
  );
});

test("a template that was never synced takes no parts", () => {
  const message = "can't be given, because the template was not synced from its network";
  expect(preparedTemplate(LOCAL, { variables: ADA, template: {} })).toEqual(refused({ path: "template", message }));
});

test("a template that its network did not approve is refused, whatever its values", () => {
  expect(preparedTemplate(synced({ status: "PAUSED" }), { variables: { name: " " } })).toEqual({
    outcome: "refused",
    code: "template_not_approved",
    text: "The network's status of the template is PAUSED",
  });
  const components: TemplateComponent[] = [BODY, { type: "OTHER", name: "CAROUSEL" }];
  expect(preparedTemplate(synced({ components }), { variables: ADA })).toEqual({
    outcome: "refused",
    code: "template_not_supported",
    text: "The template has a part that can't be sent: CAROUSEL",
  });
});

test("what does not fit a synced template is refused with all that is wrong", () => {
  const given = { variables: { name: " " }, template: { header: { mediaUrl: LINK } } };
  expect(preparedTemplate(synced(), given)).toEqual(
    refused(
      { path: "variables.name", message: "must not be blank" },
      { path: "template.header.mediaUrl", message: "can't be given, because the template has no header" },
    ),
  );
});
