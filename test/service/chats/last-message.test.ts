import { expect, test } from "vitest";
import { admin, client, newChat, newKey, newOrganization, send, shortened } from "../../support/harness.ts";
import { report, writeAsContact } from "./inbound.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

const WITHOUT = ["chats:read", "chats:write"];

/** A chat with a reported message, and a second key that may not read messages. */
async function chatWithMessage() {
  const organization = await newOrganization();
  const { id: chatId, contact: shown } = await newChat(organization.api, organization.channelId);
  const contact = { address: shown.address };
  const message = await send(organization.api, chatId, { content: "A secret" });
  await report(chatId);
  const blind = await newKey(organization.organizationId, { permissions: WITHOUT });
  return { ...organization, chatId, contact, message, blindKeyId: blind.key.id, blind: client(blind.secret) };
}

test("every route shows a chat's last message, and null to a key without messages:read", async () => {
  const { api, blind, organizationId, channelId, chatId, contact, message } = await chatWithMessage();
  const lastMessage = shortened(message);
  for (const [key, expected] of [
    [api, lastMessage],
    [blind, null],
    [api, lastMessage],
  ] as const) {
    const [listed] = (await key("GET", "/chats")).body.chats;
    expect(listed.lastMessage).toEqual(expected);
    expect((await key("GET", `/chats/${chatId}`)).body).toEqual({ chat: listed });
    expect((await key("POST", "/chats", { channelId, contact })).body).toEqual({ chat: listed });
    expect((await key("POST", `/chats/${chatId}/answered`)).body).toEqual({ chat: listed });
    expect((await key("PATCH", `/chats/${chatId}`, {})).body).toEqual({ chat: listed });
  }
  expect((await admin("GET", `/organizations/${organizationId}/chats`)).body.chats[0].lastMessage).toEqual(lastMessage);
  expect((await admin("GET", `/chats/${chatId}`)).body.chat.lastMessage).toEqual(lastMessage);
});

test("concurrent lists of two keys show the last message only to the key that may read messages", async () => {
  const { api, blind } = await chatWithMessage();
  const answers = await Promise.all([api, blind, api, blind].map((key) => key("GET", "/chats")));
  expect(answers.map(({ text }) => text.includes("A secret"))).toEqual([true, false, true, false]);
});

test("a key that gets or loses messages:read sees the change in its next list, also if it has read the list before", async () => {
  const { blind, blindKeyId } = await chatWithMessage();
  const shows = async () => (await blind("GET", "/chats")).text.includes("A secret");
  expect(await shows()).toBe(false);
  for (const permissions of [[...WITHOUT, "messages:read"], WITHOUT]) {
    expect((await admin("PATCH", `/keys/${blindKeyId}`, { permissions })).status).toBe(200);
    expect([await shows(), await shows()]).toEqual(permissions === WITHOUT ? [false, false] : [true, true]);
  }
});

test("GET /chats/{id} shows the last message before the list does, and a redaction blanks it in both", async () => {
  const { api, organizationId, chatId, message } = await chatWithMessage();
  const newer = await writeAsContact(organizationId, chatId, "x".repeat(161));
  expect((await api("GET", `/chats/${chatId}`)).body.chat).toMatchObject({
    lastMessageAt: newer.createdAt,
    lastMessage: { ...shortened(newer), text: "x".repeat(160) },
    unansweredSince: newer.createdAt,
  });
  expect((await api("GET", "/chats")).body.chats[0].lastMessage.id).toBe(message.id);
  expect((await admin("POST", `/chats/${chatId}/messages/${newer.id}/redact`)).status).toBe(200);
  const blank = { ...shortened(newer), text: "" };
  expect((await api("GET", "/chats")).body.chats[0].lastMessage).toEqual(blank);
  expect((await api("GET", `/chats/${chatId}`)).body.chat.lastMessage).toEqual(blank);
});
