import { expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { expectFaults, newChat, newOrganization, send } from "../../support/harness.ts";
import { once } from "../../support/once.ts";
import { writeAsContact } from "./inbound.ts";
import { fill, idsOf, walk } from "./many-messages.ts";

/** A web chat with the messages: sent, written by the contact, a document, written by the contact. */
async function place() {
  const organization = await newOrganization();
  const { api, organizationId, channelId } = organization;
  const { id: chatId } = await newChat(api, channelId);
  const messages = [
    await send(api, chatId),
    await writeAsContact(organizationId, chatId),
    await send(api, chatId, { type: "DOCUMENT", mediaUrl: "https://files.example/a.pdf" }),
    await writeAsContact(organizationId, chatId),
  ];
  const list = (query: string) => api("GET", `/chats/${chatId}/messages?${query}`);
  return { ...organization, chatId, ids: messages.map(({ id }) => id), list };
}

/** For tests that only read. */
const shared = once(place);

test.each([
  ["direction=INBOUND", [3, 1]],
  ["direction=OUTBOUND", [2, 0]],
  ["status=RECEIVED", [3, 1]],
  ["status=SENT", [2, 0]],
  ["type=DOCUMENT", [2]],
  ["type=TEXT&direction=OUTBOUND", [0]],
  ["type=TEXT&direction=INBOUND&status=RECEIVED", [3, 1]],
  ["status=FAILED", []],
  ["status=CANCELED", []],
  ["type=DOCUMENT&direction=INBOUND", []],
])("GET /chats/{id}/messages?%s lists the messages with these values, newest first", async (query, expected) => {
  const { ids, list } = await shared();
  const answer = await list(query);
  expect(idsOf(answer)).toEqual(expected.map((at) => ids[at]));
  expect(answer.body.pagination).toEqual({ limit: 20, hasMore: false, cursor: null });
});

test("the cursor continues a filtered list, and a listed message is the same as in the whole list", async () => {
  const { ids, list } = await shared();
  const first = await list("direction=INBOUND&limit=1");
  expect(first.body.pagination).toEqual({ limit: 1, hasMore: true, cursor: ids[3] });
  const second = await list(`direction=INBOUND&limit=1&before=${first.body.pagination.cursor}`);
  expect(second.body.pagination).toEqual({ limit: 1, hasMore: false, cursor: null });
  expect([...idsOf(first), ...idsOf(second)]).toEqual([ids[3], ids[1]]);
  expect(second.body.messages).toEqual((await list(`before=${ids[2]}&limit=1`)).body.messages);
});

test("a filtered list has an ETag", async () => {
  const { api, chatId, list } = await place();
  const headers = { "If-None-Match": (await list("type=TEXT")).headers.get("ETag") ?? "" };
  const again = () => api("GET", `/chats/${chatId}/messages?type=TEXT`, undefined, headers);
  expect((await again()).status).toBe(304);
  await send(api, chatId);
  expect((await again()).status).toBe(200);
});

test.each([
  ["status=sent", "status"],
  ["status=SENT,FAILED", "status"],
  ["status=", "status"],
  ["direction=IN", "direction"],
  ["type=PHOTO", "type"],
  ["type=TEXT&type=TEXT", "type"],
  ["type=TEXT&page=1", "page"],
  ["type=TEXT&after=:id", "after"],
  ["type=TEXT&before=msg_g0000000000000009", "before"],
  ["type=TEXT&before=", "before"],
  ["type=TEXT&limit=0", "limit"],
])("GET /chats/{id}/messages?%s is a 400 that names %s", async (query, path) => {
  const { ids, list } = await shared();
  expectFaults(await list(query.replace(":id", ids[0] as string)), path);
});

test("GET /chats/{id}/messages?status=SCHEDULED is a 400 that names the list of scheduled messages", async () => {
  const { list } = await place();
  const answer = await list("status=SCHEDULED");
  expectFaults(answer, "status");
  expect(answer.body.errors[0].message).toBe("can't be SCHEDULED; read /chats/{id}/scheduled");
});

test("a filtered page examines at most 10,000 messages, and its cursor goes on behind them", async () => {
  const { api, chatId, ids } = await place();
  const messages = (await api("GET", `/chats/${chatId}/messages`)).body.messages as Message[];
  const sent = messages.find(({ id }) => id === ids[0]) as Message;
  await fill(chatId, sent, Array(24_996).fill({}));
  const pages = await walk(chatId, (more) => api("GET", `/chats/${chatId}/messages?direction=INBOUND${more}`));
  expect(pages).toEqual([
    { ids: [], hasMore: true },
    { ids: [], hasMore: true },
    { ids: [ids[3], ids[1]], hasMore: false },
  ]);
});
