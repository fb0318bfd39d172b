import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../../../support/alarms.ts";
import { browser, signInMember } from "../../../../support/console.ts";
import { admin, created, newChannel, newChat, send } from "../../../../support/harness.ts";
import { connect, visit } from "../../../../support/sockets.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { DAY, inFuture, MINUTE } from "../scheduled/fixtures.ts";
import { later, newVisitor } from "./new-visitor.ts";

stopTheClock();

/** A visitor with an open page, and Ana, a member. */
async function greeted() {
  const visitor = await newVisitor();
  const { page } = await visit(visitor.channelId, { token: visitor.token });
  await page.write("a");
  const { chatId } = (await visit(visitor.channelId, { token: visitor.token })).ready;
  const { member } = created(await admin("POST", `/organizations/${visitor.organizationId}/members`, { name: "Ana" }));
  return { ...visitor, page, chatId: chatId as string, ana: member.id as string };
}

test("a visitor sees who writes if the send names its sender, by the name of that time", async () => {
  const { page, chatId, ana, api, channelId, token, messages } = await greeted();
  const { id } = await send(api, chatId, { content: "I am Ana", senderId: ana });
  expect(await page.next()).toMatchObject({ type: "message", message: { id, sender: { name: "Ana" } } });
  const scheduledAt = new Date(Date.now() + DAY).toISOString();
  const soon = await send(api, chatId, { content: "Soon", senderId: ana, scheduledAt });
  expect((await admin("PATCH", `/members/${ana}`, { name: "Anabel" })).status).toBe(200);
  expect((await messages(chatId)).at(-1)?.sender).toEqual({ name: "Ana" });
  const now = { scheduledAt: null };
  expect((await api("PATCH", `/chats/${chatId}/messages/${soon.id}`, now)).body.message.sender).toEqual({
    name: "Ana",
  });
  const { messages: shown } = await (await connect(channelId, { token, after: 1 })).next();
  expect(shown.map(({ sender }: { sender: unknown }) => sender)).toEqual([{ name: "Ana" }, { name: "Ana" }]);
});

test("a visitor sees who writes in the console, and no name for a program that names none", async () => {
  const { page, chatId, ana, api, organizationId } = await greeted();
  expect(await send(api, chatId)).not.toHaveProperty("sender");
  expect((await page.next()).message).not.toHaveProperty("sender");
  const console = browser(await signInMember(ana));
  const path = `/organizations/${organizationId}/chats/${chatId}/messages`;
  created(await console("POST", path, { content: "I am Ana" }));
  expect((await page.next()).message.sender).toEqual({ name: "Ana" });
});

test("a visitor sees the public name of a member, and the team its name", async () => {
  const { page, chatId, ana, api, organizationId } = await greeted();
  await admin("PATCH", `/members/${ana}`, { publicName: "Support" });
  await send(api, chatId, { senderId: ana });
  expect((await page.next()).message.sender).toEqual({ name: "Support" });
  const path = `/organizations/${organizationId}/chats/${chatId}`;
  const console = browser(await signInMember(ana));
  created(await console("POST", `${path}/messages`, { content: "a" }));
  expect((await page.next()).message.sender).toEqual({ name: "Support" });
  expect((await console("POST", `${path}/typing`)).body).toEqual({ shown: true });
  expect(await page.next()).toEqual({ type: "typing", sender: { name: "Support" } });
  const { note } = created(await console("POST", `${path}/notes`, { content: "a" }));
  expect(note.author.name).toBe("Ana");
  await admin("PATCH", `/members/${ana}`, { publicName: null });
  created(await console("POST", `${path}/messages`, { content: "a" }));
  expect((await page.next()).message.sender).toEqual({ name: "Ana" });
  await console("POST", `${path}/typing`);
  expect(await page.next()).toEqual({ type: "typing", sender: { name: "Ana" } });
});

test("a message that is sent again has its writer's name of then, or the name of who is named now", async () => {
  const { chatId, ana, api, ownerId } = await greeted();
  const failed = async () => {
    const times = { scheduledAt: inFuture(MINUTE), expiresAt: inFuture(2 * MINUTE) };
    const { id } = await send(api, chatId, { senderId: ana, ...times });
    later(2 * MINUTE);
    await runAlarm(env.CHATS.getByName(chatId));
    return id;
  };
  const resent = async (id: string, body: object) =>
    created(await api("POST", `/chats/${chatId}/messages/${id}/resend`, body)).message.sender;
  await admin("PATCH", `/members/${ownerId}`, { name: "Ben" });
  expect(await resent(await failed(), { senderId: ownerId })).toEqual({ name: "Ben" });
  const id = await failed();
  await admin("PATCH", `/members/${ana}`, { name: "Anabel" });
  expect(await resent(id, {})).toEqual({ name: "Ana" });
});

test("a redaction leaves who wrote, and a network's message never says it", async () => {
  const { page, chatId, ana, api, organizationId } = await greeted();
  const { id } = await send(api, chatId, { senderId: ana });
  await page.next();
  await admin("POST", `/chats/${chatId}/messages/${id}/redact`);
  expect(await page.next()).toMatchObject({ type: "updated", message: { text: "", sender: { name: "Ana" } } });
  const other = await newChat(api, await newChannel(organizationId, "telegram"), "42");
  expect(await send(api, other.id, { senderId: ana })).not.toHaveProperty("sender");
});
