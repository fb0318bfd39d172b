import fc from "fast-check";
import { expect, test } from "vitest";
import { listedTemplate } from "../../../../src/channels/whatsapp/template-list.ts";

const LISTED = {
  id: "594425479261596",
  name: "order_shipped",
  language: "en_US",
  status: "APPROVED",
  category: "UTILITY",
  parameter_format: "NAMED",
  quality_score: { score: "GREEN", date: 1_727_000_000 },
  rejected_reason: "NONE",
  components: [
    { type: "HEADER", format: "TEXT", text: "Order {{order}}", example: { header_text: ["7"] } },
    { type: "BODY", text: "Hi {{name}}", example: { body_text: [["Ada"]] } },
    { type: "FOOTER", text: "Acme" },
    {
      type: "BUTTONS",
      buttons: [
        { type: "QUICK_REPLY", text: "Yes" },
        { type: "URL", text: "Track", url: "https://shop.example/{{1}}", example: ["https://shop.example/7"] },
        { type: "PHONE_NUMBER", text: "Call", phone_number: "+491" },
        { type: "COPY_CODE", text: "Copy", example: "SAVE" },
        { type: "FLOW", text: "Form", flow_id: 7 },
      ],
    },
  ],
};
const KEY = { name: "order_shipped", language: "en_US" };

test("a listed template is read without what the service does not need", () => {
  expect(listedTemplate(LISTED)).toEqual({
    key: KEY,
    template: {
      ...KEY,
      body: "Hi {{name}}",
      parameterFormat: "NAMED",
      components: [
        { type: "HEADER", format: "TEXT", text: "Order {{order}}" },
        { type: "BODY", text: "Hi {{name}}" },
        { type: "FOOTER", text: "Acme" },
        {
          type: "BUTTONS",
          buttons: [
            { type: "QUICK_REPLY", text: "Yes" },
            { type: "URL", text: "Track", url: "https://shop.example/{{1}}" },
            { type: "PHONE_NUMBER", text: "Call", phoneNumber: "+491" },
            { type: "COPY_CODE", text: "Copy" },
            { type: "OTHER", text: "Form" },
          ],
        },
      ],
      state: {
        id: "594425479261596",
        status: "APPROVED",
        category: "UTILITY",
        quality: "GREEN",
        rejectedReason: null,
      },
    },
  });
});

test("what Meta may leave out or change counts as absent", () => {
  const changes = { id: 7, category: 7, parameter_format: null, quality_score: "GREEN", rejected_reason: undefined };
  expect(listedTemplate({ ...LISTED, ...changes })?.template).toMatchObject({
    parameterFormat: "POSITIONAL",
    state: { id: "7", category: null, quality: null, rejectedReason: null },
  });
});

test.each<[string, object, object]>([
  ["an image as header", { type: "HEADER", format: "IMAGE" }, { type: "HEADER", format: "IMAGE" }],
  ["a header of another kind", { type: "HEADER", format: "PRODUCT" }, { type: "HEADER", format: "OTHER" }],
  ["a carousel", { type: "CAROUSEL", cards: [] }, { type: "OTHER", name: "CAROUSEL" }],
  ["an offer", { type: "limited_time_offer" }, { type: "OTHER", name: "LIMITED_TIME_OFFER" }],
  [
    "the footer of a code",
    { type: "FOOTER", code_expiration_minutes: 5 },
    { type: "FOOTER", text: "This code expires in 5 minutes." },
  ],
  [
    "the button of a code",
    {
      type: "BUTTONS",
      buttons: [
        { type: "URL", text: "Copy", url: "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}" },
      ],
    },
    { type: "BUTTONS", buttons: [{ type: "OTP", text: "Copy" }] },
  ],
  [
    "a button without a text",
    {
      type: "BUTTONS",
      buttons: [
        { type: "COPY_CODE", example: "250FF" },
        { type: "REQUEST_CONTACT_INFO", text: null },
        { type: "VOICE_CALL", text: "" },
        { type: "QUICK_REPLY", text: "Yes" },
      ],
    },
    {
      type: "BUTTONS",
      buttons: [
        { type: "COPY_CODE", text: "copy code" },
        { type: "OTHER", text: "request contact info" },
        { type: "VOICE_CALL", text: "voice call" },
        { type: "QUICK_REPLY", text: "Yes" },
      ],
    },
  ],
])("%s is read", (_name, given, read) => {
  const components = [{ type: "BODY", text: "Hi" }, given];
  expect(listedTemplate({ ...LISTED, components })?.template?.components[1]).toEqual(read);
});

test.each<[string, unknown[]]>([
  ["no body", [{ type: "FOOTER", text: "Acme" }]],
  [
    "two bodies",
    [
      { type: "BODY", text: "a" },
      { type: "BODY", text: "b" },
    ],
  ],
  ["a body with a broken placeholder", [{ type: "BODY", text: "Hi {{name" }]],
  ["a body that is too long", [{ type: "BODY", text: "x".repeat(4_097) }]],
  ["a blank body", [{ type: "BODY", text: " " }]],
  [
    "11 buttons",
    [
      { type: "BODY", text: "a" },
      { type: "BUTTONS", buttons: Array(11).fill({ type: "FLOW", text: "a" }) },
    ],
  ],
  [
    "a link without an address",
    [
      { type: "BODY", text: "a" },
      { type: "BUTTONS", buttons: [{ type: "URL", text: "a" }] },
    ],
  ],
  [
    "a button whose text is too long",
    [
      { type: "BODY", text: "a" },
      { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "x".repeat(201) }] },
    ],
  ],
  ["a component that is not one", [{ type: "BODY", text: "a" }, null]],
  ["21 components", [{ type: "BODY", text: "a" }, ...Array(20).fill({ type: "A" })]],
  [
    "more than 8 KiB",
    [
      { type: "BODY", text: "a" },
      {
        type: "BUTTONS",
        buttons: Array(5).fill({ type: "URL", text: "a", url: `https://a.example/${"x".repeat(1_900)}` }),
      },
    ],
  ],
])("a template with %s is identified but not read", (_name, components) => {
  expect(listedTemplate({ ...LISTED, components })).toEqual({ key: KEY, template: null });
});

test.each([null, 7, {}, { ...LISTED, name: "With Space" }, { ...LISTED, language: "en US" }])(
  "%j is no template",
  (value) => {
    expect(listedTemplate(value)).toBeNull();
  },
);

test("nothing that a network lists throws, and what is read is bounded", () => {
  const anything = fc.anything({ maxDepth: 4 });
  const components = fc.array(
    fc.oneof(
      anything,
      fc.record({ type: fc.constantFrom("BODY", "HEADER", "BUTTONS", "FOOTER"), text: anything, buttons: anything }),
    ),
  );
  fc.assert(
    fc.property(fc.record({ components, status: anything, id: anything }), (fields) => {
      const read = listedTemplate({ ...LISTED, ...fields });
      expect(JSON.stringify(read).length).toBeLessThan(10_000);
    }),
  );
});
