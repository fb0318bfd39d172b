import { expect, test, vi } from "vitest";
import { telegram } from "../../../src/channels/telegram/adapter.ts";
import { registerWebhook } from "../../../src/channels/telegram/register.ts";
import { readUpdate } from "../../../src/channels/telegram/update.ts";
import { fakeNetwork, type Reply } from "./fake-network.ts";
import { accepted, credentials, network, ok, outbound, refused, TOKEN } from "./telegram-network.ts";

const LIMIT = 20 * 1_024 * 1_024;

const send = (fields = {}) => telegram.send(outbound(fields), credentials, network, new AbortController().signal);
const found = (path: unknown = "photos/a.jpg") => ok({ file_path: path });
const raw = (body: BodyInit | null, status: number, headers: HeadersInit = {}): Reply => {
  return () => new Response(body, { status, headers });
};
const media = () => telegram.media("F1", credentials, network);

/** What a send makes of one answer of Telegram's. */
async function outcomeOf(reply: Reply) {
  fakeNetwork(reply);
  return send();
}

test.each([300, 308])("a redirect with the status %d is followed nowhere, and may be tried again", async (status) => {
  const outcome = await outcomeOf(raw(JSON.stringify({ ok: true, result: { message_id: 1 } }), status));
  expect(outcome).toMatchObject({
    outcome: "retry",
    code: `network_${status}`,
    message: `Telegram answered ${status}`,
  });
});

test("an answer that is ok in one place and not in the other proves nothing", async () => {
  const nothing = { outcome: "unknown", message: "Telegram's answer could not be understood" };
  expect(await outcomeOf(raw(JSON.stringify({ ok: true, result: { message_id: 1 } }), 400))).toMatchObject(nothing);
  expect(await outcomeOf(raw("a page", 200))).toMatchObject(nothing);
  expect(await outcomeOf(raw(JSON.stringify({ ok: false, error_code: 299 }), 200))).toMatchObject(nothing);
});

test("a refusal without a code has that of its status, where it is one", async () => {
  expect(await outcomeOf(raw(JSON.stringify({ ok: false, error_code: 300 }), 200))).toMatchObject({
    code: "network_300",
  });
  expect(await outcomeOf(raw(JSON.stringify({ ok: false }), 403))).toMatchObject({
    outcome: "failed",
    code: "contact_unreachable",
  });
});

test.each([
  [500, "retry"],
  [499, "unknown"],
  [429, "retry"],
  [404, "channel_broken"],
  [403, "unknown"],
])("of an answer that is not Telegram's the status %d alone is: %s", async (status, outcome) => {
  expect(await outcomeOf(raw("a page", status))).toMatchObject({ outcome });
});

test("a wait is the one that Telegram names, or the header's, or none", async () => {
  expect(await outcomeOf(refused(429, "Slow down", { retry_after: 0 }))).toMatchObject({ afterMs: 0 });
  expect(await outcomeOf(raw("", 429, { "Retry-After": "7" }))).toMatchObject({ afterMs: 7_000 });
  expect(await outcomeOf(raw("", 429))).toMatchObject({ afterMs: null });
  expect(await outcomeOf(refused(429, "Slow down", { retry_after: -1 }))).toMatchObject({ afterMs: null });
});

test("a token that is echoed is replaced by a dot dot dot", async () => {
  const secret = TOKEN.slice(TOKEN.indexOf(":") + 1);
  expect(await outcomeOf(refused(400, `No such bot: ${secret}!`))).toMatchObject({ message: "No such bot: …!" });
});

test("where the chat has moved is told with a 400 alone", async () => {
  expect(await outcomeOf(refused(400, "Moved", { migrate_to_chat_id: -7 }))).toMatchObject({ outcome: "moved" });
  expect(await outcomeOf(refused(403, "Moved", { migrate_to_chat_id: -7 }))).toMatchObject({ outcome: "failed" });
});

test("media without a link is not sent, and the message says what it needs", async () => {
  const sent = fakeNetwork();
  expect(await send({ type: "IMAGE", content: "no link" })).toEqual({
    outcome: "failed",
    code: "media_url_required",
    message: "A message of type IMAGE needs mediaUrl, or content that is an https URL",
    parts: [],
  });
  expect(sent).toEqual([]);
});

test("an answer that names no message leaves it unknown", async () => {
  expect(await outcomeOf(ok({}))).toEqual({
    outcome: "unknown",
    message: "Telegram's answer names no message",
    parts: [],
  });
});

test("a message is one call, or two where its text is too long for a caption; one that can't be sent counts as one", () => {
  const link = { type: "IMAGE", mediaUrl: "https://media.test/a.jpg" } as const;
  expect(telegram.partsOf(outbound())).toBe(1);
  expect(telegram.partsOf(outbound({ ...link, content: "x".repeat(1_024) }))).toBe(1);
  expect(telegram.partsOf(outbound({ ...link, content: "x".repeat(1_025) }))).toBe(2);
  expect(telegram.partsOf(outbound({ type: "IMAGE", content: "no link" }))).toBe(1);
});

test("a channel without a token calls with none, and its webhooks are of no bot", async () => {
  const sent = fakeNetwork(accepted(1), found(), ok(true));
  await telegram.send(outbound(), {}, network, new AbortController().signal);
  await telegram.media("F1", {}, network);
  await registerWebhook("https://parley.test", "verify", {}, network);
  expect(sent.slice(0, 2).map(({ url }) => url)).toEqual([
    "https://telegram.test/bot/sendMessage",
    "https://telegram.test/bot/getFile",
  ]);
  expect(sent.at(-1)?.url).toBe("https://telegram.test/bot/setWebhook");
  const headers = new Headers({ "X-Telegram-Bot-Api-Secret-Token": "s" });
  const body = Uint8Array.from(new TextEncoder().encode('{"message":{"message_id":7,"chat":{"id":42},"text":"Hi"}}'));
  expect(await telegram.receive({ headers, body }, {}, "s")).toMatchObject({
    received: [{ item: { networkId: ":42:7" } }],
  });
});

test("a webhook without a secret, or to a channel without one, is not genuine", async () => {
  const body = Uint8Array.from(new TextEncoder().encode("{}"));
  const header = "X-Telegram-Bot-Api-Secret-Token";
  expect(await telegram.receive({ headers: new Headers({ [header]: "s" }), body }, credentials, "")).toEqual({
    genuine: false,
  });
  for (const secret of ["s", "null"]) {
    expect(await telegram.receive({ headers: new Headers(), body }, credentials, secret)).toEqual({ genuine: false });
  }
});

test("a file of 20 MiB is passed on, and one byte more is too big", async () => {
  fakeNetwork(found(), raw("x", 200, { "Content-Length": String(LIMIT) }));
  const answer = await media();
  expect(answer).toMatchObject({ outcome: "found", length: LIMIT });
  if (answer.outcome === "found") await expect(new Response(answer.body).text()).rejects.toThrow();
  fakeNetwork(found(), raw("x", 200, { "Content-Length": String(LIMIT + 1) }));
  expect(await media()).toEqual({ outcome: "unavailable", message: "Telegram's file is empty or too big" });
});

test("why there is no media is told: a file that is gone, an answer that is none, or one without a body", async () => {
  fakeNetwork(found(), raw(null, 404));
  expect(await media()).toEqual({ outcome: "expired" });
  fakeNetwork(found(), raw(null, 503));
  expect(await media()).toEqual({ outcome: "unavailable", message: "Telegram answered 503" });
  fakeNetwork(found(), raw(null, 200));
  expect(await media()).toEqual({ outcome: "unavailable", message: "Telegram's file is empty or too big" });
  fakeNetwork(found(), () => Promise.reject(new Error(`https://telegram.test/bot${TOKEN}`)));
  expect(await media()).toEqual({ outcome: "unavailable", message: "The connection to Telegram failed" });
  fakeNetwork(raw("a page", 400));
  expect((await media()).outcome).toBe("unavailable");
});

test.each([{}, { file_path: "" }, { file_path: "half \ud83d" }, null])(
  "a file whose path is that of %j is not fetched",
  async (result) => {
    const sent = fakeNetwork(ok(result));
    expect(await media()).toEqual({ outcome: "unavailable", message: "Telegram named no file that can be fetched" });
    expect(sent).toHaveLength(1);
  },
);

test("media that has not begun in fifteen seconds is given up, and no timer is left behind", async () => {
  vi.useFakeTimers();
  try {
    fakeNetwork(
      (signal) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted")))),
    );
    const asked = media();
    await vi.advanceTimersByTimeAsync(14_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toEqual({ outcome: "unavailable", message: "Telegram did not answer in time" });
    fakeNetwork(found(), raw("x", 200));
    await media();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

const kinds = (update: unknown) => readUpdate(update, TOKEN).notes;

test("of an update that is not stored the first three kinds are noted, as far as they are words", () => {
  expect(kinds({ update_id: 1, poll: {}, poll_answer: {}, my_chat_member: {}, chat_member: {} })).toEqual([
    "an update that is not stored: poll, poll_answer, my_chat_member",
  ]);
  expect(kinds({ "a b": {}, UPPER: {}, words2: {}, ["x".repeat(41)]: {} })).toEqual([
    "an update that is not stored: empty",
  ]);
  for (const nothing of [null, 5, "text", undefined]) {
    expect(kinds(nothing)).toEqual(["an update that is not stored: empty"]);
  }
});

/** The message that an update with these fields makes. */
function itemOf(fields: Record<string, unknown>) {
  const message = { message_id: 7, date: 1, chat: { id: 42, first_name: "Ann" }, ...fields };
  return readUpdate({ update_id: 1, message }, TOKEN).received[0]?.item;
}

test("of pictures of one size the first is taken", () => {
  const size = (file_id: string, width: number) => ({ file_id, width, height: 10 });
  expect(itemOf({ photo: [size("a", 10), size("b", 20), size("c", 20), size("d", 5)] })).toMatchObject({
    media: { id: "b" },
  });
});

test("what is described tells what there is of it, and leaves out what is empty", () => {
  expect(itemOf({ contact: { first_name: "", last_name: "Lee", phone_number: "+49" } })).toMatchObject({
    content: "[contact: Lee, +49]",
  });
  expect(itemOf({ dice: { emoji: "🎲", value: 0 } })).toMatchObject({ content: "[dice: 🎲, 0]" });
  for (const kind of ["game", "checklist", "invoice"]) {
    expect(itemOf({ [kind]: { title: "Go" } })).toMatchObject({ content: `[${kind}: Go]` });
  }
  expect(itemOf({ poll: { question: "" } })).toMatchObject({ content: "[poll]" });
  expect(itemOf({ sticker: null })).toMatchObject({ content: "[sticker]" });
  expect(itemOf({ left_chat_member: { first_name: "Bo" } })).toMatchObject({ content: "[left chat member: Bo]" });
});
