import { expect, test } from "vitest";
import type { Document, Image } from "whatsapp-api-js/messages";
import type { ClientMessageRequest, ServerMediaUploadResponse } from "whatsapp-api-js/types";
import type { FilesPort } from "../../../../src/channels/network/adapter.ts";
import type { Outbound } from "../../../../src/model/network.ts";
import { connectionLost, fakeNetwork, type Reply, type Sent, type SentForm } from "../fake-network.ts";
import { BYTES, FILE, files } from "../outbound.ts";
import type { Json } from "../wire.ts";
import { accepted, credentials, network, outbound, PHONE_ID, refused, TOKEN, whatsapp } from "./network.ts";

const MONTH_MS = 29 * 86_400_000;
const lost: Reply = () => Promise.reject(connectionLost());
const uploaded =
  (id: string): Reply =>
  () =>
    Response.json({ id } satisfies ServerMediaUploadResponse);

function send(fields: Partial<Outbound>, port: FilesPort = files()) {
  const { signal } = new AbortController();
  return whatsapp.send(outbound({ file: FILE, ...fields }), credentials, network, signal, undefined, port);
}

/** The calls in short: the form that was uploaded, or the media object of the message. */
function calls(sent: Sent[]): unknown[] {
  return sent.map(({ url, body }) => {
    if (url.endsWith("/media")) return "upload";
    const message = body as ClientMessageRequest & Record<string, unknown>;
    return message[message.type];
  });
}

test("a document is uploaded, and its message has the id of the upload and the file's name", async () => {
  const sent = fakeNetwork(uploaded("1234"), accepted("wamid.1"));
  const port = files();
  expect(await send({ type: "DOCUMENT", content: "Read", quote: "wamid.0" }, port)).toEqual({
    ...{ outcome: "sent", parts: ["wamid.1"], addresses: [] },
  });
  const [upload, message] = sent;
  expect(upload).toMatchObject({
    url: `https://graph.test/v24.0/${PHONE_ID}/media`,
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": expect.stringMatching(/^multipart\/form-data; /) },
    redirect: "manual",
  });
  expect(upload?.body).toEqual({
    fields: { messaging_product: "whatsapp", type: "application/pdf" },
    file: { field: "file", name: "plan.pdf", type: "application/pdf", bytes: BYTES },
  } satisfies SentForm);
  expect(message).toMatchObject({ url: `https://graph.test/v24.0/${PHONE_ID}/messages` });
  expect(message?.body).toEqual({
    messaging_product: "whatsapp",
    recipient_type: "individual",
    to: "4915112345678",
    biz_opaque_callback_data: "cht_g0123456789ABCDE.msg_g0123456789ABCDE",
    context: { message_id: "wamid.0" },
    type: "document",
    document: { id: "1234", filename: "plan.pdf", caption: "Read" } satisfies Json<Document>,
  });
  expect(port.kept).toEqual([[FILE.id, "1234", MONTH_MS]]);
});

test.each(["IMAGE", "AUDIO", "VIDEO"] as const)(
  "%s shows the upload, without a caption if it has none",
  async (type) => {
    const sent = fakeNetwork(uploaded("1234"), accepted("wamid.1"));
    await send({ type, content: FILE.id });
    expect(calls(sent)).toEqual(["upload", { id: "1234" } satisfies Json<Image>]);
  },
);

test("above buttons, and before a list, there is the upload", async () => {
  const choices = [{ type: "reply" as const, id: "own", title: "Yes" }];
  const buttons = fakeNetwork(uploaded("1234"), accepted("wamid.1"));
  await send({ type: "IMAGE", content: "Which?", interactive: { choices, rendering: "buttons" } });
  expect(calls(buttons)).toMatchObject(["upload", { header: { type: "image", image: { id: "1234" } } }]);
  const list = fakeNetwork(uploaded("1234"), accepted("wamid.1"), accepted("wamid.2"));
  await send({ type: "IMAGE", content: "Which?", interactive: { choices, rendering: "list" } });
  expect(calls(list)).toMatchObject(["upload", { id: "1234" }, { type: "list" }]);
});

test("the header of a template shows the upload, with a document's name", async () => {
  const header = { type: "media" as const, format: "DOCUMENT" as const, link: null, fileName: null };
  const template = (fileName: string | null) => ({
    ...{ name: "invoice", language: "en", parameters: [] },
    parts: { header: { ...header, fileName }, footer: null, buttons: [] },
  });
  for (const [given, filename] of [
    [null, "plan.pdf"],
    ["Invoice.pdf", "Invoice.pdf"],
  ] as const) {
    const sent = fakeNetwork(uploaded("1234"), accepted("wamid.1"));
    await send({ type: "TEMPLATE", template: template(given) });
    const document = { id: "1234", filename } satisfies Json<Document>;
    const components = [{ type: "header", parameters: [{ type: "document", document }] }];
    expect(calls(sent)).toEqual(["upload", { name: "invoice", language: { code: "en" }, components }]);
  }
});

test("a file that Meta has is not uploaded again, nor read", async () => {
  const sent = fakeNetwork(accepted("wamid.1"));
  const open = () => Promise.reject(new Error("the file was opened"));
  const port = files({ open, uploaded: (id) => (id === FILE.id ? { networkId: "9", failedWith: null } : null) });
  expect(await send({ type: "IMAGE", content: FILE.id }, port)).toMatchObject({ outcome: "sent" });
  expect(calls(sent)).toEqual([{ id: "9" }]);
  expect(port.kept).toEqual([]);
});

test.each([100, 131_009, 131_053])("an upload that Meta refuses with %i is made anew", async (code) => {
  const sent = fakeNetwork(refused(code), uploaded("10"), accepted("wamid.1"));
  const port = files({ uploaded: () => ({ networkId: "9", failedWith: null }) });
  expect(await send({ type: "IMAGE", content: FILE.id }, port)).toMatchObject({ outcome: "sent" });
  expect(calls(sent)).toEqual([{ id: "9" }, "upload", { id: "10" }]);
  expect(port.kept).toEqual([[FILE.id, "10", MONTH_MS]]);
});

test("a known upload whose refusal may pass is not made anew", async () => {
  const sent = fakeNetwork(refused(131_053, { is_transient: true }));
  const port = files({ uploaded: () => ({ networkId: "9", failedWith: null }) });
  expect(await send({ type: "IMAGE" }, port)).toMatchObject({ outcome: "retry", code: "network_131053" });
  expect(sent).toHaveLength(1);
});

test("a new upload that is refused too fails the message: it is not made a third time", async () => {
  const sent = fakeNetwork(refused(131_053), uploaded("10"), refused(131_053));
  const port = files({ uploaded: () => ({ networkId: "9", failedWith: null }) });
  expect(await send({ type: "IMAGE" }, port)).toMatchObject({ outcome: "failed", code: "network_131053" });
  expect(sent).toHaveLength(3);
});

test.each([
  ["network_131053", ["upload", { id: "10" }]],
  ["outside_messaging_window", [{ id: "9" }]],
])("a message that repeats one that failed with %s: its calls are %j", async (failedWith, expected) => {
  const sent = fakeNetwork(expected.length === 2 ? uploaded("10") : accepted("wamid.1"), accepted("wamid.1"));
  await send({ type: "IMAGE", content: FILE.id }, files({ uploaded: () => ({ networkId: "9", failedWith }) }));
  expect(calls(sent)).toEqual(expected);
});

test("another refusal of a known upload does not upload the file", async () => {
  const sent = fakeNetwork(refused(131_047));
  const port = files({ uploaded: () => ({ networkId: "9", failedWith: null }) });
  expect(await send({ type: "IMAGE" }, port)).toMatchObject({ outcome: "failed", code: "outside_messaging_window" });
  expect(sent).toHaveLength(1);
});

test.each<[string, Reply, object]>([
  ["no answer", lost, { outcome: "retry", code: "upload_unknown" }],
  ["a page", () => new Response("<html>", { status: 200 }), { outcome: "retry", code: "upload_unknown" }],
  [
    "an answer without an id",
    () => Response.json({}),
    { outcome: "retry", code: "upload_unknown", message: "The upload's answer has no id" },
  ],
  ["an id that is too long", uploaded("x".repeat(129)), { outcome: "retry", code: "upload_unknown" }],
  ["a redirect", () => new Response(null, { status: 302 }), { outcome: "retry", code: "redirected" }],
  ["a throttled number", refused(130_429), { outcome: "retry", wholeChannel: true }],
  ["a wrong type", refused(100, { message: "(#100) Param file" }), { outcome: "failed", code: "network_100" }],
  ["a wrong token", refused(190, { status: 401 }), { outcome: "channel_broken" }],
  ["503", () => new Response("", { status: 503 }), { outcome: "retry", code: "http_503" }],
])("after an upload with %s nothing was sent, and nothing is kept", async (_, reply, outcome) => {
  const sent = fakeNetwork(reply);
  const port = files();
  expect(await send({ type: "IMAGE" }, port)).toMatchObject(outcome);
  expect(sent).toHaveLength(1);
  expect(port.kept).toEqual([]);
});

test("after a lost answer to the message, the upload is kept", async () => {
  fakeNetwork(uploaded("1234"), lost);
  const port = files();
  expect(await send({ type: "IMAGE" }, port)).toMatchObject({ outcome: "unknown" });
  expect(port.kept).toEqual([[FILE.id, "1234", MONTH_MS]]);
});

test("a file that is gone or away: Meta is not called", async () => {
  const sent = fakeNetwork();
  expect(await send({ type: "IMAGE" }, files({ open: async () => "gone" }))).toMatchObject({ code: "media_gone" });
  expect(await send({ type: "IMAGE" }, files({ open: async () => "away" }))).toMatchObject({ outcome: "retry" });
  expect(sent).toEqual([]);
});

test("a text that is the name of a file stays a text", async () => {
  const sent = fakeNetwork(accepted("wamid.1"));
  await send({ content: FILE.id, file: null });
  expect(calls(sent)).toEqual([{ body: FILE.id, preview_url: false }]);
});
