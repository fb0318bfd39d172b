import { expect, test } from "vitest";
import { telegramSpec } from "../../../../src/channels/telegram/spec.ts";
import type { Outbound } from "../../../../src/model/network.ts";
import { fakeNetwork, type SentForm } from "../fake-network.ts";
import { BYTES, FILE, files } from "../outbound.ts";
import { accepted, credentials, network, outbound, telegram } from "./network.ts";

const LINK = "https://files.example/a.ogg";

async function callsOf(fields: Partial<Outbound>) {
  const sent = fakeNetwork(accepted(7), accepted(8));
  await telegram.send(outbound(fields), credentials, network, new AbortController().signal, undefined, files());
  return sent.map(({ url, body }) => [url.split("/").at(-1), body]);
}

test.each([
  ["audio/ogg", true],
  ["audio/opus", true],
  ["audio/mpeg", true],
  ["audio/mp4", true],
  ["audio/wav", false],
  ["audio/oggs", false],
  ["xaudio/ogg", false],
  ["video/mp4", false],
  [null, false],
])("a file of the type %s can be a voice note: %s", (type, takes) => {
  expect(telegramSpec.takesVoice(type)).toBe(takes);
});

test("a voice note of a link is a call of its own kind, with the caption", async () => {
  expect(await callsOf({ type: "AUDIO", isVoice: true, content: "Hear", mediaUrl: LINK })).toEqual([
    ["sendVoice", { chat_id: "42", voice: LINK, caption: "Hear" }],
  ]);
});

test("an uploaded voice note is in the field of one", async () => {
  const file = { ...FILE, contentType: "audio/ogg" };
  const [[method, form] = []] = await callsOf({ type: "AUDIO", isVoice: true, content: "Hear", file });
  expect(method).toBe("sendVoice");
  expect(form as SentForm).toEqual({
    fields: { chat_id: "42", caption: "Hear" },
    file: { field: "voice", name: "plan.pdf", type: "audio/ogg", bytes: BYTES },
  });
});

test("a text too long for a voice note's caption follows it as a text", async () => {
  const content = "a".repeat(1_025);
  expect(await callsOf({ type: "AUDIO", isVoice: true, content, mediaUrl: LINK })).toEqual([
    ["sendVoice", { chat_id: "42", voice: LINK }],
    ["sendMessage", { chat_id: "42", text: content }],
  ]);
});

test("a video of which one side is unknown goes out without sides, and a picture always does", async () => {
  const fieldsOf = async (type: "VIDEO" | "IMAGE", sides: { width: number | null; height: number | null }) => {
    const [[, form] = []] = await callsOf({ type, content: FILE.id, file: { ...FILE, ...sides } });
    return (form as SentForm).fields;
  };
  expect(await fieldsOf("VIDEO", { width: 640, height: null })).toEqual({ chat_id: "42" });
  expect(await fieldsOf("VIDEO", { width: null, height: 480 })).toEqual({ chat_id: "42" });
  expect(await fieldsOf("IMAGE", { width: 640, height: 480 })).toEqual({ chat_id: "42" });
});

test("a caption with half a surrogate pair goes out with its replacement", async () => {
  expect(await callsOf({ type: "AUDIO", content: "a\ud83d", mediaUrl: LINK })).toEqual([
    ["sendAudio", { chat_id: "42", audio: LINK, caption: "a\ufffd" }],
  ]);
});

test("every call of a message goes to its topic", async () => {
  const content = "a".repeat(1_025);
  expect(await callsOf({ type: "IMAGE", content, mediaUrl: LINK, topic: "9" })).toEqual([
    ["sendPhoto", { chat_id: "42", message_thread_id: 9, photo: LINK }],
    ["sendMessage", { chat_id: "42", message_thread_id: 9, text: content }],
  ]);
});

test("the last of a text's calls has the buttons, and the first the quote", async () => {
  const choices = [{ type: "reply" as const, id: "own", title: "Yes" }];
  const interactive = { choices, rendering: "buttons" as const };
  const calls = await callsOf({
    content: `${"a".repeat(4_000)}\n${"b".repeat(97)}`,
    interactive,
    quote: "123456:42:5",
  });
  expect(calls.map(([, body]) => Object.keys(body as object).toSorted())).toEqual([
    ["chat_id", "reply_parameters", "text"],
    ["chat_id", "reply_markup", "text"],
  ]);
});
