import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { alarmOf, pass } from "../../service/chats/object/delivery/conversation.ts";
import { DAY, inFuture } from "../../service/chats/object/scheduled/fixtures.ts";
import { admin, newChat, newOrganization, send } from "../../support/harness.ts";
import { storedChat } from "../../support/stored.ts";
import { ringAll, rung } from "./alarms.ts";
import { failEachStep } from "./every-step.ts";
import { newContact, quietly } from "./fixtures.ts";
import { chatOnDisk, chatsOf, ring } from "./looks.ts";

quietly();

let begin: number | undefined;

/** A chat with two messages of which the channel no longer keeps any; the alarm is due. */
async function old(isIdle: boolean) {
  // The names of some steps have the day.
  begin ??= Date.now();
  vi.setSystemTime(begin);
  const organization = await newOrganization();
  const { api, channelId, organizationId } = organization;
  await admin("PATCH", `/channels/${channelId}`, { retentionDays: 30 });
  const contact = newContact();
  const { id: chatId } = await newChat(api, channelId, contact);
  for (const content of ["one", "two"]) await send(api, chatId, { content });
  if (!isIdle) await send(api, chatId, { content: "later", scheduledAt: inFuture(300 * DAY) });
  const chat = env.CHATS.getByName(chatId);
  await ring(chat);
  pass(60_000);
  await ring(chat);
  await env.ORGANIZATIONS.getByName(organizationId).refresh();
  pass(40 * DAY);
  // The object would read this later, in the midst of the steps.
  await env.ORGANIZATIONS.getByName(organizationId).refresh();
  expect(await alarmOf(chat)).toBeLessThan(Date.now());
  return { ...organization, contact, chatId };
}
type Old = Awaited<ReturnType<typeof old>>;

/** How long a chat keeps its messages, as it knows. */
const knownDays = (chatId: string) =>
  runInDurableObject(env.CHATS.getByName(chatId), (_object, { storage }) =>
    String(storage.kv.get<{ days: number | null }>("retention")?.days),
  );

const listed = async ({ organizationId, chatId }: Old) =>
  (await storedChat(organizationId, chatId))?.last_message ? "shown" : "blank";

test("old messages are deleted and the list forgets them, whichever step fails", async () => {
  const { names } = await failEachStep<Old, { messages: string[]; list: string }>({
    place: () => old(false),
    act: ({ chatId }) => rung("CHATS", chatId),
    settle: ({ chatId }) => ringAll("CHATS", chatId),
    look: async (at) => ({ messages: (await chatOnDisk(at.chatId)).messages, list: await listed(at) }),
  });
  expect(names).toEqual(expect.arrayContaining(["ORGANIZATIONS.report", "kv.put floor"]));
  expect(names.some((name) => name.startsWith("delete from messages"))).toBe(true);
});

test("an idle chat is deleted with its row in the list, whichever step fails", async () => {
  const { names } = await failEachStep<Old, { messages: string[]; states: string[]; addresses: number }>({
    place: () => old(true),
    act: ({ chatId }) => rung("CHATS", chatId),
    settle: ({ chatId }) => ringAll("CHATS", chatId),
    look: async (at) => {
      const { states, addresses } = await chatsOf(at, at.contact);
      return { messages: (await chatOnDisk(at.chatId)).messages, states, addresses };
    },
  });
  expect(names).toEqual(expect.arrayContaining(["ORGANIZATIONS.chatGone", "kv.put tombstone", "kv.put floor"]));
});

test("idle chats are told of a changed retention, whichever step fails", async () => {
  const { names } = await failEachStep<Old, { days: string }>({
    place: async () => {
      const at = await old(false);
      await admin("PATCH", `/channels/${at.channelId}`, { retentionDays: 90 });
      return at;
    },
    act: ({ organizationId }) => rung("ORGANIZATIONS", organizationId),
    settle: ({ organizationId }) => ringAll("ORGANIZATIONS", organizationId),
    look: async ({ chatId }) => ({ days: await knownDays(chatId) }),
  });
  expect(names).toEqual(expect.arrayContaining(["CHATS.retain", "kv.put retention"]));
});
