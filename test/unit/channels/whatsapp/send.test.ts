import { expect, test } from "vitest";
import type { ClientMessageRequest } from "whatsapp-api-js/types";
import type { Outbound } from "../../../../src/model/network.ts";
import { fakeNetwork } from "../fake-network.ts";
import { accepted, credentials, network, outbound, PHONE_ID, refused, TOKEN, whatsapp } from "./network.ts";

const LINK = "https://files.example/a.bin";
const LONG = "a".repeat(1_025);
const common = {
  messaging_product: "whatsapp",
  recipient_type: "individual",
  to: "4915112345678",
  biz_opaque_callback_data: "cht_g0123456789ABCDE.msg_g0123456789ABCDE",
} satisfies Partial<ClientMessageRequest>;

function send(fields: Partial<Outbound>) {
  return whatsapp.send(outbound(fields), credentials, network, new AbortController().signal);
}

function template(...parameters: [name: string, value: string][]): NonNullable<Outbound["template"]> {
  return { name: "greeting", language: "de", parameters: parameters.map(([name, value]) => ({ name, value })) };
}

function body(parameters: object[]) {
  return { name: "greeting", language: { code: "de" }, components: [{ type: "body", parameters }] };
}

test("a send is one POST of JSON to the number's address that carries the token and follows no redirect", async () => {
  const sent = fakeNetwork(accepted("wamid.1"));
  await send({ content: "Hi" });
  expect(sent).toEqual([
    {
      url: `https://graph.test/v24.0/${PHONE_ID}/messages`,
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", "user-agent": "Parley" },
      redirect: "manual",
      body: { ...common, type: "text", text: { body: "Hi", preview_url: false } },
    },
  ]);
});

test.each<[string, Partial<Outbound>, object]>([
  ["a text", { content: "Hi *there*" }, { type: "text", text: { body: "Hi *there*", preview_url: false } }],
  [
    "a text that holds a link is previewed",
    { content: `See ${LINK}` },
    { type: "text", text: { body: `See ${LINK}`, preview_url: true } },
  ],
  [
    "a text with media beside it",
    { content: "Hi", mediaUrl: LINK },
    { type: "text", text: { body: "Hi", preview_url: false } },
  ],
  ["half a surrogate pair", { content: "a\ud83d" }, { type: "text", text: { body: "a\ufffd", preview_url: false } }],
  [
    "an image",
    { type: "IMAGE", content: "Look", mediaUrl: LINK },
    { type: "image", image: { link: LINK, caption: "Look" } },
  ],
  [
    "a video",
    { type: "VIDEO", content: "See", mediaUrl: LINK },
    { type: "video", video: { link: LINK, caption: "See" } },
  ],
  [
    "a document has its name from the link",
    { type: "DOCUMENT", content: "Read", mediaUrl: "https://files.example/b/Plan%20%C3%A4.pdf?x=1#y" },
    {
      type: "document",
      document: {
        link: "https://files.example/b/Plan%20%C3%A4.pdf?x=1#y",
        caption: "Read",
        filename: "Plan ä.pdf",
      },
    },
  ],
  ["an image whose content is the link", { type: "IMAGE", content: LINK }, { type: "image", image: { link: LINK } }],
  [
    "a link with white space around it",
    { type: "VIDEO", content: ` ${LINK}\n` },
    { type: "video", video: { link: LINK } },
  ],
  ["audio whose content is the link", { type: "AUDIO", content: LINK }, { type: "audio", audio: { link: LINK } }],
  [
    "a caption that is a link",
    { type: "IMAGE", content: "https://shop.example/", mediaUrl: LINK },
    { type: "image", image: { link: LINK, caption: "https://shop.example/" } },
  ],
  [
    "a caption of 1,024 characters",
    { type: "IMAGE", content: LONG.slice(1), mediaUrl: LINK },
    { type: "image", image: { link: LINK, caption: LONG.slice(1) } },
  ],
  [
    "a TEMPLATE without a template",
    { type: "TEMPLATE", content: "Hi" },
    { type: "text", text: { body: "Hi", preview_url: false } },
  ],
  [
    "a template without variables has no components",
    { type: "TEMPLATE", template: template() },
    { type: "template", template: { name: "greeting", language: { code: "de" } } },
  ],
  [
    "named parameters carry their name",
    { type: "TEMPLATE", template: template(["who", "Ann"], ["when", "now"]) },
    {
      type: "template",
      template: body([
        { type: "text", parameter_name: "who", text: "Ann" },
        { type: "text", parameter_name: "when", text: "now" },
      ]),
    },
  ],
])("%s", async (_name, fields, expected) => {
  const sent = fakeNetwork(accepted("wamid.1"));
  expect(await send(fields)).toMatchObject({ outcome: "sent" });
  expect(sent.map((each) => each.body)).toEqual([{ ...common, ...expected }]);
});

test.each([
  ["a\nb", "a b"],
  ["a\r\nb", "a b"],
  ["a\tb", "a b"],
  ["a    b", "a b"],
  ["a \n\t  b", "a b"],
  ["a\u2028b", "a b"],
  ["a b", "a b"],
  ["10\u00a0000", "10\u00a0000"],
])("the parameter %j is sent as %j", async (value, sentAs) => {
  const sent = fakeNetwork(accepted("wamid.1"));
  await send({ type: "TEMPLATE", template: template(["1", value]) });
  expect(sent[0]?.body).toMatchObject({ template: body([{ type: "text", text: sentAs }]) });
});

test.each([["DE.1349120865530274"], ["US.ENT.11815799212886844830"], ["49170x"]])(
  "the user id %s is named in recipient and not in to",
  async (address) => {
    const sent = fakeNetwork(accepted("wamid.1"));
    await send({ address });
    const { to: _, ...rest } = common;
    expect(sent[0]?.body).toEqual({
      ...rest,
      recipient: address,
      type: "text",
      text: { body: "Hi", preview_url: false },
    });
  },
);

test.each<[string, Partial<Outbound>]>([
  ["text in place of a link", { content: "Look at this" }],
  ["a link with words after it", { content: `${LINK} look` }],
  ["a link that is not https", { content: "http://files.example/a.jpg" }],
  ["a link with a user in it", { content: "https://me:secret@files.example/a.jpg" }],
  ["another scheme", { content: "javascript:alert(1)" }],
  ["a scheme alone", { content: "https://" }],
])("media with %s fails, and nothing is sent", async (_name, fields) => {
  const sent = fakeNetwork();
  expect(await send({ type: "IMAGE", ...fields })).toEqual({
    outcome: "failed",
    code: "media_url_required",
    message: expect.stringContaining("needs a link: set mediaUrl to an https URL"),
    parts: [],
  });
  expect(sent).toEqual([]);
});

test.each<[string, Partial<Outbound>, object]>([
  ["a caption over 1,024 characters", { type: "IMAGE", content: LONG }, { type: "image", image: { link: LINK } }],
  [
    "a document's long caption",
    { type: "DOCUMENT", content: LONG },
    { type: "document", document: { link: LINK, filename: "a.bin" } },
  ],
  ["text that belongs to audio", { type: "AUDIO", content: "Hear" }, { type: "audio", audio: { link: LINK } }],
])("%s follows as a message of its own", async (_name, fields, media) => {
  const sent = fakeNetwork(accepted("wamid.1"), accepted("wamid.2"));
  expect(await send({ ...fields, mediaUrl: LINK })).toMatchObject({ outcome: "sent", parts: ["wamid.1", "wamid.2"] });
  expect(sent.map((each) => each.body)).toEqual([
    { ...common, ...media },
    { ...common, type: "text", text: { body: fields.content, preview_url: false } },
  ]);
});

test("a sent part is reported if the next one is refused", async () => {
  fakeNetwork(accepted("wamid.1"), refused(131026, { message: "Undeliverable" }));
  expect(await send({ type: "IMAGE", content: LONG, mediaUrl: LINK })).toEqual({
    outcome: "failed",
    code: "network_131026",
    message: "Undeliverable",
    works: true,
    parts: ["wamid.1"],
  });
});

test("a sent part is reported if the answer to the next one is lost", async () => {
  fakeNetwork(accepted("wamid.1"), () => Promise.reject(new Error("Network connection lost.")));
  expect(await send({ type: "IMAGE", content: LONG, mediaUrl: LINK })).toMatchObject({
    outcome: "unknown",
    parts: ["wamid.1"],
  });
});

test("a part sent in an earlier attempt is not sent again", async () => {
  const sent = fakeNetwork(accepted("wamid.2"));
  expect(await send({ type: "AUDIO", content: "Hear", mediaUrl: LINK, partsSent: ["wamid.1"] })).toMatchObject({
    outcome: "sent",
    parts: ["wamid.1", "wamid.2"],
  });
  expect(sent.map((each) => each.body)).toEqual([
    { ...common, type: "text", text: { body: "Hear", preview_url: false } },
  ]);
});

test.each<[string, { wa_id?: string; user_id?: string }, string[]]>([
  ["its own address is not new", { wa_id: "4915112345678" }, []],
  ["a wa_id that differs from the number is one", { wa_id: "491511234567" }, ["491511234567"]],
  ["a user id is one", { wa_id: "4915112345678", user_id: "DE.134912086" }, ["DE.134912086"]],
  ["both are", { wa_id: "491511234567", user_id: "DE.134912086" }, ["491511234567", "DE.134912086"]],
])("of the further addresses in an answer, %s", async (_name, contact, addresses) => {
  fakeNetwork(accepted("wamid.1", contact));
  expect(await send({})).toEqual({ outcome: "sent", parts: ["wamid.1"], addresses });
});

test("a response without contacts is a success", async () => {
  fakeNetwork(() => Response.json({ messaging_product: "whatsapp", messages: [{ id: "wamid.1" }] }));
  expect(await send({})).toEqual({ outcome: "sent", parts: ["wamid.1"], addresses: [] });
});
