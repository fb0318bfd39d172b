import fc from "fast-check";
import { expect, test } from "vitest";
import { extraOf, sendBody } from "../../../src/model/message.ts";

type Fields = Record<string, unknown>;

/** What a send with these fields is refused for: `path: message`. Empty if it is valid. */
function faultsOf(fields: Fields): string[] {
  const { error } = sendBody.safeParse(JSON.parse(JSON.stringify({ content: "Which one?", ...fields })));
  return error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
}

const x = (length: number) => "x".repeat(length);
const reply = (id: string, title = `Title ${id}`, more: Fields = {}) => ({ type: "reply", id, title, ...more });
const link = (url: string, title = "A") => ({ type: "link", title, url });
const location = { latitude: 52.52, longitude: 13.405 };
const card = { name: "Maya", phones: ["1"] };
const choosing = (...choices: unknown[]) => ({ interactive: { choices } });
const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const ONE_LINE = "must be one line, without control characters";
const WEB = "must be an http or https URL";

test.each<[string, Fields]>([
  ["one choice", choosing(reply("a"))],
  ["ten choices", choosing(...many(10, (n) => reply(String(n))))],
  ["the longest texts of a choice", choosing(reply(x(200), x(24), { description: x(72), section: x(24) }))],
  [
    "the longest texts around choices",
    { interactive: { choices: [reply("a")], header: x(60), footer: x(60), menuTitle: x(20) }, content: x(1_024) },
  ],
  ["links to one page", choosing(link("https://a.example/", "A"), link("https://a.example/", "B"))],
  ["a link of 500 characters", choosing(link(`http://a.example/${x(483)}`))],
  ["a link in capitals", choosing(link("HTTPS://A.EXAMPLE"))],
  ["a question for the location", choosing({ type: "location", title: "Where?" })],
  ["equal ids and titles in other places", choosing(reply("a", "b"), reply("b", "a"))],
  ["choices with media", { ...choosing(reply("a")), type: "IMAGE", mediaUrl: "https://a.example/b.jpg" }],
  ["choices with a link that is shown", { ...choosing(reply("a")), mediaUrl: "https://a.example/b.jpg" }],
  [
    "a header beside a link that is shown",
    { interactive: { choices: [reply("a")], header: "H" }, mediaUrl: "https://a.example/b.jpg" },
  ],
  ["the corners of the earth", { location: { latitude: -90, longitude: 180, name: x(256), address: x(256) } }],
  ["a location of the type TEXT", { location, type: "TEXT" }],
  ["five cards", { contacts: many(5, () => ({ name: x(128), phones: many(5, () => x(0).padEnd(32, "1")) })) }],
  ["numbers as people write them", { contacts: [{ name: "A", phones: ["+49 (30) 12-34.5/6", "0", "(0)"] }] }],
  ["a quote with anything", { replyTo: "msg_1", location, metadata: { a: "b" } }],
  ["nulls", { interactive: null, location: null, contacts: null, replyTo: null }],
])("%s may be sent", (_what, fields) => {
  expect(faultsOf(fields)).toEqual([]);
});

const [TITLE, FIRST] = ["interactive.choices.1.title", "interactive.choices.0"];

test.each<[Fields, ...string[]]>([
  [choosing(), "interactive.choices: must have at least 1 entry"],
  [choosing(...many(11, (n) => reply(String(n)))), "interactive.choices: must have at most 10 entries"],
  [choosing({ ...reply("a"), type: "tap" }), `${FIRST}.type: must be reply, link or location`],
  [choosing(null), `${FIRST}: is required`],
  [choosing("yes"), `${FIRST}: must be an object`],
  [choosing(reply("")), `${FIRST}.id: must not be empty`],
  [choosing(reply(x(201), "A")), `${FIRST}.id: must have at most 200 characters`],
  [choosing(reply("\ud800", "A")), `${FIRST}.id: must be well-formed Unicode`],
  [choosing(reply("a", x(25))), `${FIRST}.title: must have at most 24 characters`],
  [choosing(reply("a", " ")), `${FIRST}.title: is required`],
  [choosing(reply("a", "A\u0007")), `${FIRST}.title: ${ONE_LINE}`],
  [choosing(reply("a", "A\ud800")), `${FIRST}.title: must be well-formed Unicode`],
  [choosing(reply("a", "A", { description: x(73) })), `${FIRST}.description: must have at most 72 characters`],
  [choosing(reply("a", "A", { description: "" })), `${FIRST}.description: must not be blank`],
  [choosing(reply("a", "A", { section: x(25) })), `${FIRST}.section: must have at most 24 characters`],
  [choosing(reply("a", "A", { section: "" })), `${FIRST}.section: must not be blank`],
  [choosing(reply("a", "A", { section: "\n." })), `${FIRST}.section: ${ONE_LINE}`],
  [{ interactive: { choices: [reply("a")], header: x(61) } }, "interactive.header: must have at most 60 characters"],
  [{ interactive: { choices: [reply("a")], footer: x(61) } }, "interactive.footer: must have at most 60 characters"],
  [
    { interactive: { choices: [reply("a")], menuTitle: x(21) } },
    "interactive.menuTitle: must have at most 20 characters",
  ],
  [
    choosing(reply("a"), link("https://a.example")),
    "interactive.choices.1.type: must be reply, as all choices are of one type",
  ],
  [
    choosing({ type: "location", title: "A" }, { type: "location", title: "B" }),
    "interactive.choices.1: must be the only choice, because it asks for the location",
  ],
  [choosing(reply("a", "A"), reply("b", "A")), `${TITLE}: must differ from the other titles`],
  [choosing(reply("a", "A"), reply("a", "B")), "interactive.choices.1.id: must differ from the other ids"],
  [choosing(link("javascript:alert(1)")), `${FIRST}.url: ${WEB}`],
  [choosing(link("x https://a.example")), `${FIRST}.url: ${WEB}`],
  [choosing(link("https://")), `${FIRST}.url: ${WEB}`],
  [choosing(link("https://a.example:99999/")), `${FIRST}.url: ${WEB}`],
  [choosing(link("https://a@a.example")), `${FIRST}.url: ${WEB}`],
  [choosing(link("https://:a@a.example")), `${FIRST}.url: ${WEB}`],
  [choosing(link("https://a.example/\u0001")), `${FIRST}.url: ${ONE_LINE}`],
  [choosing(link(`https://a.example/${x(483)}`)), `${FIRST}.url: must have at most 500 characters`],
  [{ location: { ...location, latitude: 90.1 } }, "location.latitude: must be at most 90"],
  [{ location: { ...location, latitude: -90.1 } }, "location.latitude: must be at least -90"],
  [{ location: { ...location, longitude: 180.1 } }, "location.longitude: must be at most 180"],
  [{ location: { ...location, longitude: -180.1 } }, "location.longitude: must be at least -180"],
  [{ location: { ...location, name: x(257) } }, "location.name: must have at most 256 characters"],
  [{ location: { ...location, address: x(257) } }, "location.address: must have at most 256 characters"],
  [{ contacts: [] }, "contacts: must have at least 1 entry"],
  [{ contacts: many(6, () => card) }, "contacts: must have at most 5 entries"],
  [{ contacts: [{ ...card, name: x(129) }] }, "contacts.0.name: must have at most 128 characters"],
  [{ contacts: [{ ...card, phones: [] }] }, "contacts.0.phones: must have at least 1 entry"],
  [{ contacts: [{ ...card, phones: many(6, String) }] }, "contacts.0.phones: must have at most 5 entries"],
  [{ contacts: [{ ...card, phones: ["1".repeat(33)] }] }, "contacts.0.phones.0: must have at most 32 characters"],
  ...["", "+", "1+1", "a1", "1a", "1\n", "-", "call me", "1\nTEL:2"].map((phone): [Fields, string] => [
    { contacts: [{ ...card, phones: [phone] }] },
    "contacts.0.phones.0: must be a phone number: digits, with at most a leading +",
  ]),
])("%j is refused", (fields, ...faults) => {
  expect(faultsOf(fields)).toEqual(faults);
});

const LINKS = [
  "JAVASCRIPT://shop.example/%0aalert(1)",
  "data:text/html,<script>alert(1)</script>",
  "ftp://shop.example/",
  "https://user:password@shop.example/",
  "https://shop.example/a b",
  "https://shop.example\\@evil.example/",
  " https://shop.example/",
  "https://shop.example/\u0000",
  "https://shop.example/\ud800",
  "shop.example",
  "",
];
const DEGREES = ["location.latitude", "location.longitude"];

test.each<[Fields, ...string[]]>([
  [{ interactive: {}, replyTo: "" }, "interactive.choices", "replyTo"],
  [{ interactive: "yes, no" }, "interactive"],
  [choosing({ id: "a", title: "A" }), `${FIRST}.type`],
  [choosing({ ...reply("a"), type: "__proto__" }), `${FIRST}.type`],
  [choosing({ type: "reply", title: "A" }), `${FIRST}.id`],
  [choosing(reply("a"), null), "interactive.choices.1"],
  [choosing(link("https://a.example"), link("https://b.example")), TITLE],
  [choosing(reply("a"), reply("a")), TITLE, "interactive.choices.1.id"],
  [choosing(reply("a", "A"), reply("b"), reply("a", "C")), "interactive.choices.2.id"],
  [choosing(reply("a", "A\nB")), `${FIRST}.title`],
  [
    choosing(reply("a", ""), link("b", "B"), { type: "location", title: "C" }),
    `${FIRST}.title`,
    "interactive.choices.1.url",
  ],
  ...LINKS.map((url): [Fields, string] => [choosing(link(url)), `${FIRST}.url`]),
  [{ location: { latitude: "NaN", longitude: "1" } }, ...DEGREES],
  [{ location: { latitude: null, longitude: null } }, ...DEGREES],
  [{ location: { name: "Office" } }, ...DEGREES],
  [{ location: { ...location, name: "A\nB", address: x(257) } }, "location.name", "location.address"],
  [{ location: [52.5, 13.4] }, "location"],
  [{ contacts: [{ name: "A" }] }, "contacts.0.phones"],
  [{ contacts: [{ name: "A", phones: ["1", "+-"] }] }, "contacts.0.phones.1"],
  [{ contacts: [{ phones: ["1"] }] }, "contacts.0.name"],
  [{ contacts: [{ ...card, name: "A\r\nTEL:1" }] }, "contacts.0.name"],
  [{ contacts: card }, "contacts"],
])("the paths of the faults of %j are named", (fields, ...paths) => {
  expect(faultsOf(fields).map((fault) => fault.replace(/: .*/, ""))).toEqual(paths);
});

const { interactive } = choosing(reply("a"));
const mediaUrl = "https://a.example/b.ogg";

test.each<[Fields, ...string[]]>([
  [{ interactive, location }, "location: can't be given with interactive"],
  [{ interactive, contacts: [card] }, "contacts: can't be given with interactive"],
  [{ location, contacts: [card] }, "contacts: can't be given with location"],
  [{ templateId: "t", interactive }, "interactive: can't be given with templateId"],
  [
    { templateId: "t", location, contacts: [card] },
    "location: can't be given with templateId",
    "contacts: can't be given with templateId",
  ],
  [{ location, mediaUrl }, "mediaUrl: can't be given with location"],
  [{ contacts: [card], mediaUrl }, "mediaUrl: can't be given with contacts"],
  [{ contacts: [card], type: "IMAGE" }, "type: must be TEXT with contacts"],
  [{ location, type: "TEMPLATE" }, "type: must be TEXT with location"],
  [
    { location, type: "TEMPLATE", mediaUrl },
    "mediaUrl: can't be given with location",
    "type: must be TEXT with location",
  ],
  [{ interactive, content: x(1_025) }, "content: must have at most 1024 characters with interactive"],
  [{ interactive, type: "AUDIO", mediaUrl }, "type: can't be AUDIO with interactive"],
  [{ interactive, type: "TEMPLATE" }, "type: can't be TEMPLATE with interactive"],
  [
    { interactive: { ...interactive, header: "H" }, type: "VIDEO", mediaUrl },
    "interactive.header: can't be given with media, which stands in its place",
  ],
  [{ interactive, type: "DOCUMENT" }, "mediaUrl: is required with interactive"],
  [
    { interactive, type: "IMAGE", mediaUrl, content: ` ${mediaUrl} ` },
    "content: must be the text above the choices, not the media",
  ],
])("%j is refused as a whole", (fields, ...faults) => {
  expect(faultsOf(fields)).toEqual(faults);
});

test("a send says nothing more without these fields, and has them in one order", () => {
  const parsed = (fields: Fields) => sendBody.parse({ content: "x", ...fields });
  expect(extraOf(parsed({ interactive: null }))).toBeUndefined();
  const extra = extraOf(parsed({ replyTo: "msg_1", location: { ...location, unknown: 1 } }));
  expect(JSON.stringify(extra)).toBe(JSON.stringify({ location, replyTo: "msg_1" }));
});

test("whatever choices hold, they are valid or each fault has a path below them", () => {
  const choice = fc.record(
    { type: fc.constantFrom("reply", "link", "location", "x"), id: fc.string(), title: fc.string(), url: fc.webUrl() },
    { requiredKeys: ["type"] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(choice, fc.jsonValue()), { maxLength: 12 }), (choices) => {
      for (const fault of faultsOf(choosing(...choices))) expect(fault).toMatch(/^interactive\.choices(\.|: )/);
    }),
  );
});
