import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { breakObjects, replaceMethod } from "../../support/faults.ts";
import {
  admin,
  client,
  created,
  expectError,
  expectFaults,
  newKey,
  newOrganization,
  newTemplate,
  send,
  sendMany,
} from "../../support/harness.ts";
import {
  accept,
  fakeNetworks,
  hanging,
  inTurn,
  lost,
  type NetworkCall,
  refuse,
  type Script,
} from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { taken, tellStatus } from "../inbound/webhook-calls.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE, queuePlace } from "./object/delivery/queued.ts";

stopTheClock();

const texts = (calls: NetworkCall[]) => calls.map((call) => call.text);

/** Refuses the first message to a contact permanently. */
function refuseFirst(address: string): Script {
  let isRefused = false;
  return (call, number) => {
    if (isRefused || call.to !== address) return accept(call);
    isRefused = true;
    return refuse(400, "No")(call, number);
  };
}

/** A chat whose first message failed. */
async function failedPlace(body: Record<string, unknown> = {}) {
  const chat = await queuePlace("telegram");
  const calls = fakeNetworks(refuseFirst(chat.address));
  const { id } = await send(chat.api, chat.chatId, body);
  await chat.run();
  const failed = await chat.message(id);
  expect(failed.status).toBe("FAILED");
  return { ...chat, calls, failed };
}

test("a failed message is sent again as a new message with the same content", async () => {
  const metadata = { order: "4711" };
  const { failed, resend, run, message, calls, messages } = await failedPlace({ content: "Hello", metadata });
  const answer = await resend(failed.id);
  const { id, seq } = created(answer).message as Message;
  expect(answer.headers.get("Idempotent-Replayed")).toBeNull();
  await run();
  expect(seq).toBe(2);
  const { content, text, type, senderId } = failed;
  const same = { content, text, type, senderId, metadata };
  expect(await message(id)).toMatchObject({ ...same, seq: 2, status: "SENT", resendOf: failed.id });
  expect(texts(calls)).toEqual(["Hello", "Hello"]);
  expect((await messages())[0]).toEqual(failed);
});

test("a template's values are those of the first message, even if the template is gone", async () => {
  fakeNetworks(inTurn(refuse(131026, "No")));
  const chat = await queuePlace("whatsapp");
  const templateId = await newTemplate(chat.organizationId, "Hello {{name}}");
  const { id } = await send(chat.api, chat.chatId, { content: "x", templateId, variables: { name: "Maya" } });
  await chat.run();
  expect((await admin("DELETE", `/templates/${templateId}`)).status).toBe(200);
  const calls = fakeNetworks(accept);
  const again = created(await chat.resend(id)).message;
  expect(again).toMatchObject({ type: "TEMPLATE", templateId, variables: { name: "Maya" }, text: "Hello Maya" });
  await chat.run();
  expect(calls[0]?.body.template).toMatchObject({ name: "order_shipped", language: { code: "en" } });
});

test("a message is sent again at most once, however many ask, and a repeat gets that message", async () => {
  const { failed, resend, messages, object, run } = await failedPlace();
  const answers = await Promise.all([resend(failed.id), resend(failed.id), resend(failed.id)]);
  const ids = new Set(answers.map((answer) => created(answer).message.id));
  expect(ids.size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get("Idempotent-Replayed") === "true")).toHaveLength(2);
  await run();
  await evictDurableObject(object());
  const late = await resend(failed.id, { senderId: "mbr_gnobodyaaaaaaaaa", expiresAt: inFuture(-MINUTE) });
  expect(late.headers.get("Idempotent-Replayed")).toBe("true");
  expect([...ids]).toEqual([created(late).message.id]);
  expect(await messages()).toHaveLength(2);
});

test("a call that is repeated after its answer was lost sends the message once, and is not a repeat of the client", async () => {
  const { failed, resend, messages } = await failedPlace();
  let calls = 0;
  replaceMethod("CHATS", "resend", (original) => async (...given) => {
    const answer = await original(...given);
    if (++calls === 1) throw Object.assign(new Error("Network connection lost."), { retryable: true });
    return answer;
  });
  const answer = await resend(failed.id);
  expect([answer.status, answer.headers.get("Idempotent-Replayed"), calls]).toEqual([201, null, 2]);
  expect(await messages()).toHaveLength(2);
});

test("if the new message fails too, that one is sent again", async () => {
  const { failed, resend, run, message, address } = await failedPlace();
  fakeNetworks(refuseFirst(address));
  const second = created(await resend(failed.id)).message;
  await run();
  expect((await message(second.id)).status).toBe("FAILED");
  const third = created(await resend(second.id)).message;
  await run();
  expect(await message(third.id)).toMatchObject({ seq: 3, status: "SENT", resendOf: second.id });
});

test("a resend has times and a sender of its own", async () => {
  const { failed, resend, run, message, organizationId, ownerId } = await failedPlace();
  const body = { name: "Grace", email: "grace@acme.test" };
  const { id: senderId } = created(await admin("POST", `/organizations/${organizationId}/members`, body)).member;
  const [scheduledAt, expiresAt] = [inFuture(MINUTE), inFuture(2 * MINUTE)];
  const again = created(await resend(failed.id, { scheduledAt, expiresAt, senderId })).message;
  expect(again).toMatchObject({
    seq: null,
    status: "SCHEDULED",
    scheduledAt,
    expiresAt,
    senderId,
    resendOf: failed.id,
  });
  expect(failed.senderId).toBe(ownerId);
  expect((await resend(failed.id)).headers.get("Idempotent-Replayed")).toBe("true");
  pass(MINUTE);
  await run();
  expect(await message(again.id)).toMatchObject({ seq: 2, status: "SENT", resendOf: failed.id });
  expect((await resend(failed.id)).body.message.id).toBe(again.id);
});

test("a message that expired without a place can be sent again", async () => {
  const { api, chatId, resend, run, ...chat } = await queuePlace("telegram");
  const calls = fakeNetworks(accept);
  const { id } = await send(api, chatId, {
    content: "Old",
    scheduledAt: inFuture(MINUTE),
    expiresAt: inFuture(90_000),
  });
  pass(2 * MINUTE);
  await run();
  expect(await chat.message(id)).toMatchObject({ seq: null, status: "FAILED", error: { code: "expired" } });
  expect(created(await resend(id)).message).toMatchObject({ seq: 1, resendOf: id });
  await run();
  expect(texts(calls)).toEqual(["Old"]);
});

test("only a failed message is sent again", async () => {
  const hang = hanging();
  fakeNetworks(inTurn(hang.script));
  const chat = await queuePlace("telegram");
  const [first, second] = await sendMany(chat.api, chat.chatId, 2);
  await hang.reached();
  for (const { id } of [first, second] as Message[]) expectError(await chat.resend(id), 409, "not_failed");
  await chat.cancel(second?.id ?? "");
  hang.letGo();
  await chat.run();
  for (const { id } of [first, second] as Message[]) expectError(await chat.resend(id), 409, "not_failed");
  const scheduled = await send(chat.api, chat.chatId, { scheduledAt: inFuture(MINUTE) });
  expectError(await chat.resend(scheduled.id), 409, "not_failed");
  expectError(await chat.resend("msg_gaaaaaaaaaaaaaaa9"), 404, "message_not_found");
});

test("a redacted message is not sent again", async () => {
  const { failed, resend, chatId, api } = await failedPlace();
  expect((await admin("POST", `/chats/${chatId}/messages/${failed.id}/redact`)).status).toBe(200);
  expectError(await resend(failed.id), 409, "redacted");
  const { id } = await send(api, chatId, { scheduledAt: inFuture(MINUTE) });
  expect((await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status).toBe(200);
  expectError(await resend(id), 409, "not_failed");
});

test("a resend is refused with a wrong body, times or sender", async () => {
  const { failed, resend } = await failedPlace();
  expectFaults(await resend(failed.id, { expiresAt: "soon" }), "expiresAt");
  expectFaults(await resend(failed.id, { expiresAt: inFuture(-1) }), "expiresAt");
  expectFaults(await resend(failed.id, { scheduledAt: inFuture(367 * 86_400_000) }), "scheduledAt");
  expectFaults(await resend(failed.id, { senderId: 7 }), "senderId");
  const other = await newOrganization();
  expectError(await resend(failed.id, { senderId: other.ownerId }), 404, "sender_not_found");
  expectError(await resend("msg_gaaaaaaaaaaaaaaa9", { expiresAt: inFuture(-1) }), 400, "validation_failed");
  expect(created(await resend(failed.id, { senderId: null })).message.resendOf).toBe(failed.id);
});

test("a resend for later is a 409 if a thousand messages are scheduled, and can be repeated at once", async () => {
  const { failed, resend, object, messages, api, chatId } = await failedPlace();
  const { id } = await send(api, chatId, { scheduledAt: inFuture(MINUTE) });
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec(
      `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 1000)
       insert into scheduled (id, doc, due_at, turn)
       select id || n, json_set(doc, '$.id', id || n), due_at, 1000 + n from numbers, scheduled where id = ?`,
      id,
    );
  });
  await evictDurableObject(object());
  expectError(await resend(failed.id, { scheduledAt: inFuture(MINUTE) }), 409, "schedule_full");
  expect(await messages()).toHaveLength(1);
  expect(created(await resend(failed.id)).message).toMatchObject({ seq: 2, resendOf: failed.id });
});

test("a message that came through after it was sent again keeps its resend", async () => {
  const hang = hanging(lost);
  // Messages of other tests may still be on their way.
  fakeNetworks((call, number) => (call.text === "It came through" ? hang.script : accept)(call, number));
  const chat = await queuePlace("whatsapp");
  const { id } = await send(chat.api, chat.chatId, { content: "It came through", expiresAt: inFuture(MINUTE) });
  await hang.reached();
  hang.letGo();
  await chat.run();
  pass(MINUTE);
  await chat.run();
  const again = created(await chat.resend(id, { scheduledAt: inFuture(MINUTE) })).message;
  taken(await tellStatus(chat, id, "delivered", { id: "wamid.1" }));
  expect(await chat.message(id)).toMatchObject({ status: "DELIVERED", error: null });
  expect((await chat.resend(id)).body.message).toEqual(again);
  expect((await chat.cancel(again.id)).body.message.status).toBe("CANCELED");
});

test("a resend that is canceled stays the only one", async () => {
  const { failed, resend, cancel, message } = await failedPlace();
  const { id } = created(await resend(failed.id, { scheduledAt: inFuture(MINUTE) })).message;
  expect((await cancel(id)).body.message.status).toBe("CANCELED");
  const again = await resend(failed.id);
  expect([again.headers.get("Idempotent-Replayed"), again.body.message]).toEqual(["true", await message(id)]);
  expectError(await resend(id), 409, "not_failed");
});

test("a resend meets the limits of a send", async () => {
  const { failed, resend, object } = await failedPlace();
  breakObjects("CHANNELS", "permit");
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec(
      `insert into messages (seq, doc, queued)
       select value + 1, json_object('id', 'x', 'status', 'QUEUED', 'createdAt', '2026-01-01T00:00:00.000Z'), value + 1
       from (with recursive n(value) as (select 1 union all select value + 1 from n where value < 10000) select value from n)`,
    );
  });
  await evictDurableObject(object());
  expectError(await resend(failed.id), 409, "chat_backlog");
});

test("a resend writes the message, the index of its key and its event", async () => {
  const chat = await failedPlace();
  breakObjects("CHANNELS", "permit");
  const written = await objectWrites(chat, () => chat.resend(chat.failed.id));
  // The other row: the message waits, because the channel does not answer.
  expect(written.rows).toBe(3 + 1);
});

test("a send with an expiry writes the message and its event", async () => {
  fakeNetworks(accept);
  const chat = await queuePlace("telegram");
  // The first message creates its table.
  await send(chat.api, chat.chatId);
  await chat.run();
  breakObjects("CHANNELS", "permit");
  const { secret } = await newKey(chat.organizationId);
  const post = () =>
    client(secret)("POST", `/chats/${chat.chatId}/messages`, { content: "Hi", expiresAt: inFuture(MINUTE) });
  // The other row is the wait for the channel, as above.
  expect((await objectWrites(chat, post)).rows).toBe(2 + 1);
});
