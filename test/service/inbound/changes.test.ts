import { expect, test } from "vitest";
import { breakObjects } from "../../support/faults.ts";
import { admin, expectError, send } from "../../support/harness.ts";
import { acceptAs, refuse } from "../../support/networks.ts";
import { storedBy } from "../../support/stored.ts";
import { report } from "../chats/inbound.ts";
import { chatOf, type Kind, newNetworkChannel, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newContact } from "./fixtures.ts";
import {
  type Contact,
  chatWith,
  contactOn,
  networkIdIn,
  partsIn,
  type RichChat,
  SECONDS,
  shownAt,
} from "./rich-calls.ts";
import { KINDS, taken, tellStatus } from "./webhook-calls.ts";

stopTheClock();

let ids = 5_000;

/** A chat in which the contact wrote `First`, with the network's id of that message. */
async function chatWithFirst(kind: Kind) {
  const at = await chatWith(kind);
  const id = kind === "telegram" ? ++ids : `wamid.first.${++ids}`;
  taken(await at.contact.write("First", {}, id));
  const first = await at.newest();
  return { ...at, id, first, read: () => at.message(first.id) };
}

const redact = ({ chatId }: { chatId: string }, id: string) => admin("POST", `/chats/${chatId}/messages/${id}/redact`);

test.each(KINDS)(
  "an edit on %s changes the text, and the latest counts, however late, doubled or unordered",
  async (kind) => {
    const { contact, id, read, messages, api, chatId } = await chatWithFirst(kind);
    for (const [text, later] of [
      ["Third", 30],
      ["Second", 20],
      ["Third", 30],
    ] as const) {
      taken(await contact.edit(id, text, later));
      expect(await read()).toMatchObject({ content: "Third", text: "Third", editedAt: shownAt(30) });
    }
    // Of the same second, the one that comes last.
    taken(await contact.edit(id, "Fourth", 30));
    expect(await read()).toMatchObject({ content: "Fourth", editedAt: shownAt(30) });
    expect(await messages()).toHaveLength(1);
    expect((await api("GET", `/chats/${chatId}`)).body.chat.lastMessage.text).toBe("Fourth");
  },
);

test.each(KINDS)(
  "an edit or a reaction on %s of a message that nobody has is dropped, and makes no chat",
  async (kind) => {
    const at = await chatWithFirst(kind);
    const ours = await send(at.api, at.chatId);
    await at.run();
    const ourId = await at.networkIdOf(ours.id);
    const stranger = contactOn(kind, at.channel, newContact());
    const unknown = kind === "telegram" ? 4_711_000 : "wamid.unknown";
    for (const who of [at.contact, stranger]) {
      taken(await who.edit(unknown, "X", 5));
      taken(await who.react(unknown, "👍", 5));
    }
    taken(await at.contact.edit(ourId, "X", 5));
    taken(await stranger.edit(at.id, "X", 5));
    expect((await at.messages()).map(({ content, reactions }) => [content, reactions])).toEqual([
      ["First", undefined],
      ["Hello", undefined],
    ]);
    expect((await at.api("GET", `/chats?channel=${at.channelId}`)).body.chats).toHaveLength(1);
  },
);

test.each(KINDS)("a reaction on %s is that of the message, inbound or outbound", async (kind) => {
  const at = await chatWithFirst(kind);
  const ours = await send(at.api, at.chatId);
  await at.run();
  const ourId = await at.networkIdOf(ours.id);
  taken(await at.contact.react(ourId, "👍", 10));
  taken(await at.contact.react(at.id, "❤", 10));
  const shown = async (id: string) => (await at.message(id)).reactions;
  expect(await shown(ours.id)).toEqual([{ by: "contact", emoji: "👍", at: shownAt(10) }]);
  expect(await shown(at.first.id)).toEqual([{ by: "contact", emoji: "❤️", at: shownAt(10) }]);
  // Doubled, out of order, and one that was taken back.
  for (const [emoji, later] of [
    ["👍", 10],
    ["😢", 5],
  ] as const) {
    taken(await at.contact.react(ourId, emoji, later));
    expect(await shown(ours.id)).toEqual([{ by: "contact", emoji: "👍", at: shownAt(10) }]);
  }
  for (const [emoji, later] of [
    [null, 20],
    ["👍", 10],
    ["😢", 15],
  ] as const) {
    taken(await at.contact.react(ourId, emoji, later));
    expect(await shown(ours.id)).toBeUndefined();
  }
  expect(await at.messages()).toHaveLength(2);
});

/** Everything that a contact can still do to a message. */
async function doEverything(contact: Contact, id: string | number, tap: string): Promise<void> {
  taken(await contact.edit(id, "Back", 90));
  taken(await contact.react(id, "🔥", 90));
  taken(await contact.tap(tap));
}

test.each(KINDS)("a redacted message on %s stays blank, whatever the contact does", async (kind) => {
  const at = await chatWithFirst(kind);
  const { message: question, data } = await at.ask();
  for (const id of [at.first.id, question.id]) expect((await redact(at, id)).status).toBe(200);
  const blank = [await at.read(), await at.message(question.id)];
  await doEverything(at.contact, at.id, data);
  await doEverything(at.contact, await at.networkIdOf(question.id), data);
  expect([await at.read(), await at.message(question.id)]).toEqual(blank);
  expect(await storedBy(at.object())).not.toMatch(/First|\bBack\b|🔥|Which/u);
  expect(await at.newest()).toMatchObject({ choice: { id: null, messageId: question.id } });
});

async function deletedChat(): Promise<RichChat & { id: string; read: () => Promise<object> }> {
  const at = await chatWithFirst("whatsapp");
  return { ...at, id: String(at.id) };
}

test("a deletion by the contact blanks the message permanently, is told once, and the operator can still redact it", async () => {
  const at = await deletedChat();
  const { data } = await at.ask();
  taken(await at.contact.react(at.id, "👍", 1));
  for (const _ of [1, 2]) taken(await at.contact.remove(at.id));
  const blank = await at.read();
  expect(blank).toMatchObject({ content: "", text: "", status: "RECEIVED" });
  expect(Object.keys(blank)).toEqual(expect.not.arrayContaining(["redactedAt", "reactions"]));
  await doEverything(at.contact, at.id, data);
  taken(await at.contact.remove(at.id));
  expect(await at.read()).toEqual(blank);
  expect(await storedBy(at.object())).not.toMatch(/First|\bBack\b|🔥|👍/u);
  const [first] = await at.messages();
  expect((await redact(at, first?.id ?? "")).body.message).toMatchObject({ redactedAt: expect.any(String) });
  expectError(await redact(at, first?.id ?? ""), 404, "message_not_found");
});

test("a picture that the contact deleted is gone with what it was, and its network is not asked for it", async () => {
  const at = await chatWith("whatsapp");
  const image = { id: "1037543291543636", mime_type: "image/jpeg", sha256: "x", caption: "Look" };
  taken(await at.contact.write("", { type: "image", image, text: undefined }, "wamid.picture"));
  const picture = await at.newest();
  expect(picture).toMatchObject({ type: "IMAGE", media: { contentType: "image/jpeg" } });
  taken(await at.contact.remove("wamid.picture"));
  const blank = await at.message(picture.id);
  expect([blank.mediaUrl, blank.media, blank.deletedAt]).toEqual([null, undefined, expect.any(String)]);
  const path = `/chats/${at.chatId}/messages/${picture.id}/media`;
  expectError(await at.api("GET", path), 404, "media_not_found");
  expect(at.calls).toEqual([]);
  expect(await storedBy(at.object())).not.toMatch(/1037543291543636|image\/jpeg/);
});

test("a message that WhatsApp repeats after its deletion does not come back", async () => {
  const at = await deletedChat();
  taken(await at.contact.remove(at.id));
  taken(await at.contact.write("First", {}, at.id));
  expect((await at.messages()).map(({ content }) => content)).toEqual([""]);
});

test("while the list of chats can't be told of a deletion, WhatsApp is asked to repeat it", async () => {
  const at = await deletedChat();
  await report(at.chatId);
  const mend = breakObjects("ORGANIZATIONS", "report");
  expectError(await at.contact.remove(at.id), 503, "unavailable");
  mend();
  taken(await at.contact.remove(at.id));
  expect((await at.api("GET", "/chats")).body.chats[0].lastMessage.text).toBe("");
});

test("a deletion of an outbound message, or of nothing, is dropped", async () => {
  const at = await chatWith("whatsapp", acceptAs("wamid.ours"));
  await send(at.api, at.chatId);
  await at.run();
  for (const id of ["wamid.ours", "wamid.unknown"]) taken(await at.contact.remove(id));
  expect((await at.messages()).map(({ content }) => content)).toEqual(["Hello"]);
});

test("a status of our reaction changes no message's status, and one that failed takes back that reaction alone", async () => {
  const at = await chatWith("whatsapp", acceptAs("wamid.ours"));
  const { id } = await send(at.api, at.chatId);
  await at.run();
  const when = SECONDS * 1_000;
  const react = (later: number) =>
    partsIn(at, (parts) => void parts.editsAndReactions.setReaction(1, "🎉", when + later));
  const tell = (status: string, later: number, channel = at.channel) =>
    tellStatus({ ...at, channel }, `${id}.reaction.${when + later}`, status, {
      id: "wamid.reaction",
      errors: [{ code: 131009 }],
    });
  await react(0);
  await react(5);
  const before = await at.message(id);
  expect(before).toMatchObject({ status: "SENT", error: null, reactions: [{ by: "organization", emoji: "🎉" }] });
  for (const status of ["sent", "delivered", "read"]) taken(await tell(status, 5));
  taken(await tell("failed", 0));
  const other = await newNetworkChannel(at.organizationId, "whatsapp");
  taken(await tell("failed", 5, other));
  expect(await at.message(id)).toEqual(before);
  for (const _ of [1, 2]) taken(await tell("failed", 5));
  const after = await at.message(id);
  expect(after).toEqual({ ...before, reactions: undefined, updatedAt: after.updatedAt });
});

test("a failed reaction to a message that is gone, or in a chat that is gone, is dropped", async () => {
  const at = await chatWith("whatsapp", refuse(131026));
  const { id } = await send(at.api, at.chatId);
  const fail = (chatId: string, messageId: string) =>
    tellStatus({ ...at, chatId }, `${messageId}.reaction.5`, "failed", { id: "wamid.reaction" });
  taken(await fail(at.chatId, "msg_g0123456789ABCDE9"));
  taken(await fail("cht_g0123456789ABCDE", id));
  taken(await fail("nobody", id));
});

test.each(KINDS)("a malformed edit or reaction on %s does not hold up what comes after it", async (kind) => {
  const at = await chatWithFirst(kind);
  taken(await at.contact.edit({} as never, "X", 5));
  taken(await at.contact.react([] as never, "👍", 5));
  taken(await at.contact.react(at.id, "x".repeat(99), 5));
  taken(await at.contact.edit(at.id, "Second", 6));
  expect(await at.read()).toMatchObject({ content: "Second" });
  expect(await at.read()).not.toHaveProperty("reactions");
});

test.each(KINDS)("after a chat on %s was deleted, a reaction finds the contact's next chat", async (kind) => {
  const at = await chatWithFirst(kind);
  expect((await admin("DELETE", `/chats/${at.chatId}`)).status).toBeLessThan(300);
  const next = await chatOf(at, at.channelId, at.address);
  const ours = await send(at.api, next.chatId);
  await next.run();
  const ourId = await networkIdIn(next.chatId, ours.id);
  taken(await at.contact.react(ourId, "👍", 5));
  expect(await next.message(ours.id)).toMatchObject({ reactions: [{ emoji: "👍" }] });
  taken(await at.contact.edit(at.id, "X", 5));
  expect(await next.messages()).toHaveLength(1);
});
