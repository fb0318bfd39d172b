import type { MessageEntity, RichBlock } from "@grammyjs/types";
import { expect, test } from "vitest";
import { richWords, withLinks } from "../../../../src/channels/telegram/rich-text.ts";

const link = (offset: number, length: number, url: unknown = "https://a.test/x") => ({
  type: "text_link",
  offset,
  length,
  url,
});

test.each<[string, unknown, string]>([
  ["our shop", [link(4, 4)], "our shop (https://a.test/x)"],
  // An emoji has two UTF-16 units.
  ["🎉 shop now", [link(3, 4)], "🎉 shop (https://a.test/x) now"],
  ["one two", [link(4, 3), link(0, 3, "https://b.test/")], "one (https://b.test/) two (https://a.test/x)"],
  ["https://a.test/x", [link(0, 16)], "https://a.test/x"],
  ["bold", [{ type: "bold", offset: 0, length: 4 } satisfies MessageEntity], "bold"],
  ["short", [link(0, 99), link(-9, 2), link(0.5, 1), link(Number.NaN, 1), link(0, 5, 7)], "short"],
  ["text", "no list", "text"],
  ["text", [null, 5, { type: "text_link" }], "text"],
])("the address behind words of %j follows them", (text, entities, shown) => {
  expect(withLinks(text, entities)).toBe(shown);
});

test("the words of a rich message are lines, with links, and media is named", () => {
  const blocks: RichBlock[] = [
    { type: "heading", size: 1, text: "Order" },
    { type: "paragraph", text: ["See ", { type: "bold", text: { type: "url", text: "this", url: "https://a.test" } }] },
    {
      type: "list",
      items: [
        { label: "1.", blocks: [{ type: "paragraph", text: "Tea" }] },
        {
          label: "2.",
          blocks: [
            { type: "paragraph", text: [{ type: "custom_emoji", custom_emoji_id: "1", alternative_text: "☕" }] },
          ],
        },
      ],
    },
    {
      type: "table",
      cells: [
        [
          { text: "a", align: "left", valign: "top" },
          { text: "b", align: "left", valign: "top" },
        ],
        [{ align: "left", valign: "top" }],
      ],
      caption: "Prices",
    },
    { type: "details", summary: "More", blocks: [{ type: "mathematical_expression", expression: "x^2" }] },
    { type: "divider" },
    { type: "photo", photo: [], caption: { text: "A cup", credit: "Ada" } },
  ];
  expect(richWords({ blocks })).toBe(
    "Order\nSee this (https://a.test)\n1. Tea\n2. ☕\na | b\nPrices\nMore\nx^2\n[photo]\nA cup\nAda",
  );
});

test("a rich message of any depth or shape has words or none", () => {
  let deep: unknown = "end";
  for (let i = 0; i < 50_000; i++) deep = { text: deep };
  for (const strange of [deep, null, 5, [], { blocks: 5 }, { blocks: [[[["x"]]]] }, { text: { text: [] } }]) {
    expect(typeof richWords(strange)).toBe("string");
  }
});
