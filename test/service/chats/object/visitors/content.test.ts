import { expect, test } from "vitest";
import type { Message } from "../../../../../src/model/message.ts";
import { breakObjects, countHops } from "../../../../support/faults.ts";
import { admin, send } from "../../../../support/harness.ts";
import { asUser, newSite, type Page, signUser, visit } from "../../../../support/sockets.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { later, newVisitor } from "./new-visitor.ts";

stopTheClock();

const CHOICES = {
  content: "What is it about?",
  interactive: {
    choices: [
      { type: "reply", id: "refund-4711", title: "Refund" },
      { type: "reply", id: "exchange-4711", title: "Exchange" },
    ],
  },
};

/** A visitor with a chat, an open page and a message with choices. */
async function offered() {
  const visitor = await newVisitor();
  const { page } = await visit(visitor.channelId, { token: visitor.token });
  await page.write("first");
  const { chatId } = (await visit(visitor.channelId, { token: visitor.token })).ready;
  const { id } = await send(visitor.api, chatId, CHOICES);
  const { message } = await page.next();
  later();
  return { ...visitor, page, chatId, id, message };
}

async function newest(visitor: Awaited<ReturnType<typeof newVisitor>>, chatId: string): Promise<Message | undefined> {
  return (await visitor.messages(chatId)).at(-1);
}

test("a visitor sees choices without the company's ids, and the tap comes back with the company's id", async () => {
  const { page, chatId, id, message, ...visitor } = await offered();
  expect(message.interactive).toEqual({
    choices: [
      { type: "reply", id: `${id}:0`, title: "Refund" },
      { type: "reply", id: `${id}:1`, title: "Exchange" },
    ],
    rendering: "buttons",
  });
  const { page: other } = await visit(visitor.channelId, { token: visitor.token });
  const answer = await page.ask({ type: "message", id: "tap", content: "anything", choice: `${id}:1` });
  expect(answer).toMatchObject({ type: "stored", id: "tap", seq: 3 });
  const tapped = { content: "Exchange", text: "Exchange", type: "TEXT", replyTo: id };
  expect(await newest(visitor, chatId)).toMatchObject({
    ...tapped,
    choice: { id: "exchange-4711", title: "Exchange", messageId: id },
  });
  const shown = await other.next();
  expect(shown).toMatchObject({
    type: "message",
    message: { ...tapped, choice: { title: "Exchange", messageId: id } },
  });
  expect(JSON.stringify([message, shown])).not.toContain("exchange-4711");
});

test.each([
  ["an index that is not there", (id: string) => `${id}:2`, true],
  ["another chat's message", () => "msg_g07Zz000000000:0", false],
  ["nonsense", () => `${"x".repeat(500)}\ud800`, false],
  ["nothing", () => "", false],
])("a tap on %s keeps its text, and names no choice", async (_, choice, hasMessage) => {
  const { page, chatId, id, ...visitor } = await offered();
  const sent = await page.ask({ type: "message", id: "tap", content: "Refund, please", choice: choice(id) });
  expect(sent).toMatchObject({ type: "stored" });
  expect(await newest(visitor, chatId)).toMatchObject({
    content: "Refund, please",
    choice: { id: null, title: "Refund, please", messageId: hasMessage ? id : null },
  });
});

test("a tap on a redacted message keeps its text, and names no choice", async () => {
  const { page, chatId, id, ...visitor } = await offered();
  await admin("POST", `/chats/${chatId}/messages/${id}/redact`);
  expect(await page.next()).toMatchObject({ type: "updated", message: { id, text: "" } });
  await page.ask({ type: "message", id: "tap", content: "Refund", choice: `${id}:0` });
  expect(await newest(visitor, chatId)).toMatchObject({ content: "Refund", choice: { id: null } });
});

test("a visitor's reply names its message, and one to a message that isn't there stays without", async () => {
  const { page, chatId, id, ...visitor } = await offered();
  await page.ask({ type: "message", id: "b", content: "This one", replyTo: id });
  expect(await newest(visitor, chatId)).toMatchObject({ content: "This one", replyTo: id });
  for (const [n, replyTo] of ["msg_g07Zz000000000", "", "\ud800"].entries()) {
    later();
    expect(await page.ask({ type: "message", id: `c${n}`, content: "That", replyTo })).toMatchObject({
      type: "stored",
    });
    expect(await newest(visitor, chatId)).not.toHaveProperty("replyTo");
  }
});

test("a repeated tap is stored once", async () => {
  const { page, chatId, id, ...visitor } = await offered();
  const tap = { type: "message", id: "tap", content: "Refund", choice: `${id}:0` };
  const [first, second] = [await page.ask(tap), await page.ask(tap)];
  expect(second).toEqual(first);
  expect(await visitor.messages(chatId)).toHaveLength(3);
});

/** The contact's name and the metadata of a chat, once a page's frames are processed. */
async function detailsOf({ api }: Awaited<ReturnType<typeof newVisitor>>, chatId: string, page: Page) {
  // Frames are processed in order, and this one is answered.
  later();
  await page.write(`after ${Math.random()}`);
  const { contact, metadata } = (await api("GET", `/chats/${chatId}`)).body.chat;
  return [contact.name, metadata];
}

test("a visitor says who they are where nobody said it before, and later words change nothing", async () => {
  const { page, chatId, ...visitor } = await offered();
  page.send({ type: "contact", name: "Ana", email: null });
  expect(await detailsOf(visitor, chatId, page)).toEqual(["Ana", {}]);
  page.send({ type: "contact", name: "Eve", email: "ana@example.com" });
  expect(await detailsOf(visitor, chatId, page)).toEqual(["Ana", { email: "ana@example.com" }]);
  page.send({ type: "contact", name: "Eve", email: "eve@example.com" });
  page.send({ type: "contact" });
  expect(await detailsOf(visitor, chatId, page)).toEqual(["Ana", { email: "ana@example.com" }]);
});

test("a visitor whose email has no room in the metadata still has a name, in one line", async () => {
  const { page, chatId, ...visitor } = await offered();
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, "v"]));
  await visitor.api("PATCH", `/chats/${chatId}`, { metadata });
  page.send({ type: "contact", name: "Ana\u001b[2J\r\nof Acme", email: "ana@example.com" });
  expect(await detailsOf(visitor, chatId, page)).toEqual(["Ana [2J of Acme", metadata]);
});

test("what the company knows of a visitor stays, and asking for it again costs no call", async () => {
  const { page, chatId, ...visitor } = await offered();
  await visitor.api("PATCH", `/chats/${chatId}`, {
    contact: { name: "Ms. Lovelace" },
    metadata: { email: "ada@example.com" },
  });
  const hops = countHops();
  for (let n = 0; n < 5; n++) page.send({ type: "contact", name: "Eve", email: "eve@example.com" });
  expect(await page.rest()).toEqual([]);
  expect(hops()).toEqual({});
  expect(await detailsOf(visitor, chatId, page)).toEqual(["Ms. Lovelace", { email: "ada@example.com" }]);
});

test("a contact whose email is no address is refused, and the socket stays open", async () => {
  const { page, chatId, ...visitor } = await offered();
  const refused = { type: "refused", id: "contact", code: "validation_failed" };
  expect(await page.ask({ type: "contact", name: "Ana", email: "nobody" })).toMatchObject(refused);
  expect(await detailsOf(visitor, chatId, page)).toEqual([null, {}]);
});

test("what a visitor says of themselves opens no chat", async () => {
  const { channelId, api } = await newVisitor();
  const { page } = await visit(channelId);
  page.send({ type: "contact", name: "Ana" });
  expect(await page.rest()).toEqual([]);
  expect((await api("GET", `/chats?channel=${channelId}`)).body.chats).toEqual([]);
});

test("a site's own user stays as the site named them", async () => {
  const { channelId, secret, api } = await newSite();
  const { page } = await visit(channelId, { protocols: asUser("user-4711", await signUser("user-4711", secret)) });
  await page.write("a");
  page.send({ type: "contact", name: "Eve", email: "eve@example.com" });
  later();
  await page.write("b");
  const [{ id }] = (await api("GET", `/chats?channel=${channelId}`)).body.chats;
  expect((await api("GET", `/chats/${id}`)).body.chat).toMatchObject({ contact: { name: null }, metadata: {} });
});

test("a site's user names the chat that the browser had before, by its token, once", async () => {
  const { channelId, secret, api } = await newSite();
  const token = "a".repeat(22);
  const { page: anonymous } = await visit(channelId, { token });
  await anonymous.write("before");
  const [before] = (await api("GET", `/chats?channel=${channelId}`)).body.chats;
  const { page } = await visit(channelId, { protocols: asUser("user-4711", await signUser("user-4711", secret)) });
  await page.write("after");
  const { chats } = (await api("GET", `/chats?channel=${channelId}`)).body;
  const { id } = chats.find(({ contact }: { contact: { address: string } }) => contact.address === "user-4711");
  const told = async (frame: object) => {
    page.send({ type: "contact", ...frame });
    return detailsOf({ api } as Awaited<ReturnType<typeof newVisitor>>, id, page);
  };
  expect(await told({ anonymousToken: "no token" })).toEqual([null, {}]);
  const named = [null, { anonymousChatId: before.id }];
  expect(await told({ name: "Eve", anonymousToken: token })).toEqual(named);
  expect(await told({ anonymousToken: "b".repeat(22) })).toEqual(named);
});

test("if the organization's object does not answer, the page hears of it by a close, and its next words count", async () => {
  const { page, chatId, ...visitor } = await offered();
  const restore = breakObjects("ORGANIZATIONS", "find");
  page.send({ type: "contact", name: "Ana" });
  expect(await page.closed).toBe(1013);
  restore();
  const { page: again } = await visit(visitor.channelId, { token: visitor.token });
  again.send({ type: "contact", name: "Ana" });
  expect(await detailsOf(visitor, chatId, again)).toEqual(["Ana", {}]);
});
