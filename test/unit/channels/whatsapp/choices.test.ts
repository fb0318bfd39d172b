import { expect, test } from "vitest";
import type { ActionButtons, ActionCTA, ActionList, ActionLocation, Interactive } from "whatsapp-api-js/messages";
import type { ClientMessageRequest } from "whatsapp-api-js/types";
import { whatsappRendering } from "../../../../src/model/channel-kinds/whatsapp.ts";
import type { Choice, Choices } from "../../../../src/model/content.ts";
import type { Outbound } from "../../../../src/model/network.ts";
import { fakeNetwork } from "../fake-network.ts";
import type { Json } from "../wire.ts";
import { accepted, credentials, network, outbound, whatsapp } from "./network.ts";

const LINK = "https://files.example/plan.pdf";
const ID = "msg_g0123456789ABCDE";
const common = {
  messaging_product: "whatsapp",
  recipient_type: "individual",
  to: "4915112345678",
  biz_opaque_callback_data: "cht_g0123456789ABCDE.msg_g0123456789ABCDE",
} satisfies Partial<ClientMessageRequest>;

type Frame = Omit<Json<Interactive>, "action" | "type">;
type Shown =
  | (Frame & { type: "button"; action: Json<ActionButtons> })
  | (Frame & { type: "list"; action: Json<ActionList> })
  | (Frame & { type: "cta_url"; action: Json<ActionCTA> })
  | (Frame & { type: "location_request_message"; action: Json<ActionLocation> });

/** The request bodies that a message is sent as, without the fields that all of them have. */
async function bodiesOf(fields: Partial<Outbound>): Promise<object[]> {
  const replies = Array.from({ length: 9 }, (_, index) => accepted(`wamid.${index}`));
  const sent = fakeNetwork(...replies);
  const answer = await whatsapp.send(outbound(fields), credentials, network, new AbortController().signal);
  expect(answer).toMatchObject({ outcome: "sent" });
  expect(whatsapp.countParts(outbound(fields))).toBe(sent.length);
  return sent.map(({ body }) => {
    expect(body).toMatchObject(common);
    const rest = { ...(body as object) };
    for (const field of Object.keys(common)) delete rest[field as keyof typeof rest];
    return rest;
  });
}

/** A message with choices, rendered as a chat of WhatsApp would. */
function choosing(choices: Choices, fields: Partial<Outbound> = {}): Partial<Outbound> {
  return {
    ...fields,
    interactive: { ...choices, rendering: whatsappRendering(choices, { address: "", hasMedia: false }) },
  };
}

function reply(title: string, more: { description?: string; section?: string } = {}): Choice {
  return { type: "reply", id: `own-${title}`, title, ...more };
}

function link(title: string, url = "https://shop.example/"): Choice {
  return { type: "link", title, url };
}

function letters(count: number, first = ""): string {
  return first.padEnd(count, "x");
}

const interactive = (shown: Shown) => ({ type: "interactive", interactive: shown });
const text = (body: string, preview_url = false) => ({ type: "text", text: { body, preview_url } });
const button = (index: number, title: string) => ({ type: "reply" as const, reply: { id: `${ID}:${index}`, title } });
const ten = Array.from({ length: 10 }, (_, index) => `Choice ${index}`);

test.each<[string, Choices, string]>([
  ["a title of 20 characters", { choices: [reply(letters(20))] }, "buttons"],
  ["a title of 21 characters", { choices: [reply(letters(21))] }, "list"],
  ["a title of 24 characters", { choices: [reply(letters(24))] }, "list"],
  ["three replies", { choices: ten.slice(0, 3).map((title) => reply(title)) }, "buttons"],
  ["four replies", { choices: ten.slice(0, 4).map((title) => reply(title)) }, "list"],
  ["ten replies", { choices: ten.map((title) => reply(title)) }, "list"],
  ["a description", { choices: [reply("A", { description: "B" })] }, "list"],
  ["a section", { choices: [reply("A", { section: "B" })] }, "list"],
  ["a link of 20 characters", { choices: [link(letters(20))] }, "link"],
  ["a link of 21 characters", { choices: [link(letters(21))] }, "text"],
  ["a link to an IPv4 address", { choices: [link("A", "http://192.0.2.7/")] }, "text"],
  ["a link to an IPv6 address", { choices: [link("A", "http://[2001:db8::1]:8080/")] }, "text"],
  ["a link to a name of digits", { choices: [link("A", "https://1.example/")] }, "link"],
  ["two links", { choices: [link("A"), link("B")] }, "text"],
  ["a request for the location", { choices: [{ type: "location", title: letters(24) }] }, "buttons"],
])("%s is shown in WhatsApp's own form", (_, choices, rendering) => {
  expect(whatsappRendering(choices, { address: "", hasMedia: false })).toBe(rendering);
});

test("up to three short replies are buttons, which bring the message and the index back", async () => {
  const titles = [letters(20, "a"), "B", "C"];
  const choices = { choices: titles.map((title) => reply(title)), header: letters(60, "h"), footer: letters(60, "f") };
  expect(await bodiesOf(choosing(choices, { content: letters(1_024) }))).toEqual([
    interactive({
      type: "button",
      header: { type: "text", text: letters(60, "h") },
      body: { text: letters(1_024) },
      footer: { text: letters(60, "f") },
      action: { buttons: titles.map((title, index) => button(index, title)) },
    }),
  ]);
});

test.each([
  ["IMAGE", { type: "image", image: { link: LINK } }],
  ["VIDEO", { type: "video", video: { link: LINK } }],
  ["DOCUMENT", { type: "document", document: { link: LINK, filename: "plan.pdf" } }],
] as const)("%s stands in the header of buttons and of a link", async (type, header) => {
  const media = { type, mediaUrl: LINK, content: "Look" };
  expect(await bodiesOf(choosing({ choices: [reply("Yes")], footer: "Shop" }, media))).toEqual([
    {
      type: "interactive",
      interactive: {
        type: "button",
        header,
        body: { text: "Look" },
        footer: { text: "Shop" },
        action: { buttons: [button(0, "Yes")] },
      },
    },
  ]);
  expect(await bodiesOf(choosing({ choices: [link("Open")] }, media))).toMatchObject([
    { type: "interactive", interactive: { type: "cta_url", header } },
  ]);
});

test("more replies are rows of a list, in their sections, with the button that opens it", async () => {
  const long = letters(72, "d");
  const choices = {
    choices: [
      reply(letters(24, "a"), { section: letters(24, "s"), description: long }),
      reply("B"),
      reply("C", { section: letters(24, "s") }),
      ...ten.slice(3).map((title) => reply(title)),
    ],
    menuTitle: letters(20, "m"),
    header: "Order",
    footer: "Shop",
  };
  expect(await bodiesOf(choosing(choices, { content: "Which?" }))).toEqual([
    interactive({
      type: "list",
      header: { type: "text", text: "Order" },
      body: { text: "Which?" },
      footer: { text: "Shop" },
      action: {
        button: letters(20, "m"),
        sections: [
          {
            title: letters(24, "s"),
            rows: [
              { id: `${ID}:0`, title: letters(24, "a"), description: long },
              { id: `${ID}:2`, title: "C" },
            ],
          },
          {
            // The rows without a section are in one as well, because each of several needs a title.
            title: letters(20, "m"),
            rows: [
              { id: `${ID}:1`, title: "B" },
              ...ten.slice(3).map((title, index) => ({ id: `${ID}:${index + 3}`, title })),
            ],
          },
        ],
      },
    }),
  ]);
});

test("one section without a name has no title, and the button has a label", async () => {
  const titles = ten.slice(0, 4);
  expect(await bodiesOf(choosing({ choices: titles.map((title) => reply(title)) }, { content: "Which?" }))).toEqual([
    interactive({
      type: "list",
      body: { text: "Which?" },
      action: {
        button: "Options",
        sections: [{ rows: titles.map((title, index) => ({ id: `${ID}:${index}`, title })) }],
      },
    }),
  ]);
});

test("one named section has its title", async () => {
  expect(await bodiesOf(choosing({ choices: [reply("A", { section: "S" })] }))).toMatchObject([
    { interactive: { action: { sections: [{ title: "S", rows: [{ title: "A" }] }] } } },
  ]);
});

test("media of a list go out before it; the quote is on the media", async () => {
  const choices = { choices: [reply(letters(21, "a"))], footer: "Shop" };
  const media = { type: "IMAGE", mediaUrl: LINK, content: "Which?", quote: "wamid.quoted" } as const;
  expect(await bodiesOf(choosing(choices, media))).toEqual([
    { context: { message_id: "wamid.quoted" }, type: "image", image: { link: LINK } },
    interactive({
      type: "list",
      body: { text: "Which?" },
      footer: { text: "Shop" },
      action: { button: "Options", sections: [{ rows: [{ id: `${ID}:0`, title: letters(21, "a") }] }] },
    }),
  ]);
});

test("one short link is a button", async () => {
  const url = `https://shop.example/${letters(479)}`;
  const choices = { choices: [link(letters(20, "a"), url)], header: "Order", footer: "Shop" };
  expect(await bodiesOf(choosing(choices, { content: letters(1_024) }))).toEqual([
    interactive({
      type: "cta_url",
      header: { type: "text", text: "Order" },
      body: { text: letters(1_024) },
      footer: { text: "Shop" },
      action: { name: "cta_url", parameters: { display_text: letters(20, "a"), url } },
    }),
  ]);
});

test("other links are lines of the text, between the content and the footer", async () => {
  const choices = { choices: [link("A", "https://a.example/"), link("B", "https://b.example/")] };
  expect(await bodiesOf(choosing({ ...choices, header: "Order", footer: "Shop" }, { content: "Which?" }))).toEqual([
    text("Order\n\nWhich?\n\nA: https://a.example/\nB: https://b.example/\n\nShop", true),
  ]);
  expect(await bodiesOf(choosing(choices, { type: "IMAGE", mediaUrl: LINK, content: "Which?" }))).toEqual([
    { type: "image", image: { link: LINK, caption: "Which?\n\nA: https://a.example/\nB: https://b.example/" } },
  ]);
});

test("lines that fill more than a text become a second text, without a cut in a link", async () => {
  const urls = ten.map((_, index) => `https://shop.example/${letters(478)}${index}`);
  const choices = { choices: urls.map((url, index) => link(`${letters(23)}${index}`, url)) };
  const bodies = await bodiesOf(choosing(choices, { content: letters(1_024) }));
  expect(bodies).toHaveLength(2);
  const texts = bodies.map((body) => (body as { text: { body: string } }).text.body);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(4_096);
  for (const url of urls)
    expect(
      texts
        .join("\n")
        .split("\n")
        .some((line) => line.endsWith(`: ${url}`)),
    ).toBe(true);
});

test("a request for the location has the text, and header and footer in it", async () => {
  const choices: Choices = { choices: [{ type: "location", title: "Where?" }], header: "Order", footer: "Shop" };
  const request = (body: string) =>
    interactive({ type: "location_request_message", body: { text: body }, action: { name: "send_location" } });
  expect(await bodiesOf(choosing(choices, { content: "We come." }))).toEqual([request("Order\n\nWe come.\n\nShop")]);
  const fits = letters(1_024 - "Order".length - "Shop".length - 4);
  expect(await bodiesOf(choosing(choices, { content: fits }))).toEqual([request(`Order\n\n${fits}\n\nShop`)]);
  expect(await bodiesOf(choosing(choices, { content: `${fits}x` }))).toEqual([
    text(`Order\n\n${fits}x\n\nShop`),
    request("Where?"),
  ]);
});

test("a request for the location follows the media", async () => {
  const choices: Choices = { choices: [{ type: "location", title: "Where?" }] };
  const bodies = await bodiesOf(choosing(choices, { type: "VIDEO", mediaUrl: LINK, content: "We come." }));
  expect(bodies).toEqual([
    { type: "video", video: { link: LINK } },
    interactive({
      type: "location_request_message",
      body: { text: "We come." },
      action: { name: "send_location" },
    }),
  ]);
});

test("the company's own ids of the replies stay inside", async () => {
  for (const count of [1, 4]) {
    const choices = { choices: ten.slice(0, count).map((title) => reply(title)) };
    expect(JSON.stringify(await bodiesOf(choosing(choices)))).not.toContain("own-");
  }
});
