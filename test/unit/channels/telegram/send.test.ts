import type { ApiMethods } from "@grammyjs/types";
import { expect, test } from "vitest";
import type { Outbound } from "../../../../src/model/network.ts";
import { fakeNetwork } from "../fake-network.ts";
import { accepted, credentials, network, outbound, refused, TOKEN, telegram } from "./network.ts";

const LINK = "https://files.example/a.bin";
const LONG = "a".repeat(1_025);
const template = { name: "greeting", language: "en", parameters: [{ name: "who", value: "Ann" }] };

type Body<M extends keyof ApiMethods<string>> = Parameters<ApiMethods<string>[M]>[0];

function send(fields: Partial<Outbound>) {
  return telegram.send(outbound(fields), credentials, network, new AbortController().signal);
}

test("a send is one POST of JSON to the bot's address that follows no redirect", async () => {
  const sent = fakeNetwork(accepted(7));
  await send({ content: "Hi" });
  expect(sent).toEqual([
    {
      url: `https://telegram.test/bot${TOKEN}/sendMessage`,
      method: "POST",
      headers: { "content-type": "application/json" },
      redirect: "manual",
      body: { chat_id: "42", text: "Hi" } satisfies Body<"sendMessage">,
    },
  ]);
});

test("a send that Telegram took is sent, and its part is named by bot, chat and number", async () => {
  fakeNetwork(accepted(7));
  expect(await send({})).toEqual({ outcome: "sent", parts: ["123456:42:7"], addresses: [] });
});

test.each<[string, Partial<Outbound>, string, Record<string, string>]>([
  ["a text", { content: "Hi *there* <b>" }, "sendMessage", { text: "Hi *there* <b>" }],
  ["a text with a link beside it", { content: "Hi", mediaUrl: LINK }, "sendMessage", { text: "Hi" }],
  ["a text that is a link", { content: LINK }, "sendMessage", { text: LINK }],
  [
    "a filled template",
    { type: "TEMPLATE", content: "x", text: "Hi Ann", template },
    "sendMessage",
    { text: "Hi Ann" },
  ],
  ["a TEMPLATE without a template", { type: "TEMPLATE", content: "Hi" }, "sendMessage", { text: "Hi" }],
  ["half a surrogate pair", { content: "a\ud83d" }, "sendMessage", { text: "a\ufffd" }],
  ["an image", { type: "IMAGE", content: "Look", mediaUrl: LINK }, "sendPhoto", { photo: LINK, caption: "Look" }],
  [
    "a document",
    { type: "DOCUMENT", content: "Read", mediaUrl: LINK },
    "sendDocument",
    { document: LINK, caption: "Read" },
  ],
  ["audio", { type: "AUDIO", content: "Hear", mediaUrl: LINK }, "sendAudio", { audio: LINK, caption: "Hear" }],
  ["a video", { type: "VIDEO", content: "See", mediaUrl: LINK }, "sendVideo", { video: LINK, caption: "See" }],
  ["an image whose content is the link", { type: "IMAGE", content: LINK }, "sendPhoto", { photo: LINK }],
  ["a link with spaces around it", { type: "IMAGE", content: ` ${LINK}\n` }, "sendPhoto", { photo: LINK }],
  [
    "a caption that is a link",
    { type: "IMAGE", content: "https://b.example", mediaUrl: LINK },
    "sendPhoto",
    { photo: LINK, caption: "https://b.example" },
  ],
  [
    "a caption of 1,024 characters",
    { type: "IMAGE", content: LONG.slice(1), mediaUrl: LINK },
    "sendPhoto",
    { photo: LINK, caption: LONG.slice(1) },
  ],
])("%s is one call", async (_, fields, method, body) => {
  const sent = fakeNetwork(accepted(7));
  expect(await send({ ...fields, address: "-100987" })).toMatchObject({ outcome: "sent", parts: ["123456:-100987:7"] });
  expect(sent).toMatchObject([{ url: `https://telegram.test/bot${TOKEN}/${method}` }]);
  expect(sent[0]?.body).toEqual({ chat_id: "-100987", ...body });
});

test("text longer than a caption follows the media as a message of its own", async () => {
  const sent = fakeNetwork(accepted(7), accepted(8));
  const outcome = await send({ type: "VIDEO", content: LONG, mediaUrl: LINK });
  expect(outcome).toEqual({ outcome: "sent", parts: ["123456:42:7", "123456:42:8"], addresses: [] });
  expect(sent.map(({ url, body }) => [url.split("/").at(-1), body])).toEqual([
    ["sendVideo", { chat_id: "42", video: LINK }],
    ["sendMessage", { chat_id: "42", text: LONG }],
  ]);
});

test("the media that went out stays known when the text after it is refused", async () => {
  fakeNetwork(accepted(7), refused(429, "Too Many Requests: retry after 3", { retry_after: 3 }));
  const outcome = await send({ type: "IMAGE", content: LONG, mediaUrl: LINK });
  expect(outcome).toMatchObject({ outcome: "retry", afterMs: 3_000, parts: ["123456:42:7"] });
});

test("a retry sends only the part that has not gone out", async () => {
  const sent = fakeNetwork(accepted(8));
  const outcome = await send({ type: "IMAGE", content: LONG, mediaUrl: LINK, partsSent: ["123456:42:7"] });
  expect(outcome).toEqual({ outcome: "sent", parts: ["123456:42:7", "123456:42:8"], addresses: [] });
  expect(sent.map(({ body }) => body)).toEqual([{ chat_id: "42", text: LONG }]);
});

test("the parts of earlier attempts are not written into", async () => {
  fakeNetwork(accepted(8));
  const message = outbound({ type: "IMAGE", content: LONG, mediaUrl: LINK, partsSent: Object.freeze(["123456:42:7"]) });
  const outcome = await telegram.send(message, credentials, network, new AbortController().signal);
  expect(outcome).toMatchObject({ outcome: "sent" });
});

test.each<[string, Partial<Outbound>]>([
  ["no link", { type: "IMAGE", content: "Look" }],
  ["a link amid text", { type: "DOCUMENT", content: `see ${LINK}` }],
  ["a link before text", { type: "DOCUMENT", content: `${LINK} and more` }],
  ["an http link", { type: "AUDIO", content: "http://files.example/a.mp3" }],
  ["a javascript link", { type: "VIDEO", content: "javascript:alert(1)" }],
  ["a data link", { type: "IMAGE", content: "data:image/png;base64,AAAA" }],
  ["a file id", { type: "IMAGE", content: "AgACAgIAAxkBAAI" }],
  ["a link with a password", { type: "IMAGE", content: "https://ann:secret@files.example/a.png" }],
])("media with %s fails without a call", async (_, fields) => {
  const sent = fakeNetwork();
  const message = `The ${fields.type?.toLowerCase()} needs a link: set mediaUrl to an https URL`;
  expect(await send(fields)).toEqual({ outcome: "failed", code: "media_url_required", message, parts: [] });
  expect(sent).toEqual([]);
});
