import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { call, expectError, newOrganization } from "../../support/harness.ts";
import { signatureOf } from "../../unit/channels/whatsapp/network.ts";
import { APP_SECRET, PHONE_ID, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newContact, place } from "./fixtures.ts";
import { fromTelegram, metadata, taken, telegramText, whatsappText } from "./webhook-calls.ts";

stopTheClock();

const WRONG = "a".repeat(64);

test("forged calls from Telegram are refused, and nothing is stored", async () => {
  const at = await place("telegram");
  const other = await place("telegram");
  const secret = at.channel.webhook.verifyToken;
  const update = telegramText(newContact(), "Forged");
  const forged = [{}, { "X-Telegram-Bot-Api-Secret-Token": other.channel.webhook.verifyToken }];
  const before = (await listDurableObjectIds(env.CHATS)).length;
  for (const headers of forged)
    expectError(await fromTelegram(at.channel, update, headers), 401, "webhook_not_genuine");
  const foreign = { ...at.channel, id: other.channel.id };
  expectError(await fromTelegram(foreign, update), 401, "webhook_not_genuine");
  expectError(await fromTelegram({ ...at.channel, id: "chn_gAAAAAAAAAAAAAAA" }, update), 401, "webhook_not_genuine");
  expectError(await fromTelegram({ ...at.channel, id: "nonsense" }, update), 401, "webhook_not_genuine");
  const elsewhere = { "X-Telegram-Bot-Api-Secret-Token": secret };
  const wrongKind = await call("POST", `/hooks/whatsapp/${at.channel.id}`, { body: update, headers: elsewhere });
  expectError(wrongKind, 401, "webhook_not_genuine");
  expect([await at.chats(), await other.chats()]).toEqual([[], []]);
  expect(await listDurableObjectIds(env.CHATS)).toHaveLength(before);
});

test("forged calls from Meta are refused, and nothing is stored", async () => {
  const at = await place("whatsapp");
  const body = JSON.stringify({
    object: "whatsapp_business_account",
    entry: [
      { changes: [{ field: "messages", value: { ...metadata(PHONE_ID), ...whatsappText({ wa_id: "1" }, "No") } }] },
    ],
  });
  const good = await signatureOf(body, APP_SECRET);
  const before = (await listDurableObjectIds(env.CHATS)).length;
  const post = (signature: string | null, bytes = body, id = at.channel.id) =>
    call("POST", `/hooks/whatsapp/${id}`, {
      body: bytes,
      headers: signature === null ? {} : { "X-Hub-Signature-256": signature },
    });
  const wrong = [null, `sha256=${WRONG}`];
  for (const signature of wrong) expectError(await post(signature), 401, "webhook_not_genuine");
  expectError(await post(await signatureOf(body, "another")), 401, "webhook_not_genuine");
  expectError(await post(good, `${body} `), 401, "webhook_not_genuine");
  expectError(await post(good, JSON.stringify(JSON.parse(body), null, 1)), 401, "webhook_not_genuine");
  expectError(await post(good, body, "chn_gAAAAAAAAAAAAAAA"), 401, "webhook_not_genuine");
  expect(await at.chats()).toEqual([]);
  expect(await listDurableObjectIds(env.CHATS)).toHaveLength(before);
  taken(await post(good));
});

test("Meta's handshake is answered with its challenge, or refused with a 403", async () => {
  const { channel } = await place("whatsapp");
  const shake = (query: Record<string, string>, id = channel.id) =>
    call("GET", `/hooks/whatsapp/${id}?${String(new URLSearchParams(query))}`);
  const right = {
    "hub.mode": "subscribe",
    "hub.verify_token": channel.webhook.verifyToken,
    "hub.challenge": "1158201444",
  };
  const answer = await shake(right);
  expect([answer.status, answer.text]).toEqual([200, "1158201444"]);
  expect(answer.headers.get("Content-Type")).toMatch(/^text\/plain/);
  expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
  const wrong = [
    { ...right, "hub.verify_token": "wrong" },
    { ...right, "hub.challenge": "<script>alert(1)</script>" },
    {},
  ];
  for (const query of wrong) expectError(await shake(query), 403, "handshake_refused");
  expectError(await shake(right, (await place("whatsapp")).channel.id), 403, "handshake_refused");
  expectError(await shake(right, (await place("telegram")).channel.id), 403, "handshake_refused");
});

test("a kind without a network has no webhook, and a network without a handshake has no GET", async () => {
  const { channel } = await place("telegram");
  for (const kind of ["web", "pigeon", "toString", "__proto__", "Telegram"]) {
    for (const method of ["GET", "POST"]) {
      expectError(await call(method, `/hooks/${kind}/${channel.id}`), 404, "not_found", "Not found");
    }
  }
  const answer = await call("GET", `/hooks/telegram/${channel.id}`);
  expectError(answer, 405, "method_not_allowed");
  expect(answer.headers.get("Allow")).toBe("POST");
});

test("the body of a call for an unknown channel, or a channel of another kind, is not read", async () => {
  const { channelId: web } = await newOrganization();
  for (const id of ["chn_gaaaaaaaaaaaaaaa", web]) {
    let bytes = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          bytes += 65_536;
          controller.enqueue(new Uint8Array(65_536));
        },
      },
      { highWaterMark: 0 },
    );
    expectError(await call("POST", `/hooks/telegram/${id}`, { body, bindings: {} }), 401, "webhook_not_genuine");
    expect(bytes).toBe(0);
  }
});
