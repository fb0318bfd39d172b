import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { randomBase62 } from "../../../../../src/model/id.ts";
import { runAlarm } from "../../../../support/alarms.ts";
import { replaceMethod } from "../../../../support/faults.ts";
import { admin, created, newChat, newOrganization, send } from "../../../../support/harness.ts";
import { acceptAs, fakeNetworks, hanging, inTurn } from "../../../../support/networks.ts";
import { storedBy, storedChat } from "../../../../support/stored.ts";
import { taken, tellStatus } from "../../../inbound/webhook-calls.ts";
import { type Conversation, conversation, stopTheClock } from "./conversation.ts";

stopTheClock();

/** A text that stands nowhere else. */
const newCanary = () => `canary-${randomBase62(16)}`;
const textOf = (canary: string) => `${canary} `.repeat(60).trim();
const voice = (canary: string) => ({ type: "AUDIO", content: textOf(canary), mediaUrl: "https://example.com/a.ogg" });
/** A refusal whose words quote the message. */
const quoting = (canary: string, code = 131026) => ({
  errors: [{ code, title: `No: ${canary}`, message: `No: ${canary}`, error_data: { details: `No: ${canary}` } }],
});

async function redact({ chatId }: { chatId: string }, messageId: string): Promise<void> {
  const answer = await admin("POST", `/chats/${chatId}/messages/${messageId}/redact`);
  expect(answer.status, answer.text).toBe(200);
}

/** What the chat's object stores and what the API shows of the chat. */
async function allOf({ object, messages, queue }: Pick<Conversation, "object" | "messages" | "queue">) {
  return JSON.stringify([await storedBy(object()), await messages(), await queue()]);
}

/** A voice message and its text that WhatsApp took, as `wamid.voice` and `wamid.text`. */
async function sentVoice(canary: string) {
  fakeNetworks(inTurn(acceptAs("wamid.voice"), acceptAs("wamid.text")));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId, voice(canary));
  await chat.run();
  return { ...chat, id };
}

test("a redaction removes the network's words about each part of a message", async () => {
  const canary = newCanary();
  const chat = await sentVoice(canary);
  taken(await tellStatus(chat, chat.id, "failed", { id: "wamid.text", ...quoting(canary) }));
  expect(await allOf(chat)).toContain(`No: ${canary}`);

  await redact(chat, chat.id);
  expect(await allOf(chat)).not.toContain(canary);
  expect(await chat.message(chat.id)).toMatchObject({ status: "FAILED", error: { code: "network_131026" } });
});

test("a redaction removes the network's words about a part that no answer has named yet", async () => {
  const canary = newCanary();
  const network = hanging(acceptAs("wamid.voice"));
  fakeNetworks(network.script);
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId, voice(canary));
  await network.reached();
  const unnamed = { id: "wamid.other", ...quoting(canary), biz_opaque_callback_data: undefined };
  taken(await tellStatus(chat, id, "failed", unnamed));
  expect(await allOf(chat)).toContain(`No: ${canary}`);

  await redact(chat, id);
  const whileCalling = await allOf(chat);
  taken(await tellStatus(chat, id, "failed", { ...unnamed, id: "wamid.third", ...quoting(canary, 131042) }));
  const afterNews = await allOf(chat);
  network.letGo();
  await chat.run();
  for (const all of [whileCalling, afterNews, await allOf(chat)]) expect(all).not.toContain(canary);
});

test("a FAILED status that comes after the redaction brings no words of the network back", async () => {
  const canary = newCanary();
  const chat = await sentVoice(canary);
  await redact(chat, chat.id);
  taken(await tellStatus(chat, chat.id, "failed", { id: "wamid.voice", ...quoting(canary) }));
  expect(await allOf(chat)).not.toContain(canary);
  expect(await chat.message(chat.id)).toMatchObject({ status: "FAILED", error: { code: "network_131026" } });
});

test("a FAILED status after the redaction of a message with one part brings no words back either", async () => {
  const canary = newCanary();
  fakeNetworks(acceptAs("wamid.one"));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId, { content: canary });
  await chat.run();
  await redact(chat, id);
  taken(await tellStatus(chat, id, "failed", { id: "wamid.one", ...quoting(canary) }));
  expect(await allOf(chat)).not.toContain(canary);
  expect(await chat.message(id)).toMatchObject({ status: "FAILED", error: { code: "network_131026" } });
});

test("an idempotency key is stored nowhere in the clear, and still returns its message after the redaction", async () => {
  const canary = newCanary();
  const { api, channelId } = await newOrganization();
  const { id: chatId } = await newChat(api, channelId);
  const path = `/chats/${chatId}/messages`;
  const keyed = { "Idempotency-Key": canary };
  const { message } = created(await api("POST", path, { content: "Hello" }, keyed));
  const stored = () => storedBy(env.CHATS.getByName(chatId));
  expect(await stored()).not.toContain(canary);

  await redact({ chatId }, message.id);
  expect(await stored()).not.toContain(canary);
  for (const content of ["Hello", "Another"]) {
    const again = await api("POST", path, { content }, keyed);
    expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([201, "true"]);
    expect(again.body.message).toMatchObject({ id: message.id, content: "" });
  }
  expect((await api("GET", path)).body.pagination.total).toBe(1);
});

/** A web chat whose newest message has a canary, which the list of chats shows. */
async function listed() {
  const { api, channelId, organizationId } = await newOrganization();
  const { id: chatId } = await newChat(api, channelId, "ada");
  const canary = newCanary();
  const { id } = await send(api, chatId, { content: canary });
  await runAlarm(env.CHATS.getByName(chatId));
  const lastMessage = async () => (await storedChat(organizationId, chatId))?.last_message ?? "";
  expect(await lastMessage()).toContain(canary);
  const redaction = async () => (await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status;
  return { api, chatId, canary, lastMessage, redaction };
}

test("a redaction is answered even if the chat changes during each report", async () => {
  const { api, chatId, canary, lastMessage, redaction } = await listed();
  let reports = 0;
  replaceMethod("ORGANIZATIONS", "report", (original) => async (...given) => {
    if (++reports < 5) await send(api, chatId);
    return original(...given);
  });
  expect(await redaction()).toBe(200);
  expect(reports).toBeLessThan(3);
  vi.restoreAllMocks();
  expect(await lastMessage()).not.toContain(canary);
});
