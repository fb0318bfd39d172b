import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { admin, send } from "../../../../support/harness.ts";
import { objectWrites } from "../../../../support/object-writes.ts";
import { connect, visit } from "../../../../support/sockets.ts";
import { pass, stopTheClock } from "../delivery/conversation.ts";
import { newVisitor } from "./new-visitor.ts";

stopTheClock();

/** A visitor with two open pages and two messages: theirs and the company's. */
async function answered() {
  const visitor = await newVisitor();
  const { page } = await visit(visitor.channelId, { token: visitor.token });
  const { messageId } = await page.write("a");
  const { page: other, ready } = await visit(visitor.channelId, { token: visitor.token });
  const { id } = await send(visitor.api, ready.chatId);
  await page.next();
  await other.next();
  pass(1_000);
  const reactions = async (seq = 2) => (await visitor.messages(ready.chatId))[seq - 1]?.reactions;
  return {
    ...visitor,
    page,
    other,
    ready,
    chatId: ready.chatId as string,
    messageId: messageId as string,
    id,
    reactions,
  };
}

test("a visitor's reaction is shown on all pages and to the company, and can be replaced and taken back", async () => {
  const { page, other, reactions } = await answered();
  for (const emoji of ["❤️", "👍🏽"]) {
    page.send({ type: "reaction", seq: 2, emoji });
    const shown = [{ by: "contact", emoji, at: expect.any(String) }];
    for (const each of [page, other]) {
      expect(await each.next()).toMatchObject({ type: "updated", message: { seq: 2, reactions: shown } });
    }
    expect(await reactions()).toEqual(shown);
    pass(1_000);
  }
  page.send({ type: "reaction", seq: 2, emoji: null });
  expect((await other.next()).message).not.toHaveProperty("reactions");
  expect((await page.next()).message).not.toHaveProperty("reactions");
  expect(await reactions()).toBeUndefined();
  expect(await page.rest()).toEqual([]);
});

test("a visitor can react to their own message", async () => {
  const { page, reactions } = await answered();
  expect(await page.ask({ type: "reaction", seq: 1, emoji: "🎉" })).toMatchObject({
    type: "updated",
    message: { seq: 1 },
  });
  expect(await reactions(1)).toMatchObject([{ by: "contact", emoji: "🎉" }]);
});

test("the same reaction again changes nothing, and its page alone is told how the message is", async () => {
  const { page, other, api, chatId, object } = await answered();
  await page.ask({ type: "reaction", seq: 2, emoji: "❤️" });
  const first = await other.next();
  const before = (await api("GET", `/events?types=message.reaction&chatId=${chatId}`)).body;
  pass(1_000);
  // It counts in no limit, so it must not write either.
  const { rows } = await objectWrites({ object: () => object }, async () => {
    for (let n = 0; n < 10; n++) {
      expect(await page.ask({ type: "reaction", seq: 2, emoji: "❤️" })).toEqual(first);
      expect(await page.ask({ type: "reaction", seq: 1, emoji: null })).toMatchObject({ message: { seq: 1 } });
      pass(20);
    }
  });
  expect(rows).toBe(0);
  expect(await other.rest()).toEqual([]);
  expect((await api("GET", `/events?types=message.reaction&chatId=${chatId}`)).body).toEqual(before);
});

test("reactions and messages share the limits of one a second and 60 an hour, also after an eviction", async () => {
  const { page, object } = await answered();
  const refused = (retryAfter: number) => ({ type: "refused", id: "reaction", code: "rate_limited", retryAfter });
  await page.ask({ type: "reaction", seq: 2, emoji: "❤️" });
  expect(await page.ask({ type: "reaction", seq: 1, emoji: "❤️" })).toMatchObject(refused(1));
  expect(await page.write("b")).toMatchObject({ type: "refused", code: "rate_limited" });
  for (let n = 3; n <= 60; n++) {
    pass(1_000);
    expect(await page.ask({ type: "reaction", seq: 2, emoji: n % 2 ? null : "❤️" })).toMatchObject({ type: "updated" });
  }
  await evictDurableObject(object);
  pass(1_000);
  expect(await page.write("b")).toMatchObject({ type: "refused", code: "rate_limited" });
  expect(await page.ask({ type: "reaction", seq: 1, emoji: "❤️" })).toMatchObject({ type: "refused", id: "reaction" });
  pass(3_600_000);
  expect(await page.write("b")).toMatchObject({ type: "stored" });
});

test("a reaction to a redacted message, and to none, changes nothing", async () => {
  const { page, other, chatId, id, reactions } = await answered();
  await admin("POST", `/chats/${chatId}/messages/${id}/redact`);
  await page.next();
  await other.next();
  for (const seq of [0, 2, 3, 9_007_199_254_740_991]) {
    page.send({ type: "reaction", seq, emoji: "❤️" });
    expect(await page.rest()).toEqual([]);
  }
  expect(await other.rest()).toEqual([]);
  expect(await reactions()).toBeUndefined();
});

test("a reaction opens no chat", async () => {
  const { channelId, api } = await newVisitor();
  const { page } = await visit(channelId);
  page.send({ type: "reaction", seq: 1, emoji: "❤️" });
  expect(await page.rest()).toEqual([]);
  expect((await api("GET", `/chats?channel=${channelId}`)).body.chats).toEqual([]);
});

test.each(["no emoji", "❤️❤️", ""])("a reaction with %j is refused, counts nothing and closes nothing", async (emoji) => {
  const { page, reactions } = await answered();
  expect(await page.ask({ type: "reaction", seq: 2, emoji })).toEqual({
    ...{ type: "refused", id: "reaction", code: "validation_failed", message: "emoji must be one emoji" },
    retryAfter: null,
  });
  expect(await page.ask({ type: "reaction", seq: 2, emoji: "🎉" })).toMatchObject({ type: "updated" });
  expect(await reactions()).toMatchObject([{ emoji: "🎉" }]);
});

test.each([{ seq: 1 }, { seq: 1, emoji: 1 }, { seq: -1, emoji: "❤️" }, { emoji: "❤️" }])(
  "%j is no reaction",
  async (fields) => {
    const { page } = await visit((await newVisitor()).channelId);
    page.send({ type: "reaction", ...fields });
    expect(await page.closed).toBe(1008);
  },
);

test("a page that was away hears of a reaction", async () => {
  const { page, channelId, token, ready } = await answered();
  await page.ask({ type: "reaction", seq: 2, emoji: "🎉" });
  const again = await connect(channelId, { token, after: 2, events: ready.events });
  expect(await again.rest()).toMatchObject([
    { type: "updated", message: { seq: 2, reactions: [{ by: "contact", emoji: "🎉" }] } },
    { type: "ready", messages: [] },
  ]);
});
