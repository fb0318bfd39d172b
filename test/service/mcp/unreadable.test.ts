import { expect, test } from "vitest";
import { breakObject } from "../../support/faults.ts";
import { writeAsContact } from "../chats/inbound.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newListenerWithChat, report } from "../events/fixtures.ts";
import { agent } from "./agent.ts";

stopTheClock();

test("a wait names a chat that can't be read, behind which its cursor goes on", async () => {
  const { organizationId, secret, chat } = await newListenerWithChat();
  const { get, use } = agent(secret);
  const { cursor } = (await get("wait_for_messages", { seconds: 0 })).value;
  await writeAsContact(organizationId, chat.id, "Help");
  await report(chat.id);
  breakObject("CHATS", chat.id, "events", "throws");
  const wait = { seconds: 0, after: cursor };
  expect(await use("wait_for_messages", wait)).toMatchObject({ structuredContent: { code: "unavailable" } });
  pass(120_000);
  const { value } = await get("wait_for_messages", wait);
  expect(value).toMatchObject({ messages: [], unreadableChats: [chat.id], hasMore: false });
  expect((await get("wait_for_messages", { seconds: 0, after: value.cursor })).value).toEqual({
    messages: [],
    cursor: value.cursor,
    hasMore: false,
  });
});
