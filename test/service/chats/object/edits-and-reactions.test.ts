import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { ChatObject } from "../../../../src/chats/object/chat-object.ts";
import type { ChatParts } from "../../../../src/chats/object/chat-parts.ts";
import type { InboundExtra, MessageChange } from "../../../../src/model/chat-answers.ts";
import { newId } from "../../../../src/model/id.ts";
import { PERMISSIONS } from "../../../../src/model/permission.ts";
import { asOwner } from "../../../support/as-owner.ts";
import { breakObjects } from "../../../support/faults.ts";
import { admin, client, expectError, newKey, newOrganization, send } from "../../../support/harness.ts";
import { acceptAs, fakeNetworks } from "../../../support/networks.ts";
import { objectWrites } from "../../../support/object-writes.ts";
import { storedBy } from "../../../support/stored.ts";
import { report } from "../inbound.ts";
import { conversation, pass, stopTheClock } from "./delivery/conversation.ts";

stopTheClock();

const T = Date.parse("2026-11-20T10:00:00.000Z");
const iso = (at: number) => new Date(at).toISOString();

/** A WhatsApp chat with the contact's message `in1` and ours, `out1`, and what a test does to them. */
async function chatWithBoth() {
  fakeNetworks(acceptAs("out1"));
  const at = await conversation("whatsapp");
  const { organizationId, chatId, api } = at;
  const object = () => env.CHATS.getByName(chatId);
  const receive = async (networkId: string, content: string, extra?: InboundExtra) => {
    const id = newId("msg", null);
    const draft = { id, dedupe: networkId, type: "TEXT", content, media: null, origin: null, extra } as const;
    const answer = await object().receive(asOwner(organizationId), { ...draft, addresses: [] });
    if (answer.outcome !== "stored") throw new Error(answer.outcome);
    return JSON.parse(answer.doc).id as string;
  };
  const ours = await send(api, chatId, { content: "Ours" });
  await at.run();
  const theirs = await receive("in1", "First");
  const change = async (what: MessageChange) => (await object().change(asOwner(organizationId), what)).outcome;
  const edit = (content: string, seconds: number) =>
    change({ change: "edit", networkId: "in1", content, at: T + seconds * 1_000 });
  const react = (emoji: string | null, seconds: number, networkId = "in1") =>
    change({ change: "reaction", networkId, emoji, at: T + seconds * 1_000 });
  const remove = () => change({ change: "deletion", networkId: "in1" });
  const listener = client((await newKey(organizationId, { permissions: [...PERMISSIONS] })).secret);
  const events = async () => {
    const { body } = await listener("GET", `/chats/${chatId}/events`);
    return body.events as { type: string; number: number; data: { by?: string } }[];
  };
  return {
    ...at,
    receive,
    ours: ours.id,
    theirs,
    change,
    edit,
    react,
    remove,
    /** Reacts as the company, after the network took the reaction. */
    setReaction: (seq: number, emoji: string | null, when: number) =>
      runInDurableObject(object(), (instance) =>
        (instance as unknown as { parts: ChatParts }).parts.editsAndReactions.setReaction(seq, emoji, when),
      ),
    reactions: async (id: string) => (await at.message(id)).reactions ?? [],
    /** The types of the events after the contact's message. */
    eventsAfter: async () =>
      (await events()).filter(({ number }) => number > 4).map(({ type, data }) => [type, data.by]),
    chat: async () => (await api("GET", `/chats/${chatId}`)).body.chat,
  };
}

test("an edit changes a contact's text, its times and the chat's last message, but not its order or waiting", async () => {
  const at = await chatWithBoth();
  const [before, chat] = [await at.message(at.theirs), await at.chat()];
  pass(5_000);
  expect(await at.edit("Second", 60)).toBe("ok");
  expect(await at.message(at.theirs)).toEqual({
    ...before,
    content: "Second",
    text: "Second",
    editedAt: iso(T + 60_000),
    updatedAt: iso(Date.now()),
  });
  const after = await at.chat();
  expect(after).toEqual({ ...chat, lastMessage: { ...chat.lastMessage, text: "Second" } });
  expect(after.unansweredSince).toBe(before.createdAt);
  await report(at.chatId);
  expect((await at.api("GET", "/chats")).body.chats).toEqual([after]);
  expect((await at.api("POST", `/chats/${at.chatId}/messages`, { content: "Hi", ifSeq: 2 })).status).toBe(201);
  expect(await at.eventsAfter()).toContainEqual(["message.edited", undefined]);
});

test("the latest edit counts in whatever order edits come, and the same text twice is no edit", async () => {
  const at = await chatWithBoth();
  for (const [content, seconds] of [
    ["First", 5],
    ["Third", 30],
    ["Second", 20],
    ["Third", 30],
    ["Third", 40],
  ] as const) {
    expect(await at.edit(content, seconds)).toBe("ok");
  }
  expect(await at.message(at.theirs)).toMatchObject({ content: "Third", editedAt: iso(T + 30_000) });
  expect(await at.eventsAfter()).toEqual([["message.edited", undefined]]);
  // Of the same second, the one that comes last.
  await at.edit("Fourth", 40);
  expect(await at.message(at.theirs)).toMatchObject({ content: "Fourth", editedAt: iso(T + 40_000) });
});

test("an edit back to the first text and a removed reaction hold, also if they come before what they take back", async () => {
  const at = await chatWithBoth();
  await at.edit("First", 20);
  await at.edit("Second", 10);
  await at.react(null, 20);
  await at.react("👍", 10);
  const message = await at.message(at.theirs);
  expect(message.content).toBe("First");
  expect(message).not.toHaveProperty("editedAt");
  expect(message).not.toHaveProperty("reactions");
  expect(await at.eventsAfter()).toEqual([]);
});

test("the same reaction made again later holds against a removal that comes late", async () => {
  const at = await chatWithBoth();
  await at.react("👍", 10);
  await at.react("👍", 30);
  await at.react(null, 20);
  expect(await at.reactions(at.theirs)).toEqual([{ by: "contact", emoji: "👍", at: iso(T + 10_000) }]);
  await at.react("🎉", 31);
  expect(await at.reactions(at.theirs)).toMatchObject([{ emoji: "🎉" }]);
});

test("an edit of an outbound message, of an unknown one and of another chat's changes nothing", async () => {
  const [at, other] = [await chatWithBoth(), await chatWithBoth()];
  await other.receive("in2", "Other");
  for (const networkId of ["out1", "in2", "in", "key:x"]) {
    expect(await at.change({ change: "edit", networkId, content: "X", at: T })).toBe("no_message");
    expect(await at.change({ change: "deletion", networkId })).toBe("no_message");
  }
  expect((await at.messages()).map(({ content }) => content)).toEqual(["Ours", "First"]);
  expect(await at.eventsAfter()).toEqual([]);
});

test("a change is unknown to another organization", async () => {
  const [at, { organizationId }] = [await chatWithBoth(), await newOrganization()];
  const edit = { change: "edit", networkId: "in1", content: "X", at: T } as const;
  expect(await at.object().change(asOwner(organizationId), edit)).toEqual({ outcome: "unknown" });
});

test("a contact's deletion blanks the message everywhere, once, and nothing changes it after", async () => {
  const at = await chatWithBoth();
  await at.react("👍", 1);
  expect([await at.remove(), await at.remove()]).toEqual(["ok", "ok"]);
  const blank = await at.message(at.theirs);
  expect(blank).toMatchObject({ content: "", text: "", deletedAt: iso(Date.now()), status: "RECEIVED" });
  expect(blank).not.toHaveProperty("redactedAt");
  expect(blank).not.toHaveProperty("reactions");
  expect([await at.edit("Back", 99), await at.react("🔥", 99)]).toEqual(["no_message", "no_message"]);
  expect(await at.remove()).toBe("ok");
  expect(await at.message(at.theirs)).toEqual(blank);
  expect(await at.eventsAfter()).toEqual([
    ["message.reaction", "contact"],
    ["message.redacted", "contact"],
  ]);
  // The list knows it before the deletion is answered.
  expect((await at.api("GET", "/chats")).body.chats[0].lastMessage.text).toBe("");
  expect(await storedBy(at.object())).not.toMatch(/First|👍/u);
});

test("the operator can redact a message that the contact deleted, once", async () => {
  const at = await chatWithBoth();
  await at.remove();
  const redact = () => admin("POST", `/chats/${at.chatId}/messages/${at.theirs}/redact`);
  const answer = await redact();
  expect(answer.body.message).toMatchObject({ deletedAt: iso(Date.now()), redactedAt: iso(Date.now()), text: "" });
  expectError(await redact(), 404, "message_not_found");
  expect(await at.remove()).toBe("ok");
  expect((await at.eventsAfter()).map(([, by]) => by)).toEqual(["contact", undefined]);
});

test("a deletion that the list of chats may not know is to be repeated, and then told", async () => {
  const at = await chatWithBoth();
  await report(at.chatId);
  const mend = breakObjects("ORGANIZATIONS", "report");
  expect(await at.remove()).toBe("not_reported");
  expect(await at.message(at.theirs)).toMatchObject({ text: "" });
  mend();
  expect((await at.api("GET", "/chats")).body.chats[0].lastMessage.text).toBe("First");
  expect(await at.remove()).toBe("ok");
  expect((await at.api("GET", "/chats")).body.chats[0].lastMessage.text).toBe("");
  expect(await at.eventsAfter()).toEqual([["message.redacted", "contact"]]);
});

test("a message has one reaction of each side; the contact's latest counts, in whatever order they come", async () => {
  const at = await chatWithBoth();
  await at.setReaction(2, "🎉", T + 500);
  for (const [emoji, seconds] of [
    ["👍", 10],
    ["🔥", 5],
    ["👍", 20],
    ["❤", 30],
  ] as const) {
    expect(await at.react(emoji, seconds)).toBe("ok");
  }
  const ours = { by: "organization", emoji: "🎉", at: iso(T + 500) };
  expect(await at.reactions(at.theirs)).toEqual([ours, { by: "contact", emoji: "❤", at: iso(T + 30_000) }]);
  expect(await at.eventsAfter()).toEqual([
    ["message.reaction", "organization"],
    ["message.reaction", "contact"],
    ["message.reaction", "contact"],
  ]);
});

test("a reaction that was taken back does not come back by an older call, and a newer one does", async () => {
  const at = await chatWithBoth();
  await at.react("👍", 10);
  expect(await at.react(null, 20)).toBe("ok");
  expect([await at.react(null, 20), await at.react("👍", 10), await at.react("🔥", 15)]).toEqual(["ok", "ok", "ok"]);
  expect(await at.message(at.theirs)).not.toHaveProperty("reactions");
  expect(await at.eventsAfter()).toHaveLength(2);
  await at.react("👍", 21);
  expect(await at.reactions(at.theirs)).toEqual([{ by: "contact", emoji: "👍", at: iso(T + 21_000) }]);
});

test("a contact reacts to an outbound message by the id of its part, and to no unknown one", async () => {
  const at = await chatWithBoth();
  expect(await at.react("👍", 1, "out1")).toBe("ok");
  expect(await at.reactions(at.ours)).toEqual([{ by: "contact", emoji: "👍", at: iso(T + 1_000) }]);
  expect(await at.react("👍", 1, "out2")).toBe("no_message");
});

test("a failed reaction takes back that reaction alone, also if the network says so before it answers the call", async () => {
  const at = await chatWithBoth();
  const { channelId } = at;
  const fail = (when: number, messageId = at.theirs) =>
    at.change({ change: "reaction_failed", channelId, messageId, at: when });
  await at.setReaction(2, "🎉", T);
  expect([await fail(T + 1), await fail(T, at.ours), await fail(T, "msg_gaaaa")]).toEqual(["ok", "ok", "no_message"]);
  expect(await at.reactions(at.theirs)).toHaveLength(1);
  expect([await fail(T), await fail(T)]).toEqual(["ok", "ok"]);
  expect(await at.message(at.theirs)).toMatchObject({ status: "RECEIVED" });
  expect(await at.message(at.theirs)).not.toHaveProperty("reactions");
  expect(await at.eventsAfter()).toHaveLength(2);

  await fail(T + 5);
  expect(await at.setReaction(2, "🎉", T + 5)).toBeNull();
  expect(await at.setReaction(2, "🎉", T + 6)).toMatchObject({ reactions: [{ by: "organization", emoji: "🎉" }] });
  expect(await at.setReaction(2, null, T + 7)).toMatchObject({ reactions: undefined });
  expect(await at.setReaction(3, "🎉", T)).toBeNull();
});

test("an edit and a reaction write two rows each, and none if nothing changes; the log of events has no emoji", async () => {
  const at = await chatWithBoth();
  await report(at.chatId);
  const { rows } = await objectWrites(at, async () => {
    for (const seconds of [1, 1]) {
      await at.edit("Second", seconds);
      await at.react("👍", seconds);
    }
  });
  expect(rows).toBe(4);
  const notes = await runInDurableObject(at.object(), (_object: ChatObject, { storage }) =>
    JSON.stringify(storage.sql.exec("select * from events").toArray()),
  );
  expect(notes).not.toMatch(/👍|Second/u);
});
