import { expect, test } from "vitest";
import { webSpec } from "../../../../src/channels/web/spec.ts";
import type { Choice } from "../../../../src/model/content.ts";

function replies(count: number, more: { description?: string; section?: string } = {}): Choice[] {
  return Array.from({ length: count }, (_, index) => ({ type: "reply", id: `${index}`, title: `${index}`, ...more }));
}

const link: Choice = { type: "link", title: "Track", url: "https://shop.example/" };

test.each<[string, Choice[], string]>([
  ["three replies", replies(3), "buttons"],
  ["four replies", replies(4), "list"],
  ["a description", replies(1, { description: "first" }), "list"],
  ["a section", replies(1, { section: "S" }), "list"],
  ["a long title", [{ type: "reply", id: "a", title: "x".repeat(24) }], "buttons"],
  ["a link", [link], "link"],
  ["two links", [link, { ...link, title: "Buy" }], "link"],
  ["a request for the location", [{ type: "location", title: "Where?" }], "text"],
])("%s is shown in the page's own form", (_, choices, rendering) => {
  expect(webSpec.renderingOf({ choices }, { address: "user-7", hasMedia: false })).toBe(rendering);
});
