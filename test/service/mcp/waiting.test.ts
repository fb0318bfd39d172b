import { expect, test } from "vitest";
import { admin, newKey } from "../../support/harness.ts";
import { hurryChecks } from "../../support/hurry.ts";
import { writeAsContact } from "../chats/inbound.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newListenerWithChat, report, untilDoorbells } from "../events/fixtures.ts";
import { agent } from "./agent.ts";

stopTheClock();

test("a wait ends with the first message, and takes a place of the streams until then", async () => {
  const { organizationId, secret, chat } = await newListenerWithChat();
  const { get, use } = agent(secret);
  const waits = Array.from({ length: 10 }, () => get("wait_for_messages", { chatId: chat.id, seconds: 30 }));
  await untilDoorbells(organizationId, 10);
  expect(await use("wait_for_messages", { seconds: 30 })).toMatchObject({
    isError: true,
    structuredContent: { code: "stream_limit" },
  });
  const { id } = await writeAsContact(organizationId, chat.id, "Help");
  await report(chat.id);
  for (const { value } of await Promise.all(waits)) expect(value.messages).toMatchObject([{ id }]);
  await untilDoorbells(organizationId, 0);
});

test("a wait ends when its key is revoked", async () => {
  const { organizationId, chat } = await newListenerWithChat();
  const { key, secret } = await newKey(organizationId, { permissions: ["events:read"] });
  const goOn = hurryChecks();
  const wait = agent(secret).use("wait_for_messages", { chatId: chat.id, seconds: 30 });
  await untilDoorbells(organizationId);
  await admin("DELETE", `/keys/${key.id}`);
  goOn();
  expect(await wait).toMatchObject({ isError: true, structuredContent: { code: "invalid_api_key" } });
});
