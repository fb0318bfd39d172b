import { expect, test } from "vitest";
import { templateAsText } from "../../../../../src/channels/templates/object/as-text.ts";
import type { FilledParts } from "../../../../../src/model/template.ts";

const NONE: FilledParts = { header: null, footer: null, buttons: [] };

test("a template without parts is its body", () => {
  expect(templateAsText(NONE, "Hi Ada")).toEqual({ text: "Hi Ada", interactive: null });
});

test("header, body and footer are text, quick replies are choices, and other buttons are lines", () => {
  const parts: FilledParts = {
    header: { type: "text", text: "Order 7", parameters: [] },
    footer: "Acme",
    buttons: [
      { type: "QUICK_REPLY", text: "Yes, please, by all means!", id: "yes" },
      { type: "URL", text: "Track", url: "https://shop.example/7", suffix: "7" },
      { type: "PHONE_NUMBER", text: "Call", phoneNumber: "+491" },
      { type: "COPY_CODE", text: "Coupon", code: "SAVE10" },
      { type: "OTP", text: "Copy code", code: "123456" },
      { type: "VOICE_CALL", text: "Call us" },
    ],
  };
  expect(templateAsText(parts, "Hi Ada")).toEqual({
    text: "Order 7\n\nHi Ada\n\nTrack: https://shop.example/7\nCall: +491\nCoupon: SAVE10\n\nAcme",
    interactive: { choices: [{ type: "reply", id: "yes", title: "Yes, please, by all means!" }] },
  });
});

test.each<[FilledParts["header"], string]>([
  [
    { type: "media", format: "IMAGE", link: "https://files.example/a", fileName: null },
    "https://files.example/a\n\nHi",
  ],
  [
    { type: "location", location: { latitude: 1.5, longitude: -2, name: "Office", address: "Main Street" } },
    "Office\nMain Street\n1.5, -2\n\nHi",
  ],
  [{ type: "location", location: { latitude: 1.5, longitude: -2 } }, "1.5, -2\n\nHi"],
  [{ type: "location", location: { latitude: 0, longitude: 0, address: "Main Street" } }, "Main Street\n0, 0\n\nHi"],
  [{ type: "media", format: "IMAGE", link: null, fileName: "a.png" }, "Hi"],
])("a header with %j stands above the body", (header, text) => {
  expect(templateAsText({ ...NONE, header }, "Hi").text).toBe(text);
});

test("a footer alone stands below the body, and choices alone are no lines", () => {
  expect(templateAsText({ ...NONE, footer: "Acme" }, "Hi").text).toBe("Hi\n\nAcme");
  const buttons: FilledParts["buttons"] = [
    { type: "QUICK_REPLY", text: "Yes", id: "yes" },
    { type: "VOICE_CALL", text: "Call us" },
    { type: "QUICK_REPLY", text: "No", id: "no" },
  ];
  expect(templateAsText({ ...NONE, buttons }, "Hi")).toEqual({
    text: "Hi",
    interactive: {
      choices: [
        { type: "reply", id: "yes", title: "Yes" },
        { type: "reply", id: "no", title: "No" },
      ],
    },
  });
});
