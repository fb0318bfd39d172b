import { expect, test } from "vitest";
import type { Message } from "../../../../../src/chats/message.ts";
import { admin, send, sendMany } from "../../../../support/harness.ts";
import { visit } from "../../../../support/sockets.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { newVisitor } from "./new-visitor.ts";

stopTheClock();

test("a page catches up from its last number and requests older messages, oldest first, 100 at a time", async () => {
  const { api, channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  const chatId: string = (await visit(channelId, { token })).ready.chatId;
  await page.close();
  await sendMany(api, chatId, 104);
  const seqs = ({ messages }: { messages: Message[] }) => messages.map((message) => message.seq);
  const range = (low: number, high: number) => Array.from({ length: high - low + 1 }, (_, i) => low + i);
  const { ready: all } = await visit(channelId, { token });
  expect([seqs(all), all.hasMore, all.lastSeq]).toEqual([range(1, 100), true, 105]);
  const { ready: rest } = await visit(channelId, { token, after: 100 });
  expect([seqs(rest), rest.hasMore, rest.lastSeq]).toEqual([range(101, 105), false, 105]);
  const { page: again, ready: none } = await visit(channelId, { token, after: 105 });
  expect([seqs(none), none.hasMore, none.lastSeq]).toEqual([[], false, 105]);
  const older = async (before: number) => seqs(await again.ask({ type: "older", before }));
  expect([await older(105), await older(5)]).toEqual([range(5, 104), range(1, 4)]);
  expect([await older(1), await older(10_000)]).toEqual([[], range(6, 105)]);
});

test("a visitor without a chat has no older messages", async () => {
  const { page } = await visit((await newVisitor()).channelId);
  expect(await page.ask({ type: "older", before: 7 })).toEqual({ type: "older", messages: [] });
});

test("a page that catches up gets the same messages as an open page", async () => {
  const { api, channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  const { ready } = await visit(channelId, { token });
  await send(api, ready.chatId, { metadata: { secret: "s" } });
  const { message } = await page.next();
  const { page: again, ready: back } = await visit(channelId, { token, after: 1 });
  expect(back.messages).toEqual([message]);
  expect((await again.ask({ type: "older", before: 3 })).messages[1]).toEqual(message);
  expect(JSON.stringify(message)).not.toMatch(/metadata|senderId|templateId|variables/);
});

test("a page whose number is too high learns the chat's newest number", async () => {
  const { channelId, token } = await newVisitor();
  await (await visit(channelId, { token })).page.write("a");
  expect((await visit(channelId, { token, after: 999 })).ready).toMatchObject({
    messages: [],
    hasMore: false,
    lastSeq: 1,
  });
});

test("a redacted message is redacted on open pages too", async () => {
  const { channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const { messageId } = await page.write("a", "My card number");
  const { ready } = await visit(channelId, { token });
  await admin("POST", `/chats/${ready.chatId}/messages/${messageId}/redact`);
  expect(await page.next()).toMatchObject({
    type: "updated",
    message: { id: messageId, seq: 1, content: "", text: "" },
  });
});

test("a page that was disconnected during a redaction gets the redacted message when it connects again", async () => {
  const { channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const { messageId } = await page.write("a", "My card number");
  const { ready } = await visit(channelId, { token });
  await page.close();
  await admin("POST", `/chats/${ready.chatId}/messages/${messageId}/redact`);
  const { page: again } = await visit(channelId, { token, after: 1 });
  expect(await again.rest()).toMatchObject([{ type: "message", message: { id: messageId, seq: 1, text: "" } }]);
  const { page: fresh } = await visit(channelId, { token });
  expect(await fresh.rest()).toEqual([]);
});
