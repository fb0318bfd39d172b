import { expect, test } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { replaceMethod } from "../../support/faults.ts";
import { created, expectError, expectFaults, newOrganization } from "../../support/harness.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { searchPlace } from "./fixtures.ts";

stopTheClock();

test("messages of all chats are found, the newest first, each with its chat", async () => {
  const { chat, told, found, api, channelId } = await searchPlace();
  const [one, two] = [await chat("ada@example.com"), await chat()];
  for (const [place, content] of [
    [one, "The refund is on its way"],
    [two, "No refunds here"],
    [one, "Thanks"],
  ] as const) {
    pass(1_000);
    created(await place.post({ content }));
  }
  await told();
  expect(await found("refund")).toEqual(["No refunds here", "The refund is on its way"]);
  expect(await found("FUND is")).toEqual(["The refund is on its way"]);
  expect(await found("refund there")).toEqual([]);
  const { body } = await api("GET", "/messages?search=on%20its");
  expect(body).toMatchObject({
    messages: [
      {
        message: { text: "The refund is on its way", seq: 1 },
        chat: { id: one.id, channel: { id: channelId, kind: "web" }, contact: { address: "ada@example.com" } },
      },
    ],
    pagination: { limit: 20, hasMore: false, cursor: null },
  });
});

test("a message that was redacted is not found from the answer on, and the index forgets it", async () => {
  const { chat, told, found } = await searchPlace();
  const { post, redact } = await chat();
  const { message } = created(await post({ content: "My card is 4111" }));
  await told();
  expect(await found("card is")).toEqual(["My card is 4111"]);
  await redact(message.id);
  expect(await found("card is")).toEqual([]);
});

test("a page examines at most 200 messages, however many indexes name some", async () => {
  const { api, object } = await searchPlace();
  for (const full of [1, 2, 3]) await object().searchIndexFull(full);
  let at = Date.now();
  const candidates = () => Array.from({ length: 99 }, () => ({ at: at--, chatId: newId("cht", null), seq: 1 }));
  replaceMethod("SEARCH_INDEXES", "candidates", () => async () => ({ candidates: candidates(), hasMore: false }));
  const examined: number[] = [];
  replaceMethod("ORGANIZATIONS", "chatsFound", (original) => (...given) => {
    examined.push((given[0] as string[]).length);
    return original(...given);
  });
  const { body } = await api("GET", "/messages?search=word&limit=100");
  expect(examined.reduce((sum, count) => sum + count, 0)).toBe(200);
  expect(body).toMatchObject({ messages: [], pagination: { hasMore: true, cursor: expect.any(String) } });
});

test("an organization whose search is off says so", async () => {
  const { api } = await newOrganization();
  expectError(await api("GET", "/messages?search=refund"), 409, "search_off");
});

test("a page is continued with its cursor, which another search refuses", async () => {
  const { chat, told, api } = await searchPlace();
  const { post } = await chat();
  const texts = Array.from({ length: 7 }, (_, at) => `Number ${at}`);
  for (const content of texts) created(await post({ content }));
  await told();
  const read: string[] = [];
  let before = "";
  for (let pages = 0; pages < 4; pages++) {
    const { body } = await api("GET", `/messages?search=number&limit=3${before && `&before=${before}`}`);
    read.push(...body.messages.map(({ message }: { message: { text: string } }) => message.text));
    if (!body.pagination.hasMore) break;
    before = body.pagination.cursor;
  }
  expect(read).toEqual(texts.toReversed());
  expectFaults(await api("GET", `/messages?search=numbers&before=${before}`), "before");
});
