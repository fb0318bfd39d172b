import { expect, test } from "vitest";
import { newChannel, newChat, newOrganization, send } from "../harness.ts";

test("a message on a web channel is SENT when it is stored, and listed with all its fields", async () => {
  const { api, channelId, ownerId } = await newOrganization();
  const chat = await newChat(api, channelId);

  const message = await send(api, chat.id, { content: "Hello", metadata: { order: "7" } });

  expect(message).toEqual({
    id: expect.stringMatching(/^msg_g[0-9A-Za-z]{15}$/),
    chatId: chat.id,
    seq: 1,
    direction: "OUTBOUND",
    type: "TEXT",
    content: "Hello",
    mediaUrl: null,
    senderId: ownerId,
    templateId: null,
    variables: null,
    text: "Hello",
    status: "SENT",
    error: null,
    metadata: { order: "7" },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: message.createdAt,
  });
  const listed = await api("GET", `/chats/${chat.id}/messages`);
  expect(listed.body).toEqual({
    messages: [message],
    pagination: { page: 1, limit: 20, total: 1, totalPages: 1, hasMore: false },
  });
});

test.each(["telegram", "whatsapp"] as const)("a message on a %s channel waits QUEUED", async (kind) => {
  const { api, organizationId } = await newOrganization();
  const chat = await newChat(api, await newChannel(organizationId, kind), "4915112345");
  expect((await send(api, chat.id)).status).toBe("QUEUED");
});
