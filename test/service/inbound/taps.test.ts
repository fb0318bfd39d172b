import { expect, test } from "vitest";
import { admin } from "../../support/harness.ts";
import { accept, lost, refuse, type Script } from "../../support/networks.ts";
import { until } from "../../support/until.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { chatWith, otherChat, partsIn } from "./rich-calls.ts";
import { KINDS, taken } from "./webhook-calls.ts";

stopTheClock();

test.each(KINDS)("a tap on %s is a text with the company's own id and title, and is a reply", async (kind) => {
  const { ask, contact, newest, message } = await chatWith(kind);
  const { message: question, data } = await ask();
  taken(await contact.tap(data, { title: "Forged" }));
  const tap = await newest();
  expect(tap).toMatchObject({
    direction: "INBOUND",
    type: "TEXT",
    content: "Tea",
    text: "Tea",
    choice: { id: "tea-1", title: "Tea", messageId: question.id },
    replyTo: question.id,
  });
  expect(await message(question.id)).toMatchObject({ interactive: { choices: [{ id: "tea-1" }, { id: "coffee-1" }] } });
});

test.each(KINDS)("a tap that %s repeats is stored once, and two taps are two", async (kind) => {
  const { ask, contact, messages } = await chatWith(kind);
  const { data } = await ask();
  for (const query of ["q.same", "q.same", "q.other"]) taken(await contact.tap(data, { query }));
  expect((await messages()).map(({ content }) => content)).toEqual(["Which?", "Tea", "Tea"]);
});

test.each(KINDS)("a tap on %s that is forged, or on another chat's message, has no id", async (kind) => {
  const at = await chatWith(kind);
  const { message: question, data } = await at.ask();
  const other = await otherChat(at);
  const foreign = await other.ask();
  for (const [forged, messageId] of [
    [data.replace(/\d$/, "7"), question.id],
    [foreign.data, null],
  ] as const) {
    taken(await at.contact.tap(forged, { title: "Old" }));
    const tap = await at.newest();
    expect(tap).toMatchObject({ content: "Old", choice: { id: null, title: "Old", messageId } });
  }
  expect((await other.messages()).map(({ content }) => content)).toEqual(["Which?"]);
});

test.each(KINDS)("a tap on %s on a redacted or a deleted message is stored, without an id", async (kind) => {
  const { ask, contact, newest, chatId } = await chatWith(kind);
  const { message: question, data } = await ask();
  expect((await admin("POST", `/chats/${chatId}/messages/${question.id}/redact`)).status).toBe(200);
  taken(await contact.tap(data));
  expect(await newest()).toMatchObject({ content: "Tea", choice: { id: null, messageId: question.id } });
  await partsIn({ chatId }, ({ log }) => log.deleteUpTo({ seq: 1, at: Date.parse(question.createdAt), queued: 1 }));
  taken(await contact.tap(data));
  const purged = await newest();
  expect(purged).toMatchObject({ content: "Tea", choice: { id: null, title: "Tea", messageId: null } });
  expect(purged).not.toHaveProperty("replyTo");
});

const acknowledged = (calls: { method: string; body: unknown }[]) =>
  calls
    .filter(({ method }) => method === "answerCallbackQuery")
    .map(({ body }) => (body as { callback_query_id: string }).callback_query_id);

test("Telegram is told that a tap has arrived, also of one that it repeats, and of no message", async () => {
  const { ask, contact, calls } = await chatWith("telegram");
  const { data } = await ask();
  taken(await contact.write("Hi"));
  for (const query of ["one", "one", "two"]) taken(await contact.tap(data, { query }));
  // Each is told by a call of its own, so in any order.
  const told = await until(
    "each is told",
    () => acknowledged(calls),
    ({ length }) => length === 3,
  );
  expect(told.toSorted()).toEqual(["one", "one", "two"]);
});

test.each<[string, Script]>([
  ["refuses it as too old", refuse(400, "Bad Request: query is too old")],
  ["does not answer", lost],
])("a tap is stored even if Telegram, told that it has arrived, %s", async (_, script) => {
  const at = await chatWith("telegram", (call, number) =>
    call.method === "answerCallbackQuery" ? script(call, number) : accept(call),
  );
  const { data } = await at.ask();
  taken(await at.contact.tap(data));
  await until(
    "Telegram is told",
    () => acknowledged(at.calls),
    ({ length }) => length === 1,
  );
  expect(await at.newest()).toMatchObject({ choice: { id: "tea-1" } });
});
