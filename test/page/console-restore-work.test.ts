import { expect, test } from "vitest";
import { ParleyError } from "../../src/client/error.ts";
import type { Chat } from "../../src/web/console/api.ts";
import { restoreWork } from "../../src/web/console/inbox/restore-work.ts";
import { chatRow } from "./chat-row.ts";

/** What a person takes back, and what the page asks the service for then. */

const FIRST = { lastMessageAt: "2026-11-20T10:00:00.000Z" };
const SINCE = { lastMessageAt: "2026-11-20T10:05:00.000Z" };
const WAITS = { unansweredSince: FIRST.lastMessageAt };

/** Restores a chat. @param refusal of `markUnanswered` @returns the calls, in their order */
async function restored(before: Partial<Chat>, now: Partial<Chat>, refusal?: number): Promise<string[]> {
  const asked: string[] = [];
  let chat = chatRow("cht_1", now);
  await restoreWork(chatRow("cht_1", before), {
    now: () => chat,
    markAnswered: async () => void asked.push("answered"),
    async markUnanswered() {
      asked.push("unanswered");
      if (refusal) throw new ParleyError("Refused", { status: refusal, code: "refused" });
    },
    setState: async (state) => void asked.push(state),
    async handOver(handler) {
      asked.push(handler);
      chat = { ...chat, handler };
    },
  });
  return asked;
}

test("what nobody wrote in since becomes what it was", async () => {
  expect(await restored({ ...FIRST, ...WAITS }, { ...FIRST, state: "closed" })).toEqual(["unanswered", "open"]);
  expect(await restored(FIRST, { ...FIRST, ...WAITS })).toEqual(["answered"]);
  expect(await restored({ ...FIRST, state: "closed" }, FIRST)).toEqual(["closed"]);
});

test("what the contact wrote since stays unanswered, and the chat open", async () => {
  const wrote = { ...SINCE, unansweredSince: SINCE.lastMessageAt };
  expect(await restored(FIRST, wrote)).toEqual([]);
  expect(await restored({ ...FIRST, ...WAITS }, wrote)).toEqual([]);
  expect(await restored({ ...FIRST, state: "closed" }, wrote)).toEqual([]);
  expect(await restored({ ...FIRST, handler: "bot" }, wrote)).toEqual(["bot"]);
});

test("what was answered since stays answered, and its state is what it was", async () => {
  expect(await restored({ ...FIRST, ...WAITS }, { ...SINCE, state: "closed" })).toEqual(["open"]);
});

test("an answer that the page has not heard of yet keeps no chat closed", async () => {
  const [before, now] = [
    { ...FIRST, ...WAITS },
    { ...FIRST, state: "closed" as const },
  ];
  expect(await restored(before, now, 409)).toEqual(["unanswered", "open"]);
  await expect(restored(before, now, 503)).rejects.toThrow("Refused");
});
