import { expect, test, vi } from "vitest";
import { send } from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { report } from "../chats/inbound.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { chatWith, otherChat, SECONDS } from "./rich-calls.ts";
import { KINDS, taken } from "./webhook-calls.ts";

stopTheClock();

/** A reply to a message, as each network tells it. */
const replyTo = {
  telegram: (message_id: string | number) => ({ reply_to_message: { message_id, date: SECONDS } }),
  whatsapp: (id: string | number) => ({ context: { from: "15550001111", id } }),
};

test.each(KINDS)("a reply on %s names the message that it quotes, inbound or outbound", async (kind) => {
  const at = await chatWith(kind);
  const own = kind === "telegram" ? 77 : "wamid.own";
  taken(await at.contact.write("Question", {}, own));
  const question = await at.newest();
  const ours = await send(at.api, at.chatId, { content: "Answer" });
  await at.run();
  taken(await at.contact.write("And?", replyTo[kind](own)));
  expect(await at.newest()).toMatchObject({ content: "And?", replyTo: question.id });
  const networkId = await at.networkIdOf(ours.id);
  taken(await at.contact.write("Thanks", replyTo[kind](networkId)));
  expect(await at.newest()).toMatchObject({ content: "Thanks", replyTo: ours.id });
});

test.each(KINDS)("a quote of another chat's message on %s, or of no message, is dropped", async (kind) => {
  const at = await chatWith(kind);
  const other = await otherChat(at);
  const own = kind === "telegram" ? 78 : "wamid.others";
  taken(await other.contact.write("Mine", {}, own));
  taken(await at.contact.write("Yours?", replyTo[kind](own)));
  expect(await at.newest()).toMatchObject({ content: "Yours?" });
  expect(await at.newest()).not.toHaveProperty("replyTo");
});

const RICH = {
  telegram: {
    location: { venue: { location: { latitude: 52.5, longitude: 13.4 }, title: "Alex", address: "Mitte" } },
    contacts: { contact: { first_name: "Bob", phone_number: "+49 170" } },
    sticker: { sticker: { file_id: "S1", file_unique_id: "S", is_animated: false, is_video: false, emoji: "🎉" } },
  },
  whatsapp: {
    location: { type: "location", location: { latitude: 52.5, longitude: 13.4, name: "Alex", address: "Mitte" } },
    contacts: { type: "contacts", contacts: [{ name: { formatted_name: "Bob" }, phones: [{ phone: "+49 170" }] }] },
    sticker: { type: "sticker", sticker: { id: "S1", mime_type: "image/webp", sha256: "x" } },
  },
} as const;

test.each(KINDS)(
  "a location, a contact card and a sticker from %s have their fields and a description",
  async (kind) => {
    const { contact, messages, chatId } = await chatWith(kind);
    for (const fields of Object.values(RICH[kind])) taken(await contact.write("", fields));
    const [location, card, sticker] = await messages();
    expect(location).toMatchObject({
      type: "TEXT",
      location: { latitude: 52.5, longitude: 13.4, name: "Alex", address: "Mitte" },
    });
    expect(location?.content).toMatch(/Alex, Mitte/);
    expect(card).toMatchObject({ type: "TEXT", contacts: [{ name: "Bob", phones: ["+49 170"] }] });
    expect(card?.content).toMatch(/Bob.*\+49 170/);
    expect(sticker).toMatchObject({
      type: "IMAGE",
      sticker: { emoji: kind === "telegram" ? "🎉" : null },
      mediaUrl: `https://parley.test/api/v1/chats/${chatId}/messages/${sticker?.id}/media`,
    });
    expect(sticker?.content).toMatch(/^\[sticker/i);
  },
);

test.each(KINDS)("a strange field of a message from %s loses no message", async (kind) => {
  const { contact, messages } = await chatWith(kind);
  const strange = {
    telegram: [
      { text: "1", reply_to_message: { message_id: "x" } },
      { text: undefined, location: { latitude: "north" } },
      { text: undefined, contact: [] },
      { text: undefined, sticker: { file_id: 7 } },
      { text: undefined, hologram: {} },
    ],
    whatsapp: [
      { text: { body: "1" }, context: "x" },
      { type: "location", location: { latitude: "north" } },
      { type: "contacts", contacts: {} },
      { type: "sticker", sticker: { id: 7 } },
      { type: "hologram", hologram: {} },
    ],
  }[kind];
  for (const fields of strange) taken(await contact.write("", fields));
  const stored = await messages();
  expect(stored.map(({ type }) => type)).toEqual(strange.map(() => "TEXT"));
  expect(stored.every(({ content }) => content !== "")).toBe(true);
});

test.each(KINDS)("a plain message from %s writes three rows, and so does a location", async (kind) => {
  const at = await chatWith(kind);
  taken(await at.contact.write("First"));
  await report(at.chatId);
  const { rows } = await objectWrites(at, async () => {
    taken(await at.contact.write("Second"));
    taken(await at.contact.write("", RICH[kind].location));
  });
  // The message, the index of the networks' ids, the event.
  expect(rows).toBe(2 * 3);
});

test.each(KINDS)("nothing of what a contact on %s sends, taps or reacts with is logged", async (kind) => {
  const heard: unknown[] = [];
  for (const level of ["log", "warn", "error", "info", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...line) => void heard.push(line));
  }
  const { ask, contact, newest } = await chatWith(kind);
  const { data } = await ask();
  for (const fields of Object.values(RICH[kind])) taken(await contact.write("", fields));
  taken(await contact.tap(data, { title: "Canary" }));
  taken(await contact.tap("canary:9", { title: "Canary" }));
  const id = kind === "telegram" ? 99 : "wamid.99";
  taken(await contact.write("Canary", {}, id));
  taken(await contact.edit(id, "Canary 2", 5));
  taken(await contact.react(id, "👍", 5));
  expect(await newest()).toMatchObject({ content: "Canary 2", reactions: [{ emoji: "👍" }] });
  const log = JSON.stringify(heard);
  expect(log).toContain("reaction applied");
  expect(log).not.toMatch(/canary|👍|🎉|\bAlex\b|\bBob\b|Mitte|tea-1|\b52\.5\b|\+49/iu);
});
