import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { MessageChange } from "../../../../../src/model/chat-answers.ts";
import { asOwner } from "../../../../support/as-owner.ts";
import { admin, send } from "../../../../support/harness.ts";
import { asUser, connect, type Frame, newSite, signUser, visit } from "../../../../support/sockets.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { later, newVisitor } from "./new-visitor.ts";

stopTheClock();

/** A visitor who wrote `a`, `b` and `c`, and got an answer. */
async function talked() {
  const visitor = await newVisitor();
  const { page } = await visit(visitor.channelId, { token: visitor.token });
  const ids: string[] = [];
  for (const id of ["a", "b", "c"]) {
    ids.push((await page.write(id)).messageId);
    later();
  }
  const { ready } = await visit(visitor.channelId, { token: visitor.token });
  const answer = await send(visitor.api, ready.chatId);
  await page.next();
  const change = async (what: MessageChange) => {
    expect(await visitor.object.change(asOwner(visitor.organizationId), what)).toEqual({ outcome: "ok" });
  };
  const redact = (messageId: string) => admin("POST", `/chats/${ready.chatId}/messages/${messageId}/redact`);
  return { ...visitor, page, ids, answerId: answer.id as string, change, redact };
}

const edit = (networkId: string, content: string) =>
  ({ change: "edit", networkId, content, at: Date.now() }) satisfies MessageChange;

const shownOf = (frames: Frame[]) =>
  frames.filter(({ type }) => type === "updated").map(({ message: { seq, text } }) => [seq, text]);

test("a page that was away through edits, a deletion, a reaction and a redaction shows all of them as they are now", async () => {
  const { page, ids, change, redact, channelId, token, object } = await talked();
  await page.close();
  const { page: before, ready } = await visit(channelId, { token });
  await before.close();
  await change(edit("a", "first edit"));
  later();
  await change(edit("a", "second edit"));
  await change({ change: "deletion", networkId: "b" });
  const { page: other } = await visit(channelId, { token });
  await other.ask({ type: "reaction", seq: 4, emoji: "❤️" });
  later();
  await change(edit("c", "an edit"));
  await redact(ids[2] ?? "");
  await evictDurableObject(object);
  const frames = await (await connect(channelId, { token, after: 4, events: ready.events })).rest();
  expect(shownOf(frames)).toEqual([
    [1, "second edit"],
    [2, ""],
    [3, ""],
    [4, "Hello"],
  ]);
  const [edited, deleted, redacted, reacted] = frames.map(({ message }) => message);
  expect(edited.editedAt).toEqual(expect.any(String));
  expect([deleted.deletedAt, deleted.redactedAt]).toEqual([expect.any(String), undefined]);
  expect(redacted.redactedAt).toEqual(expect.any(String));
  expect(reacted.reactions).toMatchObject([{ by: "contact", emoji: "❤️" }]);
  // Who is there again hears nothing twice.
  const { events } = frames.at(-1);
  expect(shownOf(await (await connect(channelId, { token, after: 4, events })).rest())).toEqual([]);
});

test("all open pages are told of an edit, also after the object slept", async () => {
  const { page, change, channelId, token, object } = await talked();
  const { page: other } = await visit(channelId, { token });
  await evictDurableObject(object);
  await change(edit("a", "Edited"));
  for (const each of [page, other]) {
    const message = { seq: 1, text: "Edited", editedAt: expect.any(String) };
    expect(await each.next()).toMatchObject({ type: "updated", message });
  }
});

test("what comes after a redaction stays blank on pages", async () => {
  const { page, ids, object, redact, organizationId } = await talked();
  await redact(ids[0] ?? "");
  expect(await page.next()).toMatchObject({ type: "updated", message: { seq: 1, text: "" } });
  expect(await object.change(asOwner(organizationId), edit("a", "Back again"))).toEqual({ outcome: "no_message" });
  page.send({ type: "reaction", seq: 1, emoji: "❤️" });
  expect(await page.rest()).toEqual([]);
});

test("after another identity, a page hears nothing of the first one's chat", async () => {
  const { channelId, secret, api } = await newSite();
  const as = async (user: string) => ({ protocols: asUser(user, await signUser(user, secret)) });
  const { page: ana } = await visit(channelId, await as("ana"));
  await ana.write("a", "Ana's secret");
  const { ready } = await visit(channelId, await as("ana"));
  // The page keeps what it knows of Ana's chat, and signs Ben in.
  const ben = await connect(channelId, { ...(await as("ben")), after: 1, events: ready.events });
  expect(await ben.rest()).toEqual([
    { type: "reset" },
    expect.objectContaining({ type: "ready", chatId: null, messages: [] }),
  ]);
  await send(api, ready.chatId, { content: "For Ana alone" });
  await ana.ask({ type: "message", id: "a", content: "Ana's secret" });
  expect(await ben.rest()).toEqual([]);
  expect(await ben.write("b", "I am Ben")).toMatchObject({ type: "stored", seq: 1 });
  expect(JSON.stringify((await visit(channelId, await as("ben"))).ready)).not.toMatch(/\bAna\b/);
});
