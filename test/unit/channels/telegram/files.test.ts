import type { ApiMethods } from "@grammyjs/types";
import { expect, onTestFinished, test, vi } from "vitest";
import type { FilesPort } from "../../../../src/channels/network/adapter.ts";
import type { Outbound } from "../../../../src/model/network.ts";
import { until } from "../../../support/until.ts";
import { connectionLost, fakeNetwork, type SentForm } from "../fake-network.ts";
import { BYTES, FILE, files } from "../outbound.ts";
import { accepted, credentials, network, outbound, refused, TOKEN, telegram } from "./network.ts";

type Body<M extends keyof ApiMethods<"file">> = Parameters<ApiMethods<"file">[M]>[0];

function send(fields: Partial<Outbound>, port: FilesPort = files(), signal = new AbortController().signal) {
  return telegram.send(outbound({ file: FILE, ...fields }), credentials, network, signal, undefined, port);
}

const sentForm = (sent: { body: unknown }[], index = 0) => sent[index]?.body as SentForm;

test("a document's bytes are in its call, a form with the name and the type of the file", async () => {
  const sent = fakeNetwork(accepted(7));
  expect(await send({ type: "DOCUMENT", content: "Read" })).toMatchObject({
    outcome: "sent",
    parts: ["123456:42:7"],
  });
  expect(sent).toMatchObject([
    {
      url: `https://telegram.test/bot${TOKEN}/sendDocument`,
      method: "POST",
      headers: { "content-type": expect.stringMatching(/^multipart\/form-data; boundary=parley-[\da-f-]{36}$/) },
      redirect: "manual",
    },
  ]);
  const { fields, file } = sentForm(sent);
  const body = { chat_id: "42", caption: "Read" } satisfies Omit<Body<"sendDocument">, "document">;
  expect(fields).toEqual(body);
  expect(file).toEqual({ field: "document", name: "plan.pdf", type: "application/pdf", bytes: BYTES });
});

const SIDES = { width: 640, height: 480 };

test.each([
  ["IMAGE", "image/png", "sendPhoto", "photo", {}],
  ["AUDIO", "audio/mpeg", "sendAudio", "audio", {}],
  ["VIDEO", "video/mp4", "sendVideo", "video", { width: "640", height: "480" }],
] as const)("%s of the type %s goes out with %s", async (type, contentType, method, field, more) => {
  const sent = fakeNetwork(accepted(7));
  await send({ type, content: FILE.id, file: { ...FILE, ...SIDES, contentType } });
  expect(sent[0]?.url).toBe(`https://telegram.test/bot${TOKEN}/${method satisfies keyof ApiMethods<"file">}`);
  expect(sentForm(sent)).toMatchObject({ fields: { chat_id: "42", ...more }, file: { field, type: contentType } });
  expect(sentForm(sent).fields).not.toHaveProperty("caption");
});

test("the quote and the buttons are JSON in the form", async () => {
  const sent = fakeNetwork(accepted(7));
  const choices = [{ type: "reply" as const, id: "own", title: "Yes" }];
  await send({
    ...{ type: "IMAGE", content: "Which?", quote: "123456:42:5" },
    interactive: { choices, rendering: "buttons" },
  });
  const { fields } = sentForm(sent);
  expect(JSON.parse(fields.reply_parameters ?? "")).toEqual({
    message_id: 5,
    allow_sending_without_reply: true,
  } satisfies Body<"sendPhoto">["reply_parameters"]);
  const buttons = [[{ text: "Yes", callback_data: "msg_g0123456789ABCDE:0" }]];
  expect(JSON.parse(fields.reply_markup ?? "")).toEqual({
    inline_keyboard: buttons,
  } satisfies Body<"sendPhoto">["reply_markup"]);
  expect(fields.caption).toBe("Which?");
});

test("a template's file stands above its text and its buttons, with the type that Telegram takes it as", async () => {
  const sent = fakeNetwork(accepted(7), accepted(8));
  await send({ type: "TEMPLATE", content: "x", text: "Hi Ann", file: { ...FILE, contentType: "image/png" } });
  const choices = [{ type: "reply" as const, id: "own", title: "Yes" }];
  await send({ type: "TEMPLATE", text: "Hi Ann", interactive: { choices, rendering: "buttons" } });
  expect(sent.map((_, index) => sentForm(sent, index))).toMatchObject([
    { fields: { caption: "Hi Ann" }, file: { field: "photo" } },
    { fields: { caption: "Hi Ann", reply_markup: expect.stringContaining("Yes") }, file: { field: "document" } },
  ]);
});

test("a text too long for a caption follows the file, and a retry does not send the file again", async () => {
  const long = "a".repeat(1_025);
  const first = fakeNetwork(accepted(7), () => Promise.reject(connectionLost()));
  expect(await send({ type: "IMAGE", content: long })).toMatchObject({ outcome: "unknown", parts: ["123456:42:7"] });
  expect(first.map(({ url }) => url.split("/").at(-1))).toEqual(["sendPhoto", "sendMessage"]);
  const again = fakeNetwork(accepted(8));
  const open = () => Promise.reject(new Error("the file was opened"));
  await send({ type: "IMAGE", content: long, partsSent: ["123456:42:7"] }, files({ open }));
  expect(again.map(({ body }) => body)).toEqual([{ chat_id: "42", text: long }]);
});

test("a file that is gone fails the message, and one that can't be read is tried later: Telegram is not called", async () => {
  const sent = fakeNetwork();
  expect(await send({ type: "IMAGE" }, files({ open: async () => "gone" }))).toEqual({
    ...{ outcome: "failed", code: "media_gone", message: "The file no longer exists", parts: [] },
  });
  expect(await send({ type: "IMAGE" }, files({ open: async () => "away" }))).toMatchObject({
    ...{ outcome: "retry", code: "media_away", wholeChannel: false, parts: [] },
  });
  expect(sent).toEqual([]);
});

test("a file that is not there by the deadline is away, and is let go when it comes", async () => {
  fakeNetwork();
  const deadline = new AbortController();
  const late = Promise.withResolvers<Awaited<ReturnType<FilesPort["open"]>>>();
  const sending = send({ type: "IMAGE" }, files({ open: () => late.promise }), deadline.signal);
  deadline.abort();
  expect(await sending).toMatchObject({ outcome: "retry", code: "media_away" });
  let isCanceled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCanceled = true) });
  late.resolve({ body, size: 1 });
  await until("the file is canceled", () => isCanceled);
});

test("a file that breaks off is tried again, because Telegram can't have taken it", async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("R2 is away")) });
  fakeNetwork(accepted(7));
  const outcome = await send({ type: "IMAGE" }, files({ open: async () => ({ body, size: 1_000 }) }));
  expect(outcome).toMatchObject({ outcome: "retry", code: "media_interrupted" });
});

test("a connection that is lost after the whole file leaves the outcome unknown", async () => {
  fakeNetwork(() => Promise.reject(connectionLost()));
  expect(await send({ type: "IMAGE" })).toMatchObject({
    outcome: "unknown",
    message: "The connection was lost before the network answered",
  });
});

test("Telegram's refusal of a file is that of any call", async () => {
  fakeNetwork(refused(413, "Request Entity Too Large"));
  expect(await send({ type: "IMAGE" })).toMatchObject({ outcome: "failed", code: "network_413" });
  fakeNetwork(refused(429, "Too Many Requests", { retry_after: 7 }));
  expect(await send({ type: "IMAGE" })).toMatchObject({ outcome: "retry", afterMs: 7_000 });
});

test("a network that refuses without reading lets the file go", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ ok: false, error_code: 401 }, { status: 401 }));
  onTestFinished(() => void vi.unstubAllGlobals());
  let isCanceled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCanceled = true) });
  const outcome = await send({ type: "IMAGE" }, files({ open: async () => ({ body, size: 1_000 }) }));
  expect(outcome).toMatchObject({ outcome: "channel_broken" });
  await until("the file is canceled", () => isCanceled);
});

const LINK = "https://files.example/plan.docx";
const NOT_FETCHED = [
  "Bad Request: failed to get HTTP URL content",
  "Bad Request: wrong type of the web page content",
] as const;

/** Files that can't be opened but by their link. */
function linked(opened: Awaited<ReturnType<FilesPort["openLink"]>>) {
  const links: string[] = [];
  const open = () => Promise.reject(new Error("a file was opened"));
  const openLink = async (link: string) => {
    links.push(link);
    return opened;
  };
  return { ...files({ open, openLink }), links };
}

const onLink = () => ({
  body: new Blob([BYTES]).stream(),
  ...{ size: FILE.size, contentType: "application/x-doc", fileName: "plan.docx" },
});

test.each(NOT_FETCHED)("after a refusal, %s, the file behind the link is in the call", async (words) => {
  const sent = fakeNetwork(refused(400, words), accepted(7));
  const port = linked(onLink());
  const fields = { type: "DOCUMENT", content: "Read", mediaUrl: LINK, file: null, quote: "123456:42:5" } as const;
  expect(await send({ ...fields, topic: "9" }, port)).toEqual({
    ...{ outcome: "sent", parts: ["123456:42:7"], addresses: [] },
  });
  expect(port.links).toEqual([LINK]);
  const reply_parameters = { message_id: 5, allow_sending_without_reply: true };
  const body = { chat_id: "42", message_thread_id: 9, caption: "Read", reply_parameters };
  expect(sent[0]?.body).toEqual({ ...body, document: LINK });
  const form = { ...body, message_thread_id: "9", reply_parameters: JSON.stringify(reply_parameters) };
  expect(sentForm(sent, 1)).toEqual({
    fields: form,
    file: { field: "document", name: "plan.docx", type: "application/x-doc", bytes: BYTES },
  });
});

test.each([
  ["IMAGE", "photo", false],
  ["VIDEO", "video", false],
  ["AUDIO", "audio", false],
  ["AUDIO", "voice", true],
] as const)("%s goes out as %s from its link too", async (type, field, isVoice) => {
  const sent = fakeNetwork(refused(400, NOT_FETCHED[0]), accepted(7));
  const message = { type, content: LINK, file: null, isVoice };
  expect(await send(message, linked(onLink()))).toMatchObject({ outcome: "sent" });
  expect(sentForm(sent, 1).file).toMatchObject({ field, bytes: BYTES });
});

test("a link that nobody can fetch fails the message, in Telegram's words and in ours", async () => {
  fakeNetwork(refused(400, NOT_FETCHED[0]));
  const outcome = await send({ type: "IMAGE", content: LINK, file: null }, linked("the server answered 404"));
  const message = `${NOT_FETCHED[0]}. The service can't fetch the file either: the server answered 404`;
  expect(outcome).toEqual({ outcome: "failed", code: "network_400", message, works: true, parts: [] });
});

test("what Telegram says of the file itself counts, and no link is opened for another refusal", async () => {
  const image = { type: "IMAGE", content: LINK, file: null } as const;
  fakeNetwork(refused(400, NOT_FETCHED[0]), refused(400, "Bad Request: IMAGE_PROCESS_FAILED"));
  expect(await send(image, linked(onLink()))).toMatchObject({
    ...{ outcome: "failed", message: "Bad Request: IMAGE_PROCESS_FAILED" },
  });
  fakeNetwork(refused(400, NOT_FETCHED[0]), refused(429, "Too Many Requests", { retry_after: 3 }));
  expect(await send(image, linked(onLink()))).toMatchObject({ outcome: "retry", afterMs: 3_000 });
  const port = linked(onLink());
  fakeNetwork(refused(400, "Bad Request: wrong file identifier/HTTP URL specified"));
  expect(await send(image, port)).toMatchObject({ outcome: "failed" });
  expect(port.links).toEqual([]);
});

test("a link whose file breaks off is tried again only once", async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("cut")) });
  fakeNetwork(refused(400, NOT_FETCHED[0]), accepted(7));
  const outcome = await send({ type: "IMAGE", content: LINK, file: null }, linked({ ...onLink(), body }));
  expect(outcome).toMatchObject({ outcome: "retry", code: "media_interrupted", once: true });
});
