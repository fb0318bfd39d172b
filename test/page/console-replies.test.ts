import { expect, test } from "vitest";
import { unfilledIn } from "../../src/web/console/inbox/unfilled.ts";
import { type Reply, replyFinder } from "../../src/web/console/replies/found-replies.ts";
import { changedIn, overwritten } from "../../src/web/console/replies/reply-draft.ts";
import { replyValues } from "../../src/web/console/replies/reply-values.ts";

const reply = (name: string, shortcut: string | null, content: string): Reply => ({
  ...{ id: `rpl_${name}`, name, shortcut, content },
  updatedAt: "2026-11-20T10:00:17.062Z",
  createdBy: "operator",
});

const REPLIES = [
  reply("Where is my order", "where", "It has shipped"),
  reply("Everywhere we deliver", null, "To all of Europe"),
  reply("A question", "whereabouts", "Where are you?"),
  reply("Café hours", "öffnung", "From 9 to 18. Ask us where"),
  reply("Refund", null, "We refund it to your account"),
];

test.each([
  ["where", ["Where is my order", "A question", "Everywhere we deliver", "Café hours"]],
  [" WHERE ", ["Where is my order", "A question", "Everywhere we deliver", "Café hours"]],
  ["whereabouts", ["A question"]],
  ["ref", ["Refund"]],
  ["cafe", ["Café hours"]],
  ["OFFNUNG", ["Café hours"]],
  ["ｒｅｆｕｎｄ", ["Refund"]],
  ["account refund", ["Refund"]],
  ["refund europe", []],
])("the words %j find %j, the likeliest first", (words, names) => {
  expect(replyFinder(REPLIES)(words).map(({ name }) => name)).toEqual(names);
});

test("a reply with just this shortcut comes before all whose name has it", () => {
  const replies = [reply("hi", null, "hi"), reply("Hi there", "hit", "hi"), reply("Zoo", "hi", "Good morning")];
  expect(replyFinder(replies)("hi")[0]?.name).toBe("Zoo");
});

test("without words all replies come by name", () => {
  const names = replyFinder(REPLIES)(" ").map(({ name }) => name);
  expect(names).toEqual(["A question", "Café hours", "Everywhere we deliver", "Refund", "Where is my order"]);
});

const contact = (name: string | null) => ({ name, address: "1", username: null, personId: null, addresses: ["1"] });
const MEMBER = { name: "Ann Lee (Berlin)", publicName: null };

test("a chat and a member give the values of a reply's placeholders", () => {
  const metadata = { order: "A-17", "first name": "Tom" };
  expect(replyValues({ contact: contact("Tom Toast"), metadata }, MEMBER)).toEqual({
    ...{ "contact.name": "Tom Toast", "member.name": "Ann Lee (Berlin)" },
    ...{ "metadata.order": "A-17", "metadata.first name": "Tom" },
  });
});

test("a contact reads the name of a member that contacts see", () => {
  const values = replyValues({ contact: contact("Tom"), metadata: {} }, { ...MEMBER, publicName: "Ann" });
  expect(values["member.name"]).toBe("Ann");
});

test.each([null, "", "\u200b\u200e"])("a contact with the name %j has no name to fill in", (name) => {
  expect(replyValues({ contact: contact(name), metadata: {} }, null)).toEqual({
    ...{ "contact.name": null, "member.name": null },
  });
});

test.each([
  ["{{a}} {{b}}", "{{a}}"],
  ["a {{metadata.first\nname|x}}", "{{metadata.first\nname|x}}"],
  ["{{{a}}}", "{{{a}}"],
  ["{{open", ""],
  ["{a} }}{{", ""],
  ["", ""],
])("the first placeholder that nobody filled in %j is %j", (text, unfilled) => {
  expect(unfilledIn(text)).toBe(unfilled);
});

const BEFORE = { name: "Thanks", shortcut: "", content: "Thank you" };

test("only the fields that a person changed are saved", () => {
  expect(changedIn({ before: BEFORE, now: BEFORE })).toEqual({});
  expect(changedIn({ before: BEFORE, now: { ...BEFORE, shortcut: "ty" } })).toEqual({ shortcut: "ty" });
});

test("a field is overwritten if somebody else changed it too, to something else", () => {
  const draft = { before: BEFORE, now: { ...BEFORE, content: "Thanks!" } };
  expect(overwritten(draft, BEFORE)).toEqual([]);
  expect(overwritten(draft, { ...BEFORE, name: "Bye" })).toEqual([]);
  expect(overwritten(draft, { ...BEFORE, content: "Thanks!" })).toEqual([]);
  expect(overwritten(draft, { ...BEFORE, content: "Cheers" })).toEqual(["content"]);
});
