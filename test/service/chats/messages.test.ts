import { expect, test, vi } from "vitest";
import { newChannel, newChat, newOrganization, send } from "../../support/harness.ts";

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

test.each([
  ["eu", "e"],
  ["us", "u"],
])(
  "the ids of an organization in the jurisdiction %s carry its letter, and lead to its chats",
  async (name, letter) => {
    const { api, channelId } = await newOrganization({ jurisdiction: name });
    const chat = await newChat(api, channelId);
    const message = await send(api, chat.id);
    expect([chat.id[4], message.id[4], message.senderId?.[4]]).toEqual([letter, letter, letter]);
    expect((await api("GET", `/chats/${chat.id}/messages`)).body.messages).toEqual([message]);
  },
);

test("a message's times never run backwards in its chat", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const now = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(now + 60_000);
  const first = await send(api, chat.id);
  vi.spyOn(Date, "now").mockReturnValue(now);
  const second = await send(api, chat.id);
  vi.restoreAllMocks();
  expect([first.createdAt, second.createdAt]).toEqual(Array(2).fill(new Date(now + 60_000).toISOString()));
  expect((await api("GET", `/chats/${chat.id}`)).body.chat.lastMessageAt).toBe(second.createdAt);
});
