import fc from "fast-check";
import { expect, test } from "vitest";
import { fillParts } from "../../../../src/channels/templates/check.ts";
import { templateAsText } from "../../../../src/channels/templates/object/as-text.ts";
import { templateObject } from "../../../../src/channels/whatsapp/template.ts";
import type {
  TemplateButton,
  TemplateComponent,
  TemplateParameter,
  TemplateParts,
} from "../../../../src/model/template.ts";
import { faultsOfWhatsApp } from "../../../support/network-limits.ts";

const LINK = "https://files.example/a.jpg";
const PLACE = { latitude: 52.5, longitude: 13.4, name: "Office", address: "Main Street 1" };
const BODY: TemplateComponent = { type: "BODY", text: "Hi {{1}}" };
const PARAMETERS = [{ name: "1", value: "Ada" }];

function fill(
  parts: TemplateComponent[],
  given: TemplateParts = {},
  { status = "APPROVED", parameters = PARAMETERS as TemplateParameter[] } = {},
) {
  return fillParts({ components: [BODY, ...parts], status }, given, parameters);
}

function faultsOf(parts: TemplateComponent[], given: TemplateParts, parameters = PARAMETERS) {
  const answer = fill(parts, given, { parameters });
  return "faults" in answer ? answer.faults.map(({ path, message }) => `${path} ${message}`) : answer;
}

const header = (format: "TEXT" | "IMAGE" | "VIDEO" | "DOCUMENT" | "LOCATION" | "OTHER", text?: string) =>
  ({ type: "HEADER", format, text }) satisfies TemplateComponent;
const buttons = (...each: TemplateButton[]) => ({ type: "BUTTONS", buttons: each }) satisfies TemplateComponent;
const reply = (text: string) => ({ type: "QUICK_REPLY", text }) as const;
const track = { type: "URL", text: "Track", url: "https://shop.example/t/{{1}}" } as const;
const shop = { type: "URL", text: "Shop", url: "https://shop.example/" } as const;
const coupon = { type: "COPY_CODE", text: "Copy code" } as const;

test("a template without parts takes nothing", () => {
  expect(fill([])).toEqual({ filled: { header: null, footer: null, buttons: [] } });
});

test.each<[string, TemplateComponent, TemplateParts["header"], object]>([
  ["a text", header("TEXT", "Order"), undefined, { type: "text", text: "Order", parameters: [] }],
  [
    "a text with a variable",
    header("TEXT", "Order {{1}}"),
    { variables: { 1: 7 } },
    { type: "text", text: "Order 7", parameters: [{ name: "1", value: "7" }] },
  ],
  ["an image", header("IMAGE"), { mediaUrl: LINK }, { type: "media", format: "IMAGE", link: LINK, fileName: null }],
  [
    "an uploaded file",
    header("DOCUMENT"),
    { mediaId: "med_1", fileName: "a.pdf" },
    { type: "media", format: "DOCUMENT", link: null, fileName: "a.pdf" },
  ],
  [
    "a document",
    header("DOCUMENT"),
    { mediaUrl: LINK, fileName: "a.pdf" },
    { type: "media", format: "DOCUMENT", link: LINK, fileName: "a.pdf" },
  ],
  ["a location", header("LOCATION"), { location: PLACE }, { type: "location", location: PLACE }],
])("a header that is %s is filled", (_name, component, given, filled) => {
  expect(fill([component], { header: given })).toMatchObject({ filled: { header: filled } });
});

test.each<[TemplateComponent[], TemplateParts["header"], string[]]>([
  [[], { mediaUrl: LINK }, ["template.header.mediaUrl can't be given, because the template has no header"]],
  [
    [header("TEXT", "Hi")],
    { variables: { a: 1 } },
    ["template.header.variables can't be given, because the template's header is a text without variables"],
  ],
  [[header("TEXT", "{{a}}, {{b}}")], { variables: { a: 1 } }, ["template.header.variables.b is required"]],
  [[header("TEXT", "{{a}}")], { variables: { a: " " } }, ["template.header.variables.a must not be blank"]],
  [
    [header("TEXT", "{{a}}")],
    { variables: { a: "x".repeat(4_097) } },
    ["template.header.variables fill the header to more than 4096 characters"],
  ],
  [[header("IMAGE")], {}, ["template.header.mediaUrl is required"]],
  [[header("IMAGE")], { mediaUrl: LINK, mediaId: "med_1" }, ["template.header.mediaUrl can't be given with mediaId"]],
  [
    [header("TEXT", "Hi")],
    { mediaId: "med_1" },
    ["template.header.mediaId can't be given, because the template's header is a text without variables"],
  ],
  [
    [header("IMAGE")],
    { mediaUrl: LINK, fileName: "a" },
    ["template.header.fileName can't be given, because the template's header is IMAGE"],
  ],
  [
    [header("VIDEO")],
    { location: PLACE },
    [
      "template.header.location can't be given, because the template's header is VIDEO",
      "template.header.mediaUrl is required",
    ],
  ],
  [[header("LOCATION")], {}, ["template.header.location is required"]],
  [
    [header("LOCATION")],
    { location: { latitude: 1, longitude: 2 } },
    ["template.header.location.name is required", "template.header.location.address is required"],
  ],
])("what does not fit a header names its path, %#", (components, given, faults) => {
  expect(faultsOf(components, { header: given })).toEqual(faults);
});

test("buttons are filled by their index, and a quick reply without a payload returns its title", () => {
  const given = [
    { index: 3, code: "SAVE10" },
    { index: 1, payload: "no" },
    { index: 2, urlSuffix: "7?a" },
  ];
  expect(fill([buttons(reply("Yes"), reply("No"), track, coupon, shop)], { buttons: given })).toMatchObject({
    filled: {
      buttons: [
        { type: "QUICK_REPLY", text: "Yes", id: "Yes" },
        { type: "QUICK_REPLY", text: "No", id: "no" },
        { type: "URL", text: "Track", url: "https://shop.example/t/7?a", suffix: "7?a" },
        { type: "COPY_CODE", text: "Copy code", code: "SAVE10" },
        { type: "URL", text: "Shop", url: "https://shop.example/", suffix: null },
      ],
    },
  });
});

test.each<[TemplateComponent[], TemplateParts["buttons"], string[]]>([
  [[], [{ index: 0, payload: "a" }], ["template.buttons.0.index must be less than 0, the number of buttons"]],
  [
    [buttons(reply("Yes"))],
    [
      { index: 0, payload: "a" },
      { index: 0, payload: "b" },
    ],
    ["template.buttons.1.index must differ from the other indexes"],
  ],
  [
    [buttons(reply("Yes"))],
    [{ index: 0, code: "a" }],
    ["template.buttons.0.code can't be given, because this button takes payload"],
  ],
  [
    [buttons(shop)],
    [{ index: 0, urlSuffix: "a" }],
    ["template.buttons.0.urlSuffix can't be given, because this button takes no value"],
  ],
  [
    [buttons(track)],
    [{ index: 0, urlSuffix: "x".repeat(2_001 - "https://shop.example/t/".length) }],
    ["template.buttons.0.urlSuffix makes an address of more than 2000 characters"],
  ],
  [[buttons(shop, track)], [], ["template.buttons must have urlSuffix for the button with the index 1"]],
  [[buttons(coupon)], [], ["template.buttons must have code for the button with the index 0"]],
])("what does not fit a button names its path, %#", (components, given, faults) => {
  expect(faultsOf(components, { buttons: given })).toEqual(faults);
});

test("an address with its value may have 2,000 characters", () => {
  const urlSuffix = "x".repeat(2_000 - "https://shop.example/t/".length);
  expect(fill([buttons(track)], { buttons: [{ index: 0, urlSuffix }] })).toHaveProperty("filled");
});

test("the service fills in the button's code of an authentication template", () => {
  const components = [buttons({ type: "OTP", text: "Copy code" })];
  const parameters = [{ name: "1", value: "123456" }];
  expect(fill(components, {}, { parameters })).toMatchObject({
    filled: { buttons: [{ type: "OTP", text: "Copy code", code: "123456" }] },
  });
  const given = { buttons: [{ index: 0, code: "1" }] };
  expect(faultsOf(components, given, parameters)).toEqual([
    "template.buttons.0.code can't be given, because the service fills in the code of this button",
  ]);
  expect(faultsOf(components, {}, [{ name: "1", value: "x".repeat(16) }])).toEqual([
    "variables.1 must be a code of 1 to 15 characters",
  ]);
});

test("a blank value of the body is refused, because the network refuses it", () => {
  expect(faultsOf([], {}, [{ name: "1", value: " " }])).toEqual(["variables.1 must not be blank"]);
});

test.each(["PENDING", "PAUSED", "DELETED", "approved"])("a template that is %s is not approved", (status) => {
  expect(fill([], {}, { status })).toEqual({
    refusal: { code: "template_not_approved", text: `The network's status of the template is ${status}` },
  });
});

test.each<[string, TemplateComponent]>([
  ["CAROUSEL", { type: "OTHER", name: "CAROUSEL" }],
  ["its header", header("OTHER")],
  ["the button Form", buttons({ type: "OTHER", text: "Form" })],
])("a template with %s is not supported, whatever its status", (name, component) => {
  expect(fill([component], {}, { status: "PAUSED" })).toEqual({
    refusal: { code: "template_not_supported", text: `The template has a part that can't be sent: ${name}` },
  });
});

const anyText = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[{}]/.test(text) && text.trim() !== "");
const anyHeader = fc.constantFrom(undefined, "TEXT", "{{1}}", "{{name}}", "IMAGE", "VIDEO", "DOCUMENT", "LOCATION");
const anyButton = fc.tuple(
  fc.constantFrom("QUICK_REPLY", "URL", "URL {{1}}", "PHONE_NUMBER", "COPY_CODE", "VOICE_CALL", "OTP"),
  anyText,
);

/** A template, and the values that it takes. */
const anyTemplate = fc
  .record({ header: anyHeader, buttons: fc.array(anyButton, { maxLength: 10 }), value: anyText, footer: anyText })
  .map(({ header: kind, buttons: kinds, value, footer }) => {
    const components: TemplateComponent[] = [BODY, { type: "FOOTER", text: footer }];
    const given: TemplateParts = {};
    if (kind === "TEXT") components.push(header("TEXT", "Fixed"));
    else if (kind?.startsWith("{{")) {
      components.push(header("TEXT", `Order ${kind}`));
      given.header = { variables: { [kind.slice(2, -2)]: value } };
    } else if (kind !== undefined) {
      components.push(header(kind as "IMAGE"));
      given.header = kind === "LOCATION" ? { location: PLACE } : { mediaUrl: LINK };
    }
    const list = kinds.map(([type, text]): TemplateButton => {
      const [name, variable = ""] = type.split(" ");
      const url = `https://shop.example/${variable}`;
      return { type: name as "URL", text, ...(name === "URL" && { url }), phoneNumber: "+491" };
    });
    components.push(buttons(...list));
    given.buttons = kinds.flatMap(([type], index): NonNullable<TemplateParts["buttons"]> => {
      if (type === "QUICK_REPLY") return [{ index, payload: value }];
      if (type === "COPY_CODE") return [{ index, code: value }];
      return type === "URL {{1}}" ? [{ index, urlSuffix: value }] : [];
    });
    return { components, given, footer };
  });

test("each template takes the values that it has, and each of them reaches the network and other channels", () => {
  fc.assert(
    fc.property(anyTemplate, ({ components, given, footer }) => {
      const parameters = [{ name: "1", value: "code" }];
      const answer = fillParts({ components, status: "APPROVED" }, given, parameters);
      if (!("filled" in answer)) throw new Error(JSON.stringify(answer));
      const parts = answer.filled;
      const sent = templateObject({ name: "a", language: "en", parameters, parts }, "msg_1");
      const to = { type: "template", to: "1", biz_opaque_callback_data: "a", template: sent };
      expect(faultsOfWhatsApp(to)).toEqual([]);
      const sentComponents = sent.components as { type: string; index?: number }[];
      const codes = parts.buttons.flatMap(({ type }, index) => (type === "OTP" ? [index] : []));
      const indexes = (given.buttons ?? []).map(({ index }) => index);
      expect(sentComponents.filter(({ type }) => type === "header").length).toBe(given.header ? 1 : 0);
      expect(sentComponents.flatMap(({ index }) => index ?? [])).toEqual(
        [...indexes, ...codes].toSorted((one, other) => one - other),
      );
      const { text, interactive } = templateAsText(parts, "The body");
      expect(text).toContain("The body");
      expect(text).toContain(footer);
      const replies = parts.buttons.filter(({ type }) => type === "QUICK_REPLY").map((button) => button.text);
      expect(interactive?.choices.map(({ title }) => title) ?? []).toEqual(replies);
      for (const button of parts.buttons) if (button.type === "URL") expect(text).toContain(button.url);
    }),
  );
});

test("no values make a template throw, and a value less is a fault with a path of the request", () => {
  fc.assert(
    fc.property(anyTemplate, anyTemplate, ({ components }, { given }) => {
      const answer = fillParts({ components, status: "APPROVED" }, given, PARAMETERS);
      if ("faults" in answer) {
        for (const { path } of answer.faults) expect(path).toMatch(/^template\.(header\.\w+|buttons)|^variables\.1$/);
      } else expect(answer).toHaveProperty("filled");
    }),
  );
});
