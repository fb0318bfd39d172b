import { expect, test } from "vitest";
import type {
  BodyComponent,
  CopyComponent,
  HeaderComponent,
  PayloadComponent,
  URLComponent,
} from "whatsapp-api-js/messages";
import { templateObject } from "../../../../src/channels/whatsapp/template.ts";
import type { OutboundTemplate } from "../../../../src/model/network.ts";
import type { FilledParts } from "../../../../src/model/template.ts";
import { FILE } from "../outbound.ts";
import type { Json } from "../wire.ts";

type Header = Json<HeaderComponent>;
type Button = Json<PayloadComponent | URLComponent | CopyComponent> & { index: number };

const ID = "msg_g0123456789ABCDE";

function sent(parts: Partial<FilledParts>, parameters: OutboundTemplate["parameters"] = []) {
  const whole = { header: null, footer: "Never sent", buttons: [], ...parts };
  return templateObject({ name: "order", language: "en_US", parameters, parts: whole }, ID);
}

test("a template whose parts take no values is sent by name and language alone", () => {
  const fixed: FilledParts["buttons"] = [
    { type: "URL", text: "Shop", url: "https://shop.example/", suffix: null },
    { type: "PHONE_NUMBER", text: "Call", phoneNumber: "+491" },
    { type: "VOICE_CALL", text: "Call us" },
  ];
  expect(sent({ header: { type: "text", text: "Fixed", parameters: [] }, buttons: fixed })).toEqual({
    name: "order",
    language: { code: "en_US" },
  });
});

test.each<[FilledParts["header"], Header["parameters"]]>([
  [{ type: "text", text: "-", parameters: [{ name: "1", value: "a\n b" }] }, [{ type: "text", text: "a b" }]],
  [
    { type: "text", text: "-", parameters: [{ name: "order", value: "7" }] },
    [{ type: "text", parameter_name: "order", text: "7" }],
  ],
  [
    { type: "media", format: "IMAGE", link: "https://files.example/a", fileName: null },
    [{ type: "image", image: { link: "https://files.example/a" } as never }],
  ],
  [
    { type: "media", format: "DOCUMENT", link: "https://files.example/a", fileName: "a.pdf" },
    [{ type: "document", document: { link: "https://files.example/a", filename: "a.pdf" } as never }],
  ],
  [
    { type: "location", location: { latitude: 1, longitude: 2, name: "Office", address: "Main Street" } },
    [{ type: "location", location: { latitude: 1, longitude: 2, name: "Office", address: "Main Street" } as never }],
  ],
])("the header %j is a component", (header, parameters) => {
  expect(sent({ header }).components).toEqual([{ type: "header", parameters } satisfies Header]);
});

test("only a document that is an upload has the file's name", () => {
  const headerOf = (format: "DOCUMENT" | "IMAGE", link: string | null, fileName: string | null, file = true) => {
    const header = { type: "media" as const, format, link, fileName };
    const template = { name: "order", language: "en", parameters: [], parts: { header, footer: null, buttons: [] } };
    const { components } = templateObject({ ...template, file: file ? FILE : null }, ID);
    const [{ parameters }] = components as [{ parameters: [Record<string, object>] }];
    return parameters[0][format.toLowerCase()];
  };
  const link = "https://files.example/a";
  expect(headerOf("DOCUMENT", null, null)).toEqual({ id: FILE, filename: "plan.pdf" });
  expect(headerOf("DOCUMENT", null, "a.pdf")).toEqual({ id: FILE, filename: "a.pdf" });
  expect(headerOf("DOCUMENT", link, null)).toEqual({ link });
  expect(headerOf("DOCUMENT", null, null, false)).toEqual({ id: null });
  expect(headerOf("IMAGE", null, null)).toEqual({ id: FILE });
  expect(headerOf("IMAGE", link, null)).toEqual({ link });
});

test("header, body and buttons are components in this order, and buttons keep the index over all of them", () => {
  const body: Json<BodyComponent> = { type: "body", parameters: [{ type: "text", text: "Ada" }] };
  const buttons: Button[] = [
    { type: "button", sub_type: "quick_reply", index: 0, parameters: [{ type: "payload", payload: `${ID}:0` }] },
    { type: "button", sub_type: "url", index: 2, parameters: [{ type: "text", text: "7" }] },
    { type: "button", sub_type: "copy_code", index: 3, parameters: [{ type: "coupon_code", coupon_code: "SAVE" }] },
    { type: "button", sub_type: "quick_reply", index: 4, parameters: [{ type: "payload", payload: `${ID}:1` }] },
  ];
  const parts: FilledParts = {
    header: { type: "media", format: "VIDEO", link: "https://files.example/a", fileName: null },
    footer: null,
    buttons: [
      { type: "QUICK_REPLY", text: "Yes", id: "yes" },
      { type: "URL", text: "Shop", url: "https://shop.example/", suffix: null },
      { type: "URL", text: "Track", url: "https://shop.example/7", suffix: "7" },
      { type: "COPY_CODE", text: "Coupon", code: "SAVE" },
      { type: "QUICK_REPLY", text: "No", id: "no" },
    ],
  };
  expect(sent(parts, [{ name: "1", value: "Ada" }]).components).toEqual([
    { type: "header", parameters: [{ type: "video", video: { link: "https://files.example/a" } }] },
    body,
    ...buttons,
  ]);
});

test("the code of an authentication template is in its body and in its button", () => {
  const code: Button = { type: "button", sub_type: "url", index: 0, parameters: [{ type: "text", text: "123456" }] };
  const parts = { buttons: [{ type: "OTP" as const, text: "Copy code", code: "123456" }] };
  expect(sent(parts, [{ name: "1", value: "123456" }]).components).toEqual([
    { type: "body", parameters: [{ type: "text", text: "123456" }] },
    code,
  ]);
});
