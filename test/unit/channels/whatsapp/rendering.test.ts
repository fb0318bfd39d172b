import { expect, test } from "vitest";
import { renderForWhatsApp } from "../../../../src/channels/whatsapp/render.ts";
import type { Body } from "../../../../src/model/network.ts";
import { FILE } from "../outbound.ts";

const LINK = "https://files.example/a.bin";

/** The parts of a message, without the fields that all have. */
function partsOf(body: Body, quote: string | null = null) {
  const parts = renderForWhatsApp({ address: "49151", chatId: "c", messageId: "m", quote, body });
  return parts.map(({ body: { messaging_product, recipient_type, to, biz_opaque_callback_data, ...rest }, file }) => {
    expect([messaging_product, recipient_type, to, biz_opaque_callback_data]).toEqual([
      ...["whatsapp", "individual", "49151", "c.m"],
    ]);
    return file === undefined ? rest : { ...rest, file };
  });
}

const media = (fields: Partial<Extract<Body, { kind: "media" }>>) =>
  partsOf({ kind: "media", type: "IMAGE", source: { link: LINK }, caption: null, ...fields });

test.each([
  ["http://a", true],
  ["HTTPS://A", true],
  ["see https://a.example", true],
  ["https:// a", false],
  ["https://", false],
  ["httpss://a", false],
  ["ftp://a", false],
  ["https:/a", false],
])("the text %j is previewed: %s", (text, preview_url) => {
  expect(partsOf({ kind: "text", text })).toEqual([{ type: "text", text: { body: text, preview_url } }]);
});

test("a voice note is marked, and other audio is not", () => {
  const source = { file: FILE };
  const audio = { id: FILE };
  expect(media({ type: "AUDIO", source, isVoice: true })).toEqual([
    { type: "audio", audio: { ...audio, voice: true }, file: FILE },
  ]);
  for (const isVoice of [false, undefined]) {
    expect(media({ type: "AUDIO", source, isVoice })).toEqual([{ type: "audio", audio, file: FILE }]);
  }
});

test("a file is in the first part only, and so is a quote", () => {
  const caption = `${"x".repeat(3_000)}\n${"y".repeat(3_000)}`;
  const parts = partsOf({ kind: "media", type: "IMAGE", source: { file: FILE }, caption }, "wamid.q");
  expect(parts.map((part) => ["file" in part, "context" in part])).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ]);
});

test("a file that a document shows has its name, of at most 240 characters", () => {
  const nameOf = (fileName: string | null) => {
    const [part] = media({ type: "DOCUMENT", source: { file: { ...FILE, fileName } } });
    return (part as unknown as { document: { filename: string } }).document.filename;
  };
  expect(nameOf("plan.pdf")).toBe("plan.pdf");
  expect(nameOf(null)).toBe("file.pdf");
  expect(nameOf("x".repeat(250))).toBe("x".repeat(240));
});

test("a caption is well formed, and an empty one is one", () => {
  expect(media({ caption: "a\ud83d" })).toEqual([{ type: "image", image: { link: LINK, caption: "a\ufffd" } }]);
  expect(media({ caption: "" })).toEqual([{ type: "image", image: { link: LINK, caption: "" } }]);
});

test("a link has a file name only as a document", () => {
  for (const type of ["IMAGE", "VIDEO", "AUDIO"] as const) {
    expect(media({ type })).toEqual([{ type: type.toLowerCase(), [type.toLowerCase()]: { link: LINK } }]);
  }
  expect(media({ type: "DOCUMENT" })).toEqual([{ type: "document", document: { link: LINK, filename: "a.bin" } }]);
  expect(media({ type: "DOCUMENT", source: { link: "no link" } })).toEqual([
    { type: "document", document: { link: "no link" } },
  ]);
});

const choosing = (interactive: Extract<Body, { kind: "choices" }>["interactive"], source = { link: LINK }) =>
  partsOf({ kind: "choices", text: "Which?", media: { type: "IMAGE", source }, interactive });

test("the file of choices above a text goes with the media", () => {
  const choices = [{ type: "link" as const, title: "A", url: "https://a.example/" }];
  const parts = partsOf({
    ...{ kind: "choices", text: "Which?", media: { type: "IMAGE", source: { file: FILE } } },
    interactive: { choices, rendering: "text" },
  });
  const caption = "Which?\n\nA: https://a.example/";
  expect(parts).toEqual([{ type: "image", image: { id: FILE, caption }, file: FILE }]);
});

test("above buttons the media take the place of a header", () => {
  const choices = [{ type: "reply" as const, id: "own", title: "Yes" }];
  expect(choosing({ choices, header: "Order", rendering: "buttons" })).toMatchObject([
    { interactive: { type: "button", header: { type: "image", image: { link: LINK } } } },
  ]);
});

test("an address that is not only digits is a user id", () => {
  const body: Body = { kind: "text", text: "Hi" };
  for (const address of ["a1", "1a", "DE.1"]) {
    const [part] = renderForWhatsApp({ address, chatId: "c", messageId: "m", quote: null, body });
    expect(part?.body).toMatchObject({ recipient: address });
    expect(part?.body).not.toHaveProperty("to");
  }
});
