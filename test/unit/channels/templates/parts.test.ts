import { expect, test } from "vitest";
import { fillParts } from "../../../../src/channels/templates/check.ts";
import type { TemplateButton, TemplateComponent, TemplateParts } from "../../../../src/model/template.ts";

const LINK = "https://files.example/a.jpg";
const PLACE = { latitude: 52.5, longitude: 13.4 };
const BODY: TemplateComponent = { type: "BODY", text: "Hi {{1}}" };
const PARAMETERS = [{ name: "1", value: "Ada" }];

function fill(components: TemplateComponent[], given: TemplateParts = {}, parameters = PARAMETERS) {
  return fillParts({ components: [BODY, ...components], status: "APPROVED" }, given, parameters);
}

/** The faults of values, each as its path and its text. */
function faultsOf(components: TemplateComponent[], given: TemplateParts = {}, parameters = PARAMETERS) {
  const answer = fill(components, given, parameters);
  return "faults" in answer ? answer.faults.map(({ path, message }) => `${path} ${message}`) : answer;
}

const header = (
  format: Extract<TemplateComponent, { type: "HEADER" }>["format"],
  text?: string,
): TemplateComponent[] => [{ type: "HEADER", format, text }];
const buttons = (...each: TemplateButton[]): TemplateComponent[] => [{ type: "BUTTONS", buttons: each }];
const track: TemplateButton = { type: "URL", text: "Track", url: "https://shop.example/{{1}}" };
const shop: TemplateButton = { type: "URL", text: "Shop", url: "https://shop.example/" };
const coupon: TemplateButton = { type: "COPY_CODE", text: "Copy" };
const reply: TemplateButton = { type: "QUICK_REPLY", text: "Yes" };
const code: TemplateButton = { type: "OTP", text: "Copy code" };

test("a template without values is filled as it is", () => {
  const components: TemplateComponent[] = [
    ...header("TEXT", "Order"),
    { type: "FOOTER", text: "Acme" },
    ...buttons({ type: "PHONE_NUMBER", text: "Call", phoneNumber: "+491" }, { type: "VOICE_CALL", text: "Talk" }, shop),
  ];
  expect(fill(components)).toEqual({
    filled: {
      header: { type: "text", text: "Order", parameters: [] },
      footer: "Acme",
      buttons: [
        { type: "PHONE_NUMBER", text: "Call", phoneNumber: "+491" },
        { type: "VOICE_CALL", text: "Talk" },
        { type: "URL", text: "Shop", url: "https://shop.example/", suffix: null },
      ],
    },
  });
});

test("of several parts that can't be sent, the first one is named", () => {
  const components: TemplateComponent[] = [
    ...buttons(reply, { type: "OTHER", text: "Form" }, { type: "OTHER", text: "Pay" }),
    { type: "OTHER", name: "CAROUSEL" },
  ];
  expect(fill(components)).toEqual({
    refusal: { code: "template_not_supported", text: "The template has a part that can't be sent: the button Form" },
  });
});

const HEADERS = [
  ["TEXT", "Hi", "a text without variables"],
  ["TEXT", undefined, "a text without variables"],
  ["TEXT", "{{a}}", "TEXT"],
  ["IMAGE", undefined, "IMAGE"],
  ["VIDEO", undefined, "VIDEO"],
  ["DOCUMENT", undefined, "DOCUMENT"],
  ["LOCATION", undefined, "LOCATION"],
] as const;
const VALUES = { variables: { a: "1" }, mediaUrl: LINK, mediaId: "med_1", fileName: "a.pdf", location: PLACE };
const TAKEN: Record<string, string[]> = {
  "{{a}}": ["variables"],
  IMAGE: ["mediaUrl", "mediaId"],
  VIDEO: ["mediaUrl", "mediaId"],
  DOCUMENT: ["mediaUrl", "mediaId", "fileName"],
  LOCATION: ["location"],
};

test.each(HEADERS)(
  "a header of the format %s with the text %j refuses the values that it can't have",
  (format, text, named) => {
    const faults = faultsOf(header(format, text), { header: VALUES });
    const taken = TAKEN[text ?? format] ?? [];
    const others = Object.keys(VALUES).filter((name) => !taken.includes(name));
    expect(Array.isArray(faults) ? faults.filter((fault) => fault.includes("because")) : []).toEqual(
      others.map((name) => `template.header.${name} can't be given, because the template's header is ${named}`),
    );
  },
);

test("a value that is undefined counts as not given", () => {
  const none = { location: undefined, variables: undefined, fileName: undefined };
  expect(fill(header("IMAGE"), { header: { ...none, mediaUrl: LINK, mediaId: undefined } })).toMatchObject({
    filled: { header: { type: "media", format: "IMAGE", link: LINK, fileName: null } },
  });
  const given = [{ index: 0, payload: undefined, code: undefined, urlSuffix: undefined }];
  expect(fill(buttons(reply), { buttons: given })).toMatchObject({ filled: { buttons: [{ id: "Yes" }] } });
});

test("a header's variables are required each, also if none is given", () => {
  expect(faultsOf(header("TEXT", "{{a}} {{b}}"))).toEqual([
    "template.header.variables.a is required",
    "template.header.variables.b is required",
  ]);
});

test("a header may have 4,096 characters with its values", () => {
  const filled = (length: number) =>
    fill(header("TEXT", "{{a}}"), { header: { variables: { a: "x".repeat(length) } } });
  expect(filled(4_096)).toMatchObject({ filled: { header: { text: "x".repeat(4_096) } } });
  expect(filled(4_097)).toHaveProperty("faults");
});

test.each<[object, string[]]>([
  [{ name: "Office" }, ["template.header.location.address is required"]],
  [{ address: "Main Street 1" }, ["template.header.location.name is required"]],
])("a place with %j alone lacks the rest", (more, faults) => {
  expect(faultsOf(header("LOCATION"), { header: { location: { ...PLACE, ...more } } })).toEqual(faults);
});

test.each<[TemplateButton, string]>([
  [reply, "this button takes payload"],
  [coupon, "this button takes code"],
  [track, "this button takes urlSuffix"],
  [shop, "this button takes no value"],
  [{ type: "URL", text: "Shop" }, "this button takes no value"],
  [{ type: "PHONE_NUMBER", text: "Call", phoneNumber: "+491" }, "this button takes no value"],
  [{ type: "VOICE_CALL", text: "Talk" }, "this button takes no value"],
  [{ type: "PHONE_NUMBER", text: "Call", url: "https://shop.example/{{1}}" }, "this button takes no value"],
  [code, "the service fills in the code of this button"],
])("the button %j takes no other value: %s", (button, reason) => {
  const values = { payload: "a", code: "1", urlSuffix: "b" };
  const faults = faultsOf(buttons(button), { buttons: [{ index: 0, ...values }] });
  const taken = /takes (payload|code|urlSuffix)$/.exec(reason)?.[1];
  expect(faults).toEqual(
    Object.keys(values)
      .filter((name) => name !== taken)
      .map((name) => `template.buttons.0.${name} can't be given, because ${reason}`),
  );
});

test("faults name the place in the request, not that in the template", () => {
  const given = [
    { index: 1, code: "1" },
    { index: 2, code: "1" },
    { index: 1, code: "1" },
  ];
  expect(faultsOf(buttons(reply, coupon), { buttons: given })).toEqual([
    "template.buttons.1.index must be less than 2, the number of buttons",
    "template.buttons.2.index must differ from the other indexes",
  ]);
});

test("all that is wrong is told at once: of the body, then the header, then the buttons", () => {
  const given = { header: { fileName: "a" }, buttons: [{ index: 0, payload: "a" }] };
  expect(faultsOf([...header("IMAGE"), ...buttons(coupon, track)], given, [{ name: "who", value: " " }])).toEqual([
    "variables.who must not be blank",
    "template.header.fileName can't be given, because the template's header is IMAGE",
    "template.header.mediaUrl is required",
    "template.buttons.0.payload can't be given, because this button takes code",
    "template.buttons must have code for the button with the index 0",
    "template.buttons must have urlSuffix for the button with the index 1",
  ]);
});

test.each<[{ name: string; value: string }[], string]>([
  [[], "variables.1 must be a code of 1 to 15 characters"],
  [[{ name: "code", value: "1".repeat(16) }], "variables.code must be a code of 1 to 15 characters"],
])("with the parameters %j the button of a code can't be filled", (parameters, fault) => {
  expect(faultsOf(buttons(code), {}, parameters)).toEqual([fault]);
});

test("a code may have 15 characters, and is the body's first value", () => {
  const parameters = [
    { name: "code", value: "1".repeat(15) },
    { name: "other", value: "2" },
  ];
  expect(fill(buttons(code), {}, parameters)).toMatchObject({
    filled: { buttons: [{ type: "OTP", text: "Copy code", code: "1".repeat(15) }] },
  });
});

test("a value takes the place of all from the variable on", () => {
  const button: TemplateButton = { type: "URL", text: "Track", url: "https://shop.example/{{1}}/end" };
  expect(fill(buttons(button), { buttons: [{ index: 0, urlSuffix: "7" }] })).toMatchObject({
    filled: { buttons: [{ url: "https://shop.example/7", suffix: "7" }] },
  });
});

test("what a template lacks of a part is empty", () => {
  const bare: TemplateButton[] = [
    { type: "URL", text: "Shop" },
    { type: "PHONE_NUMBER", text: "Call" },
  ];
  expect(fill([...header("TEXT"), ...buttons(...bare)])).toMatchObject({
    filled: {
      header: { type: "text", text: "" },
      buttons: [
        { type: "URL", url: "", suffix: null },
        { type: "PHONE_NUMBER", phoneNumber: "" },
      ],
    },
  });
});

test("an address that takes no value is not too long by one", () => {
  expect(faultsOf(buttons(shop), { buttons: [{ index: 0, urlSuffix: "x".repeat(2_001) }] })).toEqual([
    "template.buttons.0.urlSuffix can't be given, because this button takes no value",
  ]);
});
