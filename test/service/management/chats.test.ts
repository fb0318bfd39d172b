import { expect, onTestFinished, test, vi } from "vitest";
import {
  admin,
  created,
  expectError,
  newChannel,
  newChat,
  newOrganization,
  send,
  shortened,
} from "../../support/harness.ts";

const IDLE = { depth: 0, oldest: null, nextAttemptAt: null, lastError: null };

/** A chat on a channel whose messages wait for their network. */
async function waitingChat() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, await newChannel(organization.organizationId, "telegram"), "4711");
  return { ...organization, chat };
}

test("the operator creates a chat like a client, and the same address gets the same chat", async () => {
  const { organizationId, channelId, api } = await newOrganization();
  const body = { channelId, contact: { address: "anna", name: "Anna" }, metadata: { tier: "gold" } };
  const path = `/organizations/${organizationId}/chats`;
  const { chat } = created(await admin("POST", path, body));
  expect(chat).toEqual({
    id: expect.stringMatching(/^cht_g[0-9A-Za-z]{15}$/),
    channel: { id: channelId, kind: "web", name: "The web channel" },
    contact: { address: "anna", name: "Anna", username: null, personId: null, addresses: ["anna"] },
    metadata: { tier: "gold" },
    createdAt: expect.stringMatching(/Z$/),
    lastMessageAt: null,
    lastMessage: null,
    unansweredSince: null,
    nextScheduledAt: null,
    readUpTo: null,
    assigneeId: null,
    replyUntil: null,
    marketing: null,
    state: "open",
    snoozedUntil: null,
    handler: "people",
    labels: [],
  });
  const again = await admin("POST", path, { channelId, contact: { address: "anna", name: "Other" } });
  expect([again.status, again.body]).toEqual([200, { chat }]);
  const public_ = await api("POST", "/chats", { channelId, contact: { address: "anna" } });
  expect([public_.status, public_.body]).toEqual([200, { chat }]);
});

test("the operator's chat belongs to the organization in the path, and can only use its channels", async () => {
  const mine = await newOrganization();
  const other = await newOrganization();
  const body = { channelId: other.channelId, contact: { address: "anna" } };
  expectError(await admin("POST", `/organizations/${mine.organizationId}/chats`, body), 404, "channel_not_found");
  const answer = await admin("POST", `/organizations/${mine.organizationId}/chats`, {
    channelId: mine.channelId,
    contact: { address: "web_x" },
  });
  expectError(answer, 400, "validation_failed");
  expect(answer.body.errors[0].path).toBe("contact.address");
});

test("GET /chats/{id} returns the chat and an empty queue if nothing waits", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  expect((await admin("GET", `/chats/${chat.id}`)).body).toEqual({ chat, queue: IDLE });
  const message = await send(api, chat.id);
  expect((await admin("GET", `/chats/${chat.id}`)).body).toEqual({
    chat: { ...chat, lastMessageAt: message.createdAt, lastMessage: shortened(message) },
    queue: IDLE,
  });
});

test("the queue has the number of waiting messages and the time of the oldest", async () => {
  const { api, chat } = await waitingChat();
  const first = await send(api, chat.id);
  await send(api, chat.id);
  const { body } = await admin("GET", `/chats/${chat.id}`);
  expect(body.queue).toMatchObject({ depth: 2, oldest: first.createdAt });
  expect(Object.keys(body.queue).sort()).toEqual(["depth", "lastError", "nextAttemptAt", "oldest"]);
});

test("a redaction removes a message's text and keeps its id, its seq and its times", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id, { content: "before" });
  const message = await send(api, chat.id, {
    content: "canary",
    mediaUrl: "https://canary.test/a.png",
    type: "IMAGE",
    metadata: { canary: "1" },
  });
  await send(api, chat.id, { content: "after" });
  const redacted = { ...message, content: "", text: "", variables: null, mediaUrl: null, metadata: {} };
  const answer = await admin("POST", `/chats/${chat.id}/messages/${message.id}/redact`);
  const { redactedAt } = answer.body.message;
  expect(Date.parse(redactedAt)).toBeLessThanOrEqual(Date.now());
  Object.assign(redacted, { redactedAt });
  expect([answer.status, answer.body]).toEqual([200, { message: redacted }]);
  expect((await api("GET", `/chats/${chat.id}/messages/${message.id}`)).body).toEqual({ message: redacted });
  const { messages, pagination } = (await api("GET", `/chats/${chat.id}/messages`)).body;
  expect(messages.map(({ content }: { content: string }) => content)).toEqual(["after", "", "before"]);
  expect(messages[1]).toEqual(redacted);
  expect(pagination.total).toBe(3);
});

test("a redaction also removes a template's variables and text", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const body = { name: "hi", language: "en", body: "Hi {{name}}" };
  const { template } = created(await admin("POST", `/organizations/${organizationId}/templates`, body));
  const message = await send(api, chat.id, { templateId: template.id, variables: { name: "canary" } });
  const { text } = await admin("POST", `/chats/${chat.id}/messages/${message.id}/redact`);
  expect(text).not.toContain("canary");
  expect(JSON.parse(text).message).toMatchObject({ templateId: template.id, variables: null, text: "" });
});

test("a second redaction is a 404, and so is the redaction of an unknown message", async () => {
  const { api, channelId } = await newOrganization();
  const [chat, other] = [await newChat(api, channelId), await newChat(api, channelId)];
  const message = await send(api, chat.id);
  const redact = (chatId: string, messageId: string) => admin("POST", `/chats/${chatId}/messages/${messageId}/redact`);
  expect((await redact(chat.id, message.id)).status).toBe(200);
  expectError(await redact(chat.id, message.id), 404, "message_not_found", /^Message not found$/);
  expectError(await redact(chat.id, "msg_gaaaaaaaaaaaaaaa"), 404, "message_not_found");
  expectError(await redact(other.id, message.id), 404, "message_not_found");
  expectError(await redact("cht_gaaaaaaaaaaaaaaa", message.id), 404, "chat_not_found");
});

test("a waiting message leaves the queue when it is redacted, and is FAILED", async () => {
  const { api, chat } = await waitingChat();
  const first = await send(api, chat.id, { content: "canary" });
  const second = await send(api, chat.id);
  const { message } = (await admin("POST", `/chats/${chat.id}/messages/${first.id}/redact`)).body;
  expect(message).toMatchObject({
    status: "FAILED",
    error: { code: "redacted", message: expect.any(String) },
    content: "",
  });
  const { queue } = (await admin("GET", `/chats/${chat.id}`)).body;
  expect(queue).toMatchObject({ depth: 1, oldest: second.createdAt });
  expect((await send(api, chat.id)).seq).toBe(3);
});

test("a message that three operators redact in the same millisecond is redacted once", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const message = await send(api, chat.id);
  const path = `/chats/${chat.id}/messages/${message.id}/redact`;
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const answers = await Promise.all([1, 2, 3].map(() => admin("POST", path)));
  expect(answers.map(({ status }) => String(status)).sort()).toEqual(["200", "404", "404"]);
});

test("a deleted chat is returned, is gone for everyone, and its address gets a new chat", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const chat = await newChat(api, channelId, "anna");
  const message = await send(api, chat.id);
  const deleted = await admin("DELETE", `/chats/${chat.id}`);
  // As it last reported: its message may be in that.
  const { lastMessage, lastMessageAt } = deleted.body.chat;
  expect([deleted.status, deleted.body]).toEqual([200, { chat: { ...chat, lastMessage, lastMessageAt } }]);
  expectError(await admin("DELETE", `/chats/${chat.id}`), 404, "chat_not_found", /^Chat not found$/);
  expectError(await admin("GET", `/chats/${chat.id}`), 404, "chat_not_found");
  expectError(await api("GET", `/chats/${chat.id}/messages/${message.id}`), 404, "chat_not_found");
  expectError(await api("POST", `/chats/${chat.id}/messages`, { content: "Hi" }), 404, "chat_not_found");
  const { pagination } = (await admin("GET", `/organizations/${organizationId}/chats`)).body;
  expect(pagination.total).toBe(0);
  const again = await newChat(api, channelId, "anna");
  expect(again.createdAt > chat.createdAt).toBe(true);
  expect((await api("GET", `/chats/${again.id}/messages`)).body.messages).toEqual([]);
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});
