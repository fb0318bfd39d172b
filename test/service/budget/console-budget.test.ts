import { expect, test } from "vitest";
import { browser, signIn, signInMember } from "../../support/console.ts";
import { countHops } from "../../support/faults.ts";
import { newChat, newOrganization, send } from "../../support/harness.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";

// A chat reports its message a moment later: while the clock stands, no test counts that call.
stopTheClock();

/** A manager in a browser, whose organization has a chat with a message. */
async function warmMember() {
  const { api, channelId, organizationId, ownerId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id);
  const ask = browser(await signInMember(ownerId));
  const at = `/organizations/${organizationId}`;
  expect((await ask("GET", `${at}/chats`)).status).toBe(200);
  return { ask, at, chatId: chat.id };
}

test.each<[string, (chatId: string) => string, object]>([
  ["a list of chats", () => "/chats", { ORGANIZATIONS: 2 }],
  ["a list of messages", (chatId) => `/chats/${chatId}/messages`, { ORGANIZATIONS: 1, CHATS: 1 }],
  // It asks again before it answers.
  ["a poll for events", () => "/events?from=now", { ORGANIZATIONS: 3 }],
])("%s of a member asks the organization's object who it is, and D1 nothing", async (_, pathOf, calls) => {
  const { ask, at, chatId } = await warmMember();
  await ask("GET", `${at}${pathOf(chatId)}`);
  const hops = countHops();
  const answer = await ask("GET", `${at}${pathOf(chatId)}`);
  expect(answer.status, answer.text).toBe(200);
  expect(hops()).toEqual(calls);
});

test("100 requests of a member's tabs at the same time ask D1 nothing", async () => {
  const { ask, at } = await warmMember();
  const hops = countHops();
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask("GET", `${at}/chats`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(hops()).toEqual({ ORGANIZATIONS: 200 });
});

test("a request of the operator asks D1 whether the session ended, and for the organization", async () => {
  const { organizationId } = await newOrganization();
  const ask = browser(await signIn());
  const path = `/organizations/${organizationId}/chats`;
  await ask("GET", path);
  const hops = countHops();
  expect((await ask("GET", path)).status).toBe(200);
  expect(hops()).toEqual({ DB: 2, ORGANIZATIONS: 1 });
});
