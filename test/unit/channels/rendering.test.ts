import fc from "fast-check";
import { expect, test } from "vitest";
import type { Adapter } from "../../../src/channels/network/adapter.ts";
import { telegram } from "../../../src/channels/telegram/adapter.ts";
import { visitorMessage } from "../../../src/channels/web/render.ts";
import { webSpec } from "../../../src/channels/web/spec.ts";
import { whatsapp } from "../../../src/channels/whatsapp/adapter.ts";
import type { WhatsAppPart } from "../../../src/channels/whatsapp/render.ts";
import { countParts, sendParts } from "../../../src/chats/object/delivery/send-parts.ts";
import type { Choice, Choices } from "../../../src/model/content.ts";
import {
  choicesBody,
  combinationFaults,
  contactsBody,
  locationBody,
  MAX_CARD_NAME,
  MAX_CARDS,
  MAX_CHOICE_ID,
  MAX_CHOICE_URL,
  MAX_DESCRIPTION,
  MAX_HEADER,
  MAX_INTERACTIVE_CONTENT,
  MAX_MENU_TITLE,
  MAX_MESSAGE_CHOICES,
  MAX_PHONES,
  MAX_PLACE_TEXT,
  MAX_SECTION,
  MAX_TITLE,
} from "../../../src/model/content-schema.ts";
import { MAX_CONTENT, type Message } from "../../../src/model/message.ts";
import type { Outbound } from "../../../src/model/network.ts";
import { faultsOfTelegram, faultsOfWhatsApp, textsIn } from "../../support/network-limits.ts";
import { NO_FILES, outboundTo } from "../channels/outbound.ts";

/** What any valid message is on any channel: nothing of it is lost, no network refuses it, and it is always the same. */

const RUNS = 500;
const LINK = "https://files.example/a.png";

const unit = fc.constantFrom("x", " ", "é", "漢", "🦀", ":", "\\", ";");

/** A text that leaves place for a mark, often as long as it can be. */
function textOf(max: number, each: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const length = fc.oneof(fc.constantFrom(0, max - 2, max - 1), fc.nat(max - 1));
  return fc
    .tuple(length, each, fc.array(each, { maxLength: 8 }))
    .map(([length, one, more]) => [...more, one.repeat(length)].join("").slice(0, length).toWellFormed());
}

const line = (max: number) => textOf(max, unit);
const lines = (max: number) => textOf(max, fc.oneof(unit, fc.constant("\n")));
const url = fc
  .tuple(
    fc.constantFrom("shop.example", "192.0.2.7", "[2001:db8::1]"),
    fc.integer({ min: 0, max: MAX_CHOICE_URL - 40 }),
  )
  .map(([host, length]) => `https://${host}/${"p".repeat(length)}`);
const given = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const reply: fc.Arbitrary<Choice> = fc
  .record({ id: line(MAX_CHOICE_ID), title: line(MAX_TITLE), description: given(line(MAX_DESCRIPTION)) })
  .map((fields) => ({ type: "reply", ...fields }));
const sections = fc.array(
  line(MAX_SECTION).map((text) => `§${text}`),
  { minLength: 1, maxLength: 10 },
);
const replies = fc.oneof(
  fc.array(reply, { minLength: 1, maxLength: MAX_MESSAGE_CHOICES }),
  fc
    .tuple(fc.array(reply, { minLength: 1, maxLength: MAX_MESSAGE_CHOICES }), sections, fc.infiniteStream(fc.nat(10)))
    .map(([all, names, picks]) => all.map((one) => ({ ...one, section: names[picks.next().value] }) as Choice)),
);
const links: fc.Arbitrary<Choice[]> = fc.array(
  fc.record({ title: line(MAX_TITLE), url }).map((fields) => ({ type: "link" as const, ...fields })),
  { minLength: 1, maxLength: MAX_MESSAGE_CHOICES },
);
const where: fc.Arbitrary<Choice[]> = line(MAX_TITLE).map((title) => [{ type: "location", title }]);

const choices: fc.Arbitrary<Choices> = fc.record({
  choices: fc.oneof(replies, links, where),
  header: given(line(MAX_HEADER)),
  footer: given(line(MAX_HEADER)),
  menuTitle: given(line(MAX_MENU_TITLE)),
});

/** What a send says, as its request does. */
interface Said {
  content: string;
  type: Outbound["type"];
  mediaUrl?: string | undefined;
  interactive?: Choices | undefined;
  location?: NonNullable<Outbound["location"]> | undefined;
  contacts?: NonNullable<Outbound["contacts"]> | undefined;
}

/** The same with a character of its own at the start of each text, so that no text is found in another. */
function marked({ content, interactive, location, contacts, ...rest }: Said): Said {
  let last = 0xe000;
  const mark = (text: string) => `${String.fromCodePoint(last++)}${text}`;
  const ifGiven = (text: string | undefined) => (text === undefined ? undefined : mark(text));
  return {
    ...rest,
    content: content === LINK ? LINK : mark(content),
    interactive: interactive && {
      choices: interactive.choices.map((choice) => {
        const title = mark(choice.title);
        if (choice.type === "location") return { ...choice, title };
        if (choice.type === "link") return { ...choice, title, url: `${choice.url}?${encodeURIComponent(mark(""))}` };
        const { id, description, section } = choice;
        return { ...choice, id: mark(id), title, description: ifGiven(description), section };
      }),
      header: ifGiven(interactive.header),
      footer: ifGiven(interactive.footer),
      menuTitle: ifGiven(interactive.menuTitle),
    },
    location: location && { ...location, name: ifGiven(location.name), address: ifGiven(location.address) },
    contacts: contacts?.map(({ name, phones }) => ({ name: mark(name), phones })),
  };
}

const degrees = (max: number) => fc.double({ min: -max, max, noNaN: true });
const said: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ content: lines(MAX_CONTENT), type: fc.constant("TEXT" as const) }),
  fc.record({
    content: fc.oneof(lines(MAX_CONTENT), lines(MAX_INTERACTIVE_CONTENT), fc.constant(LINK)),
    type: fc.constantFrom("IMAGE", "DOCUMENT", "AUDIO", "VIDEO"),
    mediaUrl: fc.constant(LINK),
  }),
  fc.record({ content: lines(MAX_INTERACTIVE_CONTENT), type: fc.constant("TEXT" as const), interactive: choices }),
  fc.record({
    content: lines(MAX_INTERACTIVE_CONTENT),
    type: fc.constantFrom("IMAGE", "DOCUMENT", "VIDEO"),
    mediaUrl: fc.constant(LINK),
    interactive: choices.map((each) => ({ ...each, header: undefined })),
  }),
  fc.record({
    content: lines(MAX_CONTENT),
    type: fc.constant("TEXT" as const),
    location: fc.record({
      latitude: degrees(90),
      longitude: degrees(180),
      name: given(line(MAX_PLACE_TEXT)),
      address: given(line(MAX_PLACE_TEXT)),
    }),
  }),
  fc.record({
    content: lines(MAX_CONTENT),
    type: fc.constant("TEXT" as const),
    contacts: fc.array(
      fc.record({
        name: line(MAX_CARD_NAME),
        phones: fc.array(
          fc.stringMatching(/^\+[1-9]{6,31}$/).map((text) => text.slice(0, 32)),
          { minLength: 1, maxLength: MAX_PHONES },
        ),
      }),
      { minLength: 1, maxLength: MAX_CARDS },
    ),
  }),
);

/** Whether a send takes this. */
function isValid({ content, interactive, location, contacts, ...rest }: Said): boolean {
  return (
    content.trim() !== "" &&
    combinationFaults({ content, interactive, location, contacts, ...rest }).length === 0 &&
    (!interactive || choicesBody.safeParse(interactive).success) &&
    (!location || locationBody.safeParse(location).success) &&
    (!contacts || contactsBody.safeParse(contacts).success)
  );
}

const valid = said.map(marked).filter(isValid);

/** The texts of a message that its contact must get: lines, because a long text is split between lines. */
function mustShow({ content, interactive, location, contacts, mediaUrl }: Said): string[] {
  const words = location || contacts || content === mediaUrl ? [] : content.split("\n");
  const details = (interactive?.choices ?? []).flatMap((choice) => [
    choice.title,
    ...(choice.type === "link" ? [choice.url] : []),
    ...(choice.type === "reply" ? [choice.description, choice.section] : []),
  ]);
  const place = location ? [location.name, location.address, location.latitude, location.longitude] : [];
  const cards = (contacts ?? []).flatMap(({ name, phones }) => [name, ...phones]);
  return [...words, interactive?.header, interactive?.footer, ...details, mediaUrl, ...place, ...cards].flatMap(
    (text) => (text === undefined ? [] : [String(text).trimEnd()]),
  );
}

const CHANNELS: [string, Adapter, string, (part: unknown) => string[]][] = [
  ["WhatsApp", whatsapp as Adapter, "4915112345678", faultsOfRequest],
  ["WhatsApp, to a user without a number", whatsapp as Adapter, "US.11815799212886844830", faultsOfRequest],
  ["a private chat of Telegram", telegram as Adapter, "42", faultsOfTelegram],
  ["a group of Telegram", telegram as Adapter, "-10042", faultsOfTelegram],
];

function faultsOfRequest(part: unknown): string[] {
  return faultsOfWhatsApp((part as WhatsAppPart).body);
}

/** The message as its chat has it. */
function messageOf({ renderingOf }: Pick<Adapter, "renderingOf">, address: string, what: Said): Outbound {
  const { interactive, location = null, contacts = null, mediaUrl = null, ...rest } = what;
  const shown = interactive && {
    ...interactive,
    rendering: renderingOf(interactive, { address, hasMedia: mediaUrl !== null }),
  };
  return outboundTo(address)({ ...rest, mediaUrl, location, contacts, interactive: shown ?? null });
}

/** The parts of a message on their way out, in order. */
async function partsOf(adapter: Adapter, message: Outbound): Promise<unknown[]> {
  const parts: unknown[] = [];
  const post: Adapter["post"] = async (part) => {
    parts.push(part);
    return { outcome: "sent", id: `id-${message.partsSent.length + parts.length}`, addresses: [] };
  };
  await sendParts({ ...adapter, post }, message, {}, { base: "" }, new AbortController().signal, NO_FILES);
  return parts;
}

test.each(CHANNELS)("%s gets every text of any message", async (_, adapter, address) => {
  await fc.assert(
    fc.asyncProperty(valid, async (what) => {
      const shown = textsIn(await partsOf(adapter, messageOf(adapter, address, what)));
      const [first] = what.interactive?.choices ?? [];
      const missing = mustShow(what).filter((text) => !shown.some((each) => each.includes(text)));
      // WhatsApp's request for a location has a button with WhatsApp's own label.
      const isOwnLabel = adapter === whatsapp && first?.type === "location";
      expect(missing.filter((text) => !(isOwnLabel && text === first.title.trimEnd()))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test.each(CHANNELS)("no part of any message is more than %s takes", async (_, adapter, address, faultsOf) => {
  await fc.assert(
    fc.asyncProperty(valid, async (what) => {
      const parts = await partsOf(adapter, messageOf(adapter, address, what));
      expect(parts.flatMap(faultsOf)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test.each(CHANNELS)(
  "on %s any message has the parts that were counted, whenever it is sent",
  async (_, adapter, address) => {
    await fc.assert(
      fc.asyncProperty(valid, fc.nat(5), async (what, done) => {
        const message = messageOf(adapter, address, what);
        const parts = await partsOf(adapter, message);
        expect(countParts(adapter, message)).toBe(parts.length);
        expect(await partsOf(adapter, messageOf(adapter, address, structuredClone(what)))).toEqual(parts);
        const partsSent = parts.slice(0, done).map((_, index) => `id-${index + 1}`);
        expect(await partsOf(adapter, { ...message, partsSent })).toEqual(parts.slice(done));
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(CHANNELS)("on %s the first part has the quote, and the last one the buttons", async (_, adapter, address) => {
  await fc.assert(
    fc.asyncProperty(valid, async (what) => {
      const message = messageOf(adapter, address, what);
      const quoting = (await partsOf(adapter, { ...message, quote: "the-quoted" })).map((part) => JSON.stringify(part));
      expect(quoting.map((part) => part.includes("the-quoted"))).toEqual(quoting.map((_, index) => index === 0));
      const plain = await partsOf(adapter, message);
      const tappable = plain.map((part) => /"reply_markup"|"interactive"/.test(JSON.stringify(part)));
      const { interactive } = message;
      const hasButtons = interactive !== null && interactive.rendering !== "text";
      expect(tappable).toEqual(plain.map((_, index) => hasButtons && index === plain.length - 1));
    }),
    { numRuns: RUNS },
  );
});

const noLink = () => null;

test("a visitor gets every text of any message, and none of the company's own ids", () => {
  fc.assert(
    fc.property(valid, (what) => {
      const address = "user-7";
      const { interactive, location, contacts, ...message } = messageOf(webSpec, address, what);
      const own = (what.interactive?.choices ?? []).flatMap((choice) => (choice.type === "reply" ? [choice.id] : []));
      const shown = visitorMessage(
        {
          ...message,
          id: message.messageId,
          ...(interactive && { interactive }),
          ...(location && { location }),
          ...(contacts && { contacts }),
        } as unknown as Message,
        noLink,
      );
      const texts = textsIn(shown);
      expect(mustShow(what).filter((text) => !texts.some((each) => each.includes(text)))).toEqual([]);
      expect(own.filter((id) => texts.some((text) => text.includes(id)))).toEqual([]);
      expect(visitorMessage(structuredClone(shown) as unknown as Message, noLink)).toEqual(shown);
    }),
    { numRuns: RUNS },
  );
});
