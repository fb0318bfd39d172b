import { expect, test } from "vitest";
import { workIsDone } from "../../../../support/alarms.ts";
import { send } from "../../../../support/harness.ts";
import { accept, fakeNetworks, hanging, inTurn } from "../../../../support/networks.ts";
import { until } from "../../../../support/until.ts";
import { taken, tellStatus } from "../../../inbound/webhook-calls.ts";
import { type Conversation, chatOf, conversation, deliveryOf, healthOf, pass, stopTheClock } from "./conversation.ts";
import { refuseRecipient } from "./refused-recipient.ts";

stopTheClock();

const MINUTE = 60_000;
const NO_PAYMENT = { errors: [{ code: 131042, title: "Business eligibility payment issue" }] };
const BROKEN = { state: "broken", reason: "131042: Business eligibility payment issue" };

/** A message that WhatsApp took, and what Meta tells of it afterward. */
async function sentIn(chat: Conversation) {
  const { id, seq } = await send(chat.api, chat.chatId);
  await chat.run();
  const failed = async () => {
    const [networkId = "wamid.early"] = (await deliveryOf(chat.object(), seq)).parts;
    taken(await tellStatus(chat, id, "failed", { id: networkId, ...NO_PAYMENT }));
    // The chat reports to the channel after its answer.
    await workIsDone(chat.object());
  };
  return { id, failed };
}

/** Waits until the operator sees this health: the channel reports it after what changed it. */
async function healthIs({ channelId }: Conversation, wanted: "ok" | "broken"): Promise<void> {
  await until(
    `the channel is ${wanted}`,
    () => healthOf(channelId),
    ({ state }) => state === wanted,
  );
}

test("a status that says that the channel is broken fails its message, and holds all others of the channel", async () => {
  const calls = fakeNetworks(accept);
  const chat = await conversation("whatsapp");
  const message = await sentIn(chat);
  await message.failed();
  expect(await chat.message(message.id)).toMatchObject({
    status: "FAILED",
    error: { code: "network_131042", message: "Business eligibility payment issue" },
  });
  await healthIs(chat, "broken");
  expect(await healthOf(chat.channelId)).toMatchObject(BROKEN);
  const other = await chatOf(chat, chat.channelId);
  for (const { api, chatId } of [chat, { ...chat, ...other }]) await send(api, chatId);
  await Promise.all([chat.run(), other.run()]);
  expect(calls).toHaveLength(1);
  expect((await other.queue()).lastError).toEqual({ code: "channel_broken", message: BROKEN.reason });
});

test("a status before the answer breaks the channel, though the answer is that the network took the message", async () => {
  const hang = hanging();
  fakeNetworks(inTurn(hang.script));
  const chat = await conversation("whatsapp");
  const { id } = await send(chat.api, chat.chatId);
  await hang.reached();
  taken(await tellStatus(chat, id, "failed", { id: "wamid.early", ...NO_PAYMENT }));
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok" });
  hang.letGo();
  await chat.run();
  await healthIs(chat, "broken");
  expect(await healthOf(chat.channelId)).toMatchObject(BROKEN);
  expect(await chat.message(id)).toMatchObject({ status: "FAILED", error: { code: "network_131042" } });
});

test("a probe that the network took and then refused breaks the channel once more", async () => {
  fakeNetworks(accept);
  const chat = await conversation("whatsapp");
  await (await sentIn(chat)).failed();
  await healthIs(chat, "broken");
  const probe = await send(chat.api, chat.chatId);
  await chat.run();
  pass(7 * MINUTE);
  await chat.run();
  expect(await chat.message(probe.id)).toMatchObject({ status: "SENT" });
  await healthIs(chat, "ok");
  const [networkId] = (await deliveryOf(chat.object(), probe.seq)).parts;
  taken(await tellStatus(chat, probe.id, "failed", { id: networkId, ...NO_PAYMENT }));
  await healthIs(chat, "broken");
  expect(await healthOf(chat.channelId)).toMatchObject(BROKEN);
});

test("a refusal of one recipient delays no other chat", async () => {
  const { brokenMinutes, late, messages } = await refuseRecipient(130497, 403, 60);
  expect({ brokenMinutes, late }).toEqual({ brokenMinutes: 0, late: 0 });
  expect(messages[0]?.status).toBe("FAILED");
});
