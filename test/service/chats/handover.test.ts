import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { client, expectError, expectFaults, newChannel, newChat, newKey, send } from "../../support/harness.ts";
import { handoverPlace, SILENT_AFTER } from "./handover-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

test("a new chat of a channel with a bot is the bot's, every other chat people's", async () => {
  const { organizationId, api, shown, listed } = await handoverPlace();
  expect((await shown()).handler).toBe("bot");
  expect((await listed()).handler).toBe("bot");
  const channelId = await newChannel(organizationId, "telegram");
  const other = await newChat(api, channelId, "4711");
  expect(other.handler).toBe("people");
  expect((await api("GET", `/chats/${other.id}`)).body.chat.handler).toBe("people");
});

test("a handover to people opens the chat, makes it unanswered and is one event", async () => {
  const { handOver, shown, listed, says, answers, api, chatId, handovers, events } = await handoverPlace();
  const first = await says();
  pass(MINUTE / 4);
  await answers();
  expect((await shown()).unansweredSince).toBeNull();
  await api("PATCH", `/chats/${chatId}`, {
    state: "snoozed",
    snoozedUntil: new Date(Date.now() + MINUTE).toISOString(),
  });
  const answer = await handOver({ to: "people" });
  expect(answer.status, answer.text).toBe(200);
  const expected = { handler: "people", state: "open", snoozedUntil: null, unansweredSince: first.createdAt };
  expect(answer.body).toMatchObject({ chat: expected, message: null });
  expect(await shown()).toMatchObject(expected);
  expect(await listed()).toMatchObject(expected);
  expect(await handovers()).toEqual([{ to: "people", by: expect.objectContaining({ type: "key" }), reason: "asked" }]);
  const seen = await events();
  expect(seen.map(({ type }) => type).slice(-2)).toEqual(["chat.handover", "chat.state"]);
  expect(seen.at(-2)?.data.chat).toMatchObject({ id: chatId, handler: "people" });
});

test("without a message of the contact, the chat waits since the handover, also after an eviction", async () => {
  const { handOver, shown, listed, object } = await handoverPlace();
  const now = new Date().toISOString();
  await handOver({ to: "people" });
  expect((await shown()).unansweredSince).toBe(now);
  await evictDurableObject(object());
  pass(1_000);
  expect((await shown()).unansweredSince).toBe(now);
  expect((await listed()).unansweredSince).toBe(now);
});

test("it waits since the first message after a person last wrote, whatever the bot answered", async () => {
  const { handOver, shown, says, answers, personWrites, ann } = await handoverPlace();
  await says();
  await personWrites(ann);
  pass(1_000);
  await handOver({ to: "bot" });
  const second = await says();
  pass(1_000);
  await answers();
  await says();
  await answers();
  await handOver({ to: "people" });
  expect((await shown()).unansweredSince).toBe(second.createdAt);
});

test("last words, a note and an assignee are one act, and the words leave the contact waiting", async () => {
  const { handOver, shown, says, api, ann, bot, chatId, events } = await handoverPlace();
  const asked = await says();
  const body = {
    to: "people",
    message: { content: "A colleague will help you" },
    note: "Wants a refund",
    assigneeId: ann,
  };
  const answer = await handOver(body, bot);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.message).toMatchObject({ content: "A colleague will help you", seq: 2, status: "SENT" });
  expect(answer.body.chat).toMatchObject({ handler: "people", assigneeId: ann, unansweredSince: asked.createdAt });
  expect((await shown()).unansweredSince).toBe(asked.createdAt);
  expect((await api("GET", `/chats/${chatId}/notes`)).body.notes).toMatchObject([{ content: "Wants a refund" }]);
  const types = (await events()).map(({ type }) => type).slice(2);
  expect(types).toEqual(["message.created", "note.created", "chat.assigned", "chat.handover"]);
});

test("while people have the chat, its bot sends nothing, and a repeat of what it sent is answered as before", async () => {
  const { handOver, bot, sendsAs, other, api, chatId, messages } = await handoverPlace();
  const key = { "Idempotency-Key": "before" };
  const before = await bot("POST", `/chats/${chatId}/messages`, { content: "Hi" }, key);
  await handOver({ to: "people" });
  expectError(await sendsAs(bot), 409, "handed_over");
  expectError(await sendsAs(bot, { ifSeq: 999 }), 409, "handed_over");
  const repeat = await bot("POST", `/chats/${chatId}/messages`, { content: "Hi" }, key);
  expect(repeat.status).toBe(201);
  expect(repeat.body).toEqual(before.body);
  expect((await sendsAs(other)).status).toBe(201);
  expect((await sendsAs(api)).status).toBe(201);
  expect(await messages()).toHaveLength(3);
  await handOver({ to: "bot" });
  expect((await sendsAs(bot)).status).toBe(201);
});

test("the bot is a bot in its channel alone", async () => {
  const { organizationId, bot } = await handoverPlace();
  const channelId = await newChannel(organizationId, "telegram");
  const { id } = await newChat(bot, channelId, "4712");
  expect((await send(bot, id)).seq).toBe(1);
});

test("a person's message takes the chat over in its own commit, a program's does not", async () => {
  const { sendsAs, other, shown, personWrites, ann, handovers, says, events } = await handoverPlace();
  await says();
  await sendsAs(other);
  expect((await shown()).handler).toBe("bot");
  await says();
  const { seq } = await personWrites(ann);
  expect(await shown()).toMatchObject({ handler: "people", unansweredSince: null });
  const by = { type: "member", id: ann, name: "Ann" };
  expect(await handovers()).toEqual([{ to: "people", by, reason: "took_over" }]);
  const last = (await events()).slice(-2);
  expect(last).toMatchObject([{ type: "message.created", data: { seq } }, { type: "chat.handover" }]);
});

test("a message that the bot's key sends in a member's name takes nothing over", async () => {
  const { sendsAs, bot, ann, shown } = await handoverPlace();
  expect((await sendsAs(bot, { senderId: ann })).status).toBe(201);
  expect((await shown()).handler).toBe("bot");
});

test("what the bot has scheduled ends when people get the chat, also by a scheduled message of a person", async () => {
  const { sendsAs, bot, other, waiting, message, handOver, personWrites, ann, ringIn, shown } = await handoverPlace();
  const at = (ms: number) => ({ scheduledAt: new Date(Date.now() + ms).toISOString() });
  const late = (await sendsAs(bot, at(3 * MINUTE))).body.message as Message;
  const others = (await sendsAs(other, at(3 * MINUTE))).body.message as Message;
  await handOver({ to: "people" });
  expect(await message(late.id)).toMatchObject({ status: "CANCELED", error: { code: "handed_over" } });
  expect((await waiting()).map(({ id }) => id)).toEqual([others.id]);
  await handOver({ to: "bot" });
  const after = (await sendsAs(bot, at(MINUTE + 1))).body.message as Message;
  await personWrites(ann, at(MINUTE));
  await ringIn(MINUTE + 2);
  expect((await shown()).handler).toBe("people");
  expect(await message(after.id)).toMatchObject({ status: "CANCELED", error: { code: "handed_over" } });
});

test("the bot hands to people with last words, and does not take the chat back", async () => {
  const { handOver, bot, shown } = await handoverPlace();
  expect((await handOver({ to: "people", message: { content: "Bye" } }, bot)).status).toBe(200);
  expectError(await handOver({ to: "bot" }, bot), 409, "handed_over");
  expectError(await handOver({ to: "people", message: { content: "Wait" } }, bot), 409, "handed_over");
  const again = await handOver({ to: "people" }, bot);
  expect(again.status, again.text).toBe(200);
  expect((await shown()).handler).toBe("people");
});

test("a chat keeps the handler that it has: only the message and the note are new", async () => {
  const { handOver, says, shown, handovers, messages, api, chatId } = await handoverPlace();
  await handOver({ to: "people" });
  await api("POST", `/chats/${chatId}/answered`);
  const asked = await says();
  await handOver({ to: "people", message: { content: "One moment" }, note: "Again" });
  expect(await shown()).toMatchObject({ handler: "people", unansweredSince: asked.createdAt });
  expect(await handovers()).toHaveLength(1);
  expect(await messages()).toHaveLength(2);
});

test("without a bot there is no one to hand to", async () => {
  const { handOver, setBot, api, chatId } = await handoverPlace();
  await handOver({ to: "people" });
  await setBot(null);
  expectError(await handOver({ to: "bot" }), 409, "no_bot");
  expect((await api("GET", `/chats/${chatId}`)).body.chat.handler).toBe("people");
});

test("a part of the act that lacks its permission refuses all of it", async () => {
  const { organizationId, handOver, shown, messages } = await handoverPlace();
  const keyWith = async (...permissions: string[]) => client((await newKey(organizationId, { permissions })).secret);
  const plain = await keyWith("chats:write");
  expectError(
    await handOver({ to: "people", message: { content: "Hi" } }, plain),
    403,
    "permission_denied",
    /messages:send/,
  );
  expectError(await handOver({ to: "people", note: "Hi" }, plain), 403, "permission_denied", /notes:write/);
  expectError(await handOver({ to: "people" }, await keyWith("messages:send")), 403, "permission_denied");
  expect((await shown()).handler).toBe("bot");
  expect(await messages()).toEqual([]);
  expect((await handOver({ to: "people" }, plain)).status).toBe(200);
});

test("a key that only drafts hands over without a message, and with one hands nothing over", async () => {
  const { organizationId, handOver, shown, messages } = await handoverPlace();
  const { secret } = await newKey(organizationId, { permissions: ["chats:write", "messages:send"], draftsOnly: true });
  const drafts = client(secret);
  expectError(await handOver({ to: "people", message: { content: "Hi" } }, drafts), 403, "drafts_only");
  expect((await shown()).handler).toBe("bot");
  expect(await messages()).toEqual([]);
  expect((await handOver({ to: "people" }, drafts)).status).toBe(200);
  expect((await shown()).handler).toBe("people");
});

test("a refused part leaves everything as it was", async () => {
  const { handOver, shown, messages, says } = await handoverPlace();
  await says();
  expectError(await handOver({ to: "people", message: { content: "Hi", ifSeq: 0 } }), 409, "chat_moved_on");
  expectFaults(await handOver({ to: "people", note: { content: "Hi", mentions: ["mbr_nobody"] } }), "note.mentions.0");
  expectError(await handOver({ to: "people", assigneeId: "mbr_nobody" }), 404, "member_not_found");
  expect((await shown()).handler).toBe("bot");
  expect(await messages()).toHaveLength(1);
});

test("wrong bodies name their fault", async () => {
  const { handOver } = await handoverPlace();
  expectFaults(await handOver({ to: "nobody" }), "to");
  expectFaults(await handOver({ to: "people", note: 5 }), "note");
  expectFaults(await handOver({ to: "people", note: "" }), "note");
  expectError(await handOver({ to: "people", message: {} }), 400, "missing_field", /^message\.content/);
  const scheduledAt = new Date(Date.now() + MINUTE).toISOString();
  expectFaults(await handOver({ to: "people", message: { content: "Hi", scheduledAt } }), "message.scheduledAt");
  expectFaults(
    await handOver({ to: "people", message: { content: "Hi", expiresAt: "2020-01-01T00:00:00Z" } }),
    "message.expiresAt",
  );
});

test("a bot that is silent for too long hands over by the chat's alarm, and its time is the oldest message's", async () => {
  const { says, ringIn, shown, handovers, answers } = await handoverPlace();
  await says();
  await answers();
  const asked = await says();
  pass(SILENT_AFTER / 2);
  await says();
  await ringIn(SILENT_AFTER / 2 - 1);
  expect((await shown()).handler).toBe("bot");
  await ringIn(1);
  expect(await shown()).toMatchObject({ handler: "people", state: "open" });
  expect((await shown()).unansweredSince).not.toBeNull();
  expect(await handovers()).toEqual([{ to: "people", by: null, reason: "bot_silent" }]);
  expect(Date.parse(asked.createdAt)).toBeLessThan(Date.now());
});

test("a bot that answers keeps the chat, also after an eviction", async () => {
  const { says, ringIn, shown, answers, object } = await handoverPlace();
  await says();
  await answers();
  await evictDurableObject(object());
  await ringIn(2 * SILENT_AFTER);
  expect((await shown()).handler).toBe("bot");
});

test("the message of another program does not count as the bot's", async () => {
  const { says, ringIn, shown, sendsAs, other } = await handoverPlace();
  await says();
  await sendsAs(other);
  await ringIn(SILENT_AFTER);
  expect((await shown()).handler).toBe("people");
});

test("a bot that gets a waiting chat has its time from then on", async () => {
  const { says, ringIn, shown, handOver } = await handoverPlace();
  await says();
  await handOver({ to: "people" });
  pass(5 * SILENT_AFTER);
  await handOver({ to: "bot" });
  await ringIn(SILENT_AFTER - 1);
  expect((await shown()).handler).toBe("bot");
  await ringIn(1);
  expect((await shown()).handler).toBe("people");
});

test("a bot that gets a chat in which no one is waiting has no deadline", async () => {
  const { says, ringIn, shown, handOver, personWrites, ann } = await handoverPlace();
  await says();
  await personWrites(ann);
  await handOver({ to: "bot" });
  await ringIn(2 * SILENT_AFTER);
  expect((await shown()).handler).toBe("bot");
});

test("closing gives the chat back to the bot", async () => {
  const { says, shown, handOver, api, chatId, handovers, ringIn } = await handoverPlace();
  await says();
  await handOver({ to: "people" });
  const closed = await api("PATCH", `/chats/${chatId}`, { state: "closed" });
  expect(closed.body.chat).toMatchObject({ handler: "bot", state: "closed", unansweredSince: null });
  expect((await handovers()).at(-1)).toEqual({
    to: "bot",
    by: expect.objectContaining({ type: "key" }),
    reason: "closed",
  });
  await ringIn(2 * SILENT_AFTER);
  expect(await shown()).toMatchObject({ handler: "bot", state: "closed" });
  await says();
  await ringIn(SILENT_AFTER);
  expect(await shown()).toMatchObject({ handler: "people", state: "open" });
});

test("closing a chat of a channel without a bot hands it to nobody", async () => {
  const { organizationId, api } = await handoverPlace();
  const channelId = await newChannel(organizationId, "telegram");
  const { id } = await newChat(api, channelId, "4713");
  const closed = await api("PATCH", `/chats/${id}`, { state: "closed" });
  expect(closed.body.chat.handler).toBe("people");
});
