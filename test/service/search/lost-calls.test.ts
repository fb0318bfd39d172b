import { expect, test, vi } from "vitest";
import type { IndexChange } from "../../../src/model/search-index.ts";
import { hurryAlarms, ringAlarm, runAlarm } from "../../support/alarms.ts";
import { hurryDeadlines } from "../../support/deadlines.ts";
import { breakObject, countCalls, replaceMethod } from "../../support/faults.ts";
import { created } from "../../support/harness.ts";
import { gate } from "../../support/until.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { indexed, searchPlace } from "./fixtures.ts";

stopTheClock();

/** An organization with a chat that the first index knows. What the chat says from now on goes to the second. */
async function placeWithTwoIndexes() {
  const place = await searchPlace();
  const chat = await place.chat();
  const { message } = created(await chat.post({ content: "First word" }));
  await place.told();
  await place.object().searchIndexFull(1);
  created(await chat.post({ content: "Second word" }));
  await place.told();
  expect(await Promise.all([1, 2].map((number) => indexed(place.organizationId, number)))).toEqual([1, 1]);
  return { ...place, chat: { ...chat, firstId: message.id } };
}

test("an index forgets a message that was redacted before the chat knew that the index has it", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, organizationId } = await searchPlace();
  const { post, redact } = await chat();
  const { message } = created(await post({ content: "The secret word" }));
  replaceMethod("SEARCH_INDEXES", "index", (original) => async (...given) => {
    await original(...given);
    throw new Error("The answer is lost");
  });
  await told();
  vi.restoreAllMocks();
  expect(await indexed(organizationId)).toBe(1);
  await redact(message.id);
  pass(60_000);
  await told();
  expect(await indexed(organizationId)).toBe(0);
});

test("a chat goes on after an index that never answered", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, found, organizationId } = await searchPlace();
  const { post, object } = await chat();
  created(await post({ content: "First word" }));
  await told();
  created(await post({ content: "Second word" }));
  hurryDeadlines("SEARCH_INDEXES");
  const calls = breakObject("SEARCH_INDEXES", `${organizationId}:1`, "index", "hangs");
  pass(3_000);
  await runAlarm(object());
  expect(calls()).toBe(1);
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  pass(600_000);
  await ringAlarm(object());
  expect(await found("word")).toEqual(["Second word", "First word"]);
});

test("an index that is down holds up no message of another one", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, organizationId } = await placeWithTwoIndexes();
  breakObject("SEARCH_INDEXES", `${organizationId}:1`, "index");
  created(await chat.post({ content: "Third word" }));
  await told();
  expect(await indexed(organizationId, 2)).toBe(2);
});

test("a redaction that an index does not learn holds up no message of another one", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const { chat, told, organizationId } = await placeWithTwoIndexes();
  breakObject("SEARCH_INDEXES", `${organizationId}:1`, "index");
  await chat.redact(chat.firstId);
  pass(3_000);
  await runAlarm(chat.object());
  created(await chat.post({ content: "Third word" }));
  pass(3_000);
  await runAlarm(chat.object());
  expect(await indexed(organizationId, 2)).toBe(2);
  vi.restoreAllMocks();
  expect(await indexed(organizationId, 1)).toBe(1);
  pass(30_000);
  await told();
  expect(await indexed(organizationId, 1)).toBe(0);
});

test("a redaction waits until the message has arrived at the index", async () => {
  const { chat, told, organizationId } = await placeWithTwoIndexes();
  const { message } = created(await chat.post({ content: "Third word" }));
  const { open, pass: held, reached } = gate("the message");
  replaceMethod("SEARCH_INDEXES", "index", (original) => async (...given) => {
    const [, change] = given as [unknown, IndexChange];
    if (change.put.length > 0) await held();
    return original(...given);
  });
  pass(3_000);
  hurryAlarms();
  const fed = ringAlarm(chat.object());
  await reached();
  await chat.redact(message.id);
  pass(3_000);
  await ringAlarm(chat.object());
  open();
  await fed;
  vi.restoreAllMocks();
  await told();
  expect(await indexed(organizationId, 2)).toBe(1);
});

test("a new message is told to one index, and a change to all that may have it", async () => {
  const { chat, told, organizationId } = await placeWithTwoIndexes();
  const calls = countCalls("SEARCH_INDEXES", "index");
  created(await chat.post({ content: "Third word" }));
  await told();
  expect(calls()).toBe(1);
  await chat.redact(chat.firstId);
  await told();
  expect(calls()).toBe(3);
  vi.restoreAllMocks();
  expect(await indexed(organizationId, 1)).toBe(0);
});
