import { expect, test } from "vitest";
import { listedTemplate } from "../../../../src/channels/whatsapp/template-list.ts";

const KEY = { name: "order_shipped", language: "en_US" };
const BODY = { type: "BODY", text: "Hi" };
const LISTED = { ...KEY, id: "7", status: "APPROVED", category: "UTILITY", components: [BODY] };

/** What a listed template is read as; null if it can't be. */
const templateWith = (fields: object) => listedTemplate({ ...LISTED, ...fields })?.template;
/** What a component beside the body is read as; null if the template can't be read. */
const componentOf = (component: unknown) => templateWith({ components: [BODY, component] })?.components[1] ?? null;
const buttonsOf = (...buttons: unknown[]) => componentOf({ type: "BUTTONS", buttons });
const buttonOf = (button: unknown) => {
  const read = buttonsOf(button);
  return read?.type === "BUTTONS" ? read.buttons[0] : null;
};

test.each([
  ["INVALID_FORMAT", "INVALID_FORMAT"],
  ["NONE", null],
  [undefined, null],
  ["not a word", null],
])("the reason %j of a rejection is read as %j", (rejected_reason, reason) => {
  expect(templateWith({ rejected_reason })).toMatchObject({ state: { rejectedReason: reason } });
});

test.each([
  ["UTILITY", "UTILITY"],
  ["A".repeat(40), "A".repeat(40)],
  ["A".repeat(41), null],
  ["xUTILITY", null],
  ["UTILITYx", null],
  ["", null],
])("the category %j is read as %j", (category, read) => {
  expect(templateWith({ category })).toMatchObject({ state: { category: read } });
});

test.each(["xAPPROVED", "APPROVEDx", "approved", "", 7, undefined, "A".repeat(41)])(
  "a template with the status %j is identified but not read",
  (status) => {
    expect(listedTemplate({ ...LISTED, status })).toEqual({ key: KEY, template: null });
  },
);

test.each([{ name: "order shipped" }, { name: "Order" }, { name: "order!" }, { name: "x".repeat(513) }, { name: "" }])(
  "the service knows no template with %j",
  (fields) => {
    expect(listedTemplate({ ...LISTED, ...fields })).toBeNull();
  },
);

test.each([{ language: "e" }, { language: "x".repeat(33) }, { language: "en1" }, { language: "1en" }])(
  "the service knows no template with %j either",
  (fields) => {
    expect(listedTemplate({ ...LISTED, ...fields })).toBeNull();
  },
);

test("an id is text of at most 64 characters", () => {
  expect(templateWith({ id: "1".repeat(65) })).toMatchObject({ state: { id: "1".repeat(64) } });
  expect(templateWith({ id: 7 })).toMatchObject({ state: { id: "7" } });
});

test.each<[object, string]>([
  [{ text: "Acme" }, "Acme"],
  [{ text: "Acme", code_expiration_minutes: 5 }, "Acme"],
  [{ code_expiration_minutes: 5 }, "This code expires in 5 minutes."],
  [{ code_expiration_minutes: 1.5 }, ""],
  [{}, ""],
  [{ text: "x".repeat(1_024) }, "x".repeat(1_024)],
  [{ text: "a\ud83d" }, "a\ufffd"],
])("the footer %j is read as %j", (footer, text) => {
  expect(componentOf({ type: "FOOTER", ...footer })).toEqual({ type: "FOOTER", text });
});

test.each<[string, object]>([
  ["a footer of 1,025 characters", { type: "FOOTER", text: "x".repeat(1_025) }],
  ["a header of 1,025 characters", { type: "HEADER", format: "TEXT", text: "x".repeat(1_025) }],
  ["a header without its text", { type: "HEADER", format: "TEXT" }],
  ["half a surrogate pair", { type: "HEADER", format: "TEXT", text: "a\ud83d" }],
  ["a component whose type is too long", { type: "x".repeat(41) }],
  ["no buttons in its list", { type: "BUTTONS" }],
])("a template with %s is not read", (_what, component) => {
  expect(componentOf(component)).toBeNull();
});

test("a header may have 1,024 characters, and a body 4,096", () => {
  const text = "x".repeat(1_024);
  expect(componentOf({ type: "HEADER", format: "TEXT", text })).toEqual({ type: "HEADER", format: "TEXT", text });
  expect(templateWith({ components: [{ type: "BODY", text: "x".repeat(4_096) }] })).toMatchObject({
    ...{ body: "x".repeat(4_096) },
  });
});

test("a body without its text makes the template unreadable", () => {
  expect(templateWith({ components: [{ type: "BODY" }] })).toBeNull();
});

test("of a new component only its name in capital letters is kept", () => {
  expect(componentOf({ type: "tap-target 2_Title" })).toEqual({ type: "OTHER", name: "TAPTARGET_TITLE" });
});

const url = "https://shop.example/?otp_type=1";

test.each<[object, object]>([
  [
    { type: "URL", text: "A", url: "https://x.test/?a=1&otp_type=1" },
    { type: "OTP", text: "A" },
  ],
  [
    { type: "URL", text: "A", url: "https://x.test/otp_type=1" },
    { type: "URL", text: "A", url: "https://x.test/otp_type=1" },
  ],
  [
    { type: "QUICK_REPLY", text: "Yes", url, phone_number: "+49" },
    { type: "QUICK_REPLY", text: "Yes" },
  ],
  [
    { type: "PHONE_NUMBER", text: "Call", url, phone_number: "+49" },
    { type: "PHONE_NUMBER", text: "Call", phoneNumber: "+49" },
  ],
  [
    { type: "URL", text: "Shop", url: "https://shop.example/", phone_number: "+49" },
    { type: "URL", text: "Shop", url: "https://shop.example/" },
  ],
  [
    { type: "QUICK_REPLY", text: "x".repeat(200) },
    { type: "QUICK_REPLY", text: "x".repeat(200) },
  ],
  [
    { type: "QUICK_REPLY", text: 5 },
    { type: "QUICK_REPLY", text: "quick reply" },
  ],
])("the button %j is read as %j", (button, read) => {
  expect(buttonOf(button)).toEqual(read);
});

test.each<[string, unknown]>([
  ["without its number", { type: "PHONE_NUMBER", text: "Call" }],
  ["whose number is too long", { type: "PHONE_NUMBER", text: "Call", phone_number: "1".repeat(33) }],
  ["without its address", { type: "URL", text: "Shop" }],
  ["whose address is too long", { type: "URL", text: "Shop", url: `https://x.test/${"x".repeat(2_000)}` }],
  ["whose text is too long", { type: "QUICK_REPLY", text: "x".repeat(201) }],
  ["whose text has half a surrogate pair", { type: "QUICK_REPLY", text: "a\ud83d" }],
  ["without a type", { text: "Yes" }],
  ["that is null", null],
])("a button %s makes the template unreadable, also beside a good one", (_what, button) => {
  const good = { type: "QUICK_REPLY", text: "Yes" };
  expect(buttonsOf(good)).toEqual({ type: "BUTTONS", buttons: [good] });
  expect(buttonsOf(button)).toBeNull();
  expect(buttonsOf(good, button)).toBeNull();
});

test("ten buttons are read, and all components may have 8,192 characters as JSON", () => {
  expect(buttonsOf(...Array(10).fill({ type: "QUICK_REPLY", text: "Yes" }))).not.toBeNull();
  const link = (length: number) => ({ type: "URL", text: "A", url: `https://x.test/${"x".repeat(length)}` });
  const sized = (length: number) => ({ components: [BODY, { type: "BUTTONS", buttons: [...links, link(length)] }] });
  const links = Array(4).fill(link(1_900));
  const rest = 8_192 - JSON.stringify(sized(0).components).length;
  expect(JSON.stringify(templateWith(sized(rest))?.components)).toHaveLength(8_192);
  expect(templateWith(sized(rest + 1))).toBeNull();
});
