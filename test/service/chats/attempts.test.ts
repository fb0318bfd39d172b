import { expect, test } from "vitest";
import { replaceMethod } from "../../support/faults.ts";
import { admin, expectError, newChat, newOrganization, send } from "../../support/harness.ts";
import { accept, fakeNetworks, hanging, inTurn, lost, refuse, type Script } from "../../support/networks.ts";
import { crash, pass, runNext, stopTheClock } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE, queuePlace } from "./object/delivery/queued.ts";

stopTheClock();

const NONE = { attempts: [], dropped: 0, nextAttemptAt: null };
const slowDown = refuse(429, "Slow down", { parameters: { retry_after: 30 } });

test("a message shows each attempt, how it ended, and when the next one begins", async () => {
  const slow: Script = (call, number) => {
    pass(250);
    return lost(call, number);
  };
  fakeNetworks(inTurn(slowDown, slow));
  const chat = await queuePlace("telegram");
  const startedAt = new Date().toISOString();
  const message = await send(chat.api, chat.chatId);
  await chat.run();
  const first = {
    number: 1,
    startedAt,
    durationMs: 0,
    outcome: "retry",
    code: "network_429",
    message: "Slow down",
  };
  expect(await chat.attempts(message.id)).toEqual({ attempts: [first], dropped: 0, nextAttemptAt: inFuture(30_000) });
  await runNext(chat);
  const { attempts, nextAttemptAt } = await chat.attempts(message.id);
  expect(attempts[1]).toMatchObject({ number: 2, durationMs: 250, outcome: "unknown", code: "outcome_unknown" });
  expect(nextAttemptAt).toBe((await chat.queue()).nextAttemptAt);
  await runNext(chat);
  const done = await chat.attempts(message.id);
  expect(done).toMatchObject({ dropped: 0, nextAttemptAt: null });
  expect(done.attempts[2]).toMatchObject({ number: 3, outcome: "sent", code: null, message: null });
});

test("an attempt under way is not shown, and a lost one is unknown", async () => {
  const hang = hanging();
  fakeNetworks(inTurn(hang.script));
  const chat = await queuePlace("telegram");
  const startedAt = new Date().toISOString();
  const message = await send(chat.api, chat.chatId);
  await hang.reached();
  expect(await chat.attempts(message.id)).toEqual(NONE);
  await crash(chat.object());
  const interrupted = {
    number: 1,
    startedAt,
    durationMs: null,
    outcome: "unknown",
    code: "outcome_unknown",
    message: "The attempt was interrupted",
  };
  expect(await chat.attempts(message.id)).toEqual({ ...NONE, attempts: [interrupted] });
  pass(MINUTE);
  await chat.run();
  expect((await chat.attempts(message.id)).attempts).toEqual([interrupted]);
});

test("a message behind another one, or whose expiry comes first, has no next attempt", async () => {
  fakeNetworks(inTurn(slowDown));
  const chat = await queuePlace("telegram");
  const first = await send(chat.api, chat.chatId, { expiresAt: inFuture(20_000) });
  const second = await send(chat.api, chat.chatId);
  await chat.run();
  expect(await chat.attempts(first.id)).toMatchObject({ nextAttemptAt: null });
  expect(await chat.attempts(second.id)).toEqual(NONE);
});

test("a redaction keeps the codes of the attempts and removes their texts, also of the attempt under way", async () => {
  const hang = hanging(refuse(400, "Bad text: secret"));
  fakeNetworks(inTurn(slowDown, hang.script));
  const chat = await queuePlace("telegram");
  const message = await send(chat.api, chat.chatId);
  await chat.run();
  pass(30_000);
  const running = chat.run();
  await hang.reached();
  expect((await admin("POST", `/chats/${chat.chatId}/messages/${message.id}/redact`)).status).toBe(200);
  hang.letGo();
  await running;
  const { attempts } = await chat.attempts(message.id);
  expect(attempts).toMatchObject([
    { number: 1, code: "network_429", message: "The message was redacted" },
    { number: 2, outcome: "failed", code: "network_400", message: "The message was redacted" },
  ]);
});

test("an attempt that did not begin before the redaction is not shown", async () => {
  fakeNetworks(accept);
  const chat = await queuePlace("telegram");
  // The channel does not answer the request for a permit until the test ends.
  const { promise, resolve } = Promise.withResolvers<void>();
  replaceMethod("CHANNELS", "permit", (original) => async (...given) => {
    await promise;
    return original(...given);
  });
  const message = await send(chat.api, chat.chatId);
  expect((await admin("POST", `/chats/${chat.chatId}/messages/${message.id}/redact`)).status).toBe(200);
  await crash(chat.object());
  expect(await chat.attempts(message.id)).toEqual(NONE);
  resolve();
});

test("messages that no network delivers have no attempts, and a scheduled one says when it is due", async () => {
  fakeNetworks(accept);
  const { api, channelId } = await newOrganization();
  const web = await newChat(api, channelId);
  const sent = await send(api, web.id);
  expect((await api("GET", `/chats/${web.id}/messages/${sent.id}/attempts`)).body).toEqual(NONE);
  const chat = await queuePlace("whatsapp");
  const scheduledAt = inFuture(MINUTE);
  const scheduled = await send(chat.api, chat.chatId, { scheduledAt });
  expect(await chat.attempts(scheduled.id)).toEqual({ ...NONE, nextAttemptAt: scheduledAt });
  await chat.cancel(scheduled.id);
  expect(await chat.attempts(scheduled.id)).toEqual(NONE);
  expectError(
    await chat.api("GET", `/chats/${chat.chatId}/messages/msg_gaaaaaaaaaaaaaaa9/attempts`),
    404,
    "message_not_found",
  );
});
