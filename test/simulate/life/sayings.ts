import type { InboundExtra } from "../../../src/model/chat-answers.ts";
import type { SendBody } from "../../../src/model/message.ts";
import type { LifeWorld } from "./rules.ts";

/** Makes a word that occurs once in a run. */
export type NewWord = (kind: string) => string;

/** What messages of both sides say: each word in it is unlike all others, so that it is known wherever it turns up. */
const WORD = /[a-z]+-\d+-/g;

/** The words in a text, or in JSON, in which a line break is a letter. */
export function wordsIn(text: string): string[] {
  return text.replace(/\\+n/g, " ").match(WORD) ?? [];
}

/** What a client's message says besides its text; often nothing. @param ids what it may reply to */
export function outboundExtra(world: LifeWorld, word: NewWord, ids: readonly string[]): Partial<SendBody> {
  const replyTo = world.random() < 0.2 ? { replyTo: world.pick(ids) } : {};
  const extra = world.pick<() => Partial<SendBody>>([
    () => ({}),
    () => ({}),
    () => choices(world, word),
    () => choices(world, word),
    () => ({ location: place(world, word) }),
    () => ({ contacts: cards(world, word) }),
    () => ({ type: "IMAGE", mediaUrl: link(word) }),
  ])();
  return { ...extra, ...replyTo };
}

/** What a contact's message says besides its text; often nothing. @param networkIds what it may quote */
export function inboundExtra(world: LifeWorld, word: NewWord, networkIds: readonly string[]): InboundExtra | undefined {
  const quote = networkIds.length > 0 && world.random() < 0.3 ? { quote: world.pick(networkIds) } : {};
  const extra = world.pick<() => InboundExtra>([
    () => ({}),
    () => ({}),
    () => ({ location: place(world, word) }),
    () => ({ contacts: cards(world, word) }),
    () => ({ sticker: { emoji: world.pick([null, "🎉"]) } }),
  ])();
  const all = { ...extra, ...quote };
  return Object.keys(all).length > 0 ? all : undefined;
}

function choices(world: LifeWorld, word: NewWord): Partial<SendBody> {
  const media = world.random() < 0.2 ? { type: "IMAGE" as const, mediaUrl: link(word) } : {};
  const header = !("mediaUrl" in media) && world.random() < 0.3 ? word("header") : undefined;
  const footer = world.random() < 0.3 ? word("footer") : undefined;
  const menuTitle = world.random() < 0.3 ? word("menu") : undefined;
  return { ...media, interactive: { choices: someChoices(world, word), header, footer, menuTitle } };
}

function someChoices(world: LifeWorld, word: NewWord): NonNullable<SendBody["interactive"]>["choices"] {
  const kind = world.pick(["reply", "reply", "reply", "link", "location"] as const);
  if (kind === "location") return [{ type: "location", title: word("where") }];
  const count = world.pick([1, 2, 3, 4, 10]);
  const hasSections = world.random() < 0.2;
  return Array.from({ length: count }, () => {
    const title = word("title");
    if (kind === "link") return { type: "link", title, url: link(word) };
    const description = world.random() < 0.2 ? word("description") : undefined;
    const section = hasSections && world.random() < 0.7 ? world.pick(["One", "Two"]) : undefined;
    return { type: "reply", id: word("ours"), title, description, section };
  });
}

function place(world: LifeWorld, word: NewWord) {
  const name = world.random() < 0.5 ? word("place") : undefined;
  const address = world.random() < 0.5 ? word("street") : undefined;
  return { latitude: world.between(-90, 90), longitude: world.between(-180, 180), name, address };
}

function cards(world: LifeWorld, word: NewWord) {
  return Array.from({ length: world.pick([1, 2]) }, () => ({ name: word("person"), phones: ["+49 123"] }));
}

function link(word: NewWord): string {
  return `https://example.com/${word("link")}`;
}
