import { expect, test } from "vitest";
import { oneEmoji } from "../../../src/model/content-schema.ts";

test.each(["❤️", "👍", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "#️⃣", "🏳️‍🌈"])("%s is one emoji", (emoji) => {
  expect(oneEmoji.safeParse(emoji).success).toBe(true);
});

test.each(["", "a", "1", "❤", "👍👍", " 👍", "👍\n", "🏽a", "\u200d", "\ud83d", "<b>", ":+1:", 1])(
  "%j is not",
  (value) => {
    expect(oneEmoji.safeParse(value).success).toBe(false);
  },
);

test("who reacts with something else is told what a reaction is", () => {
  expect(oneEmoji.safeParse("👍👍").error?.issues.map(({ message }) => message)).toEqual(["must be one emoji"]);
});
