import { expect, test } from "vitest";
import { aroundCall, breakObjects } from "../../../../support/faults.ts";
import { type Answer, send } from "../../../../support/harness.ts";
import { hurryLater } from "../../../../support/hurry.ts";
import { acceptAs, fakeNetworks } from "../../../../support/networks.ts";
import { neverRing } from "../../../../support/timers.ts";
import { gate } from "../../../../support/until.ts";
import { fromMeta, taken, tellStatus, whatsappText } from "../../../inbound/webhook-calls.ts";
import { conversation, crash, pass, stopTheClock } from "./conversation.ts";

stopTheClock();

const WAMID = "wamid.of-the-test";

/** A WhatsApp chat with a sent message. What the contact writes goes to the chat alone: its isolate knows it. */
async function knownChat() {
  fakeNetworks(acceptAs(WAMID));
  const chat = await conversation("whatsapp");
  const message = await send(chat.api, chat.chatId);
  await chat.run();
  const says = (userId?: string) => {
    const who = { wa_id: chat.address, ...(userId !== undefined && { user_id: userId }) };
    return fromMeta(chat.channel, [whatsappText(who, "Hi")]);
  };
  taken(await says());
  const found = async (address: string) =>
    (await chat.api("GET", `/chats?channel=${chat.channelId}&contact=${address}`)).body.chats.length;
  const status = (userId: string) =>
    tellStatus(chat, message.id, "delivered", { id: WAMID, recipient_user_id: userId });
  return { ...chat, says, status, found };
}

/** How long a call waits for the save of an address. */
const WAITS_MS = 2_000;

/** Whether a call was answered. */
function watch(call: Promise<Answer>) {
  let isAnswered = false;
  const answer = call.finally(() => {
    isAnswered = true;
  });
  return { answer, isAnswered: () => isAnswered };
}

test.each(["says", "status"] as const)(
  "a call (%s) that names a new address is acknowledged once it is saved",
  async (tell) => {
    const chat = await knownChat();
    const slow = gate("the save of the address");
    aroundCall("ORGANIZATIONS", "addAddresses", { before: slow.pass });
    neverRing(WAITS_MS);
    const call = watch(chat[tell]("BR.2"));
    await slow.reached();
    expect([await chat.found("BR.2"), call.isAnswered()]).toEqual([0, false]);
    slow.open();
    taken(await call.answer);
    expect(await chat.found("BR.2")).toBe(1);
  },
);

test("a call that is repeated after its chat's object was lost is acknowledged once the address is saved", async () => {
  const chat = await knownChat();
  const repair = breakObjects("ORGANIZATIONS", "addAddresses");
  taken(await chat.status("BR.2"));
  expect(await chat.found("BR.2")).toBe(0);
  repair();
  await crash(chat.object());
  taken(await chat.status("BR.2"));
  expect(await chat.found("BR.2")).toBe(1);
});

test("after a save that failed, the next new address is saved at once, with the one before", async () => {
  const chat = await knownChat();
  const repair = breakObjects("ORGANIZATIONS", "addAddresses");
  taken(await chat.status("BR.2"));
  repair();
  taken(await chat.status("BR.3"));
  expect([await chat.found("BR.2"), await chat.found("BR.3")]).toEqual([1, 1]);
});

test("an address that is named while another one is saved is saved before its call is acknowledged", async () => {
  const chat = await knownChat();
  const slow = gate("the save of the first address");
  aroundCall("ORGANIZATIONS", "addAddresses", { before: slow.pass });
  neverRing(WAITS_MS);
  const first = chat.says("BR.2");
  await slow.reached();
  const second = watch(chat.status("BR.3"));
  expect([await chat.found("BR.3"), second.isAnswered()]).toEqual([0, false]);
  slow.open();
  taken(await first);
  taken(await second.answer);
  expect(await chat.found("BR.3")).toBe(1);
});

test("calls with the same new address wait for its save together, two seconds in all", async () => {
  const chat = await knownChat();
  const slow = gate("the save of the address");
  aroundCall("ORGANIZATIONS", "addAddresses", { before: slow.pass });
  const endWaits = hurryLater(WAITS_MS, WAITS_MS);
  const first = watch(chat.says("BR.2"));
  await slow.reached();
  pass(2_000);
  taken(await chat.status("BR.2"));
  expect(first.isAnswered()).toBe(false);
  endWaits();
  taken(await first.answer);
  expect(await chat.found("BR.2")).toBe(0);
});
