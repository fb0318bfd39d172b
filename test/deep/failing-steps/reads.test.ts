import { expect, test } from "vitest";
import { type Answer, send } from "../../support/harness.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { type Place, placesOf, quietly } from "./fixtures.ts";

quietly();

/** The content that a 200 of a list of messages or of chats must have. */
function isWhole({ status, body }: Answer): string | null {
  if (status !== 200) return null;
  const { messages, chats, pagination } = body;
  const shown = messages ? messages.map((message: { seq: number }) => message.seq) : chats.length;
  const isAll = JSON.stringify(shown) === JSON.stringify(messages ? [2, 1] : pagination.total);
  return isAll && pagination.total > 0 ? null : `a list is short: ${JSON.stringify(body)}`;
}

/** Reads of a chat whose objects are all warm, or whose objects know nothing yet. */
function reading(path: (place: Place) => string, isWarm: boolean): Path<Place, null> {
  const place = placesOf();
  return {
    place: async () => {
      const at = await place();
      await send(at.api, at.chatId);
      await send(at.api, at.chatId);
      if (isWarm) await at.api("GET", path(at));
      return at;
    },
    act: (at) => at.api("GET", path(at)),
    look: async () => null,
    also: async (_place, answer) => isWhole(answer),
  };
}

test.each([
  ["of messages", "CHATS.list", false, ({ chatId }: Place) => `/chats/${chatId}/messages`],
  ["of messages that was read before", "CHATS.list", true, ({ chatId }: Place) => `/chats/${chatId}/messages`],
  ["of chats", "ORGANIZATIONS.list", false, ({ channelId }: Place) => `/chats?channel=${channelId}`],
  [
    "of chats that was read before",
    "ORGANIZATIONS.list",
    true,
    ({ channelId }: Place) => `/chats?channel=${channelId}`,
  ],
])("a list %s is complete or an error, whichever of its steps fails", async (_name, asked, isWarm, path) => {
  const { names } = await failEachStep(reading(path, isWarm));
  expect(names).toContain("KEYS.admit");
  expect(names.some((name) => name.startsWith(asked))).toBe(true);
});
