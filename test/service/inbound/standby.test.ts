import { expect, test } from "vitest";
import { breakObjects } from "../../support/faults.ts";
import { expectError, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { report } from "../chats/inbound.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { conversationSums } from "../management/conversation-sums.ts";
import { agentText, fromApp, fromStandby, handover, phoneAndChat, toAgent, written } from "./echo-calls.ts";
import { newContact } from "./fixtures.ts";
import { fromMeta, taken, whatsappText } from "./webhook-calls.ts";

stopTheClock();

const SECOND = 1_000;

/** A chat whose conversation Meta's own agent has. */
async function agentAndChat() {
  const chat = await phoneAndChat();
  const { channel, address } = chat;
  return {
    ...chat,
    contactAsks: async (body: string, at = Date.now()) => taken(await toAgent(channel, address, body, at)),
    agentSays: async (body: string, fields: object = {}) =>
      taken(await fromStandby(channel, { message_echoes: [agentText(address, body, fields)] })),
    passControl: async (at = Date.now(), type = "control_passed") => handover(channel, address, type, at),
  };
}

test("what the contact and Meta's agent write is in the chat, and makes nothing unanswered", async () => {
  fakeNetworks();
  const { contactAsks, agentSays, messages, shown, channel, chatId, api } = await agentAndChat();
  await contactAsks("When do you open?");
  await agentSays("At nine");
  await contactAsks("Thanks");
  expect(await messages()).toMatchObject([
    { seq: 1, direction: "INBOUND", status: "RECEIVED", text: "When do you open?", standby: true },
    { seq: 2, direction: "OUTBOUND", status: "SENT", text: "At nine", origin: "network", senderId: null },
    { seq: 3, direction: "INBOUND", text: "Thanks", standby: true },
  ]);
  expect((await messages())[1]).not.toHaveProperty("standby");
  expect((await shown()).unansweredSince).toBeNull();
  expectError(await api("DELETE", `/chats/${chatId}/answered`), 409, "nothing_unanswered");
  await report(chatId);
  expect(await conversationSums(channel.id)).toEqual({ received: 2, sent: 1, newChats: 1 });
  // The contact wrote: the network takes free text.
  expect((await api("POST", `/chats/${chatId}/messages`, { content: "Hi", ifOpen: true })).status).toBe(201);
});

test("when the agent gives the conversation back, the chat is unanswered since the contact's first open message", async () => {
  const { contactAsks, agentSays, passControl, messages, shown, chatId, channel, api } = await agentAndChat();
  await contactAsks("One");
  await agentSays("Answer");
  pass(10 * SECOND);
  await contactAsks("A person, please");
  pass(10 * SECOND);
  await contactAsks("Hello?");
  expect((await shown()).unansweredSince).toBeNull();
  const passedAt = Date.now();
  taken(await passControl(passedAt));
  const [, , first] = await messages();
  expect((await shown()).unansweredSince).toBe(first?.createdAt);
  await report(chatId);
  expect((await api("GET", "/chats?unanswered=true")).body.chats).toMatchObject([{ id: chatId }]);
  // The answer ends a wait of which nobody knows how long it was.
  fakeNetworks();
  await send(api, chatId);
  await report(chatId);
  expect(await conversationSums(channel.id)).toMatchObject({ received: 3, sent: 2 });
  expect(await conversationSums(channel.id)).not.toHaveProperty("answers");
  expect((await shown()).unansweredSince).toBeNull();
});

test("a report of a handover that comes again, or late, changes nothing", async () => {
  const { contactAsks, passControl, shown, api, chatId } = await agentAndChat();
  await contactAsks("A person, please");
  const passedAt = Date.now();
  taken(await passControl(passedAt));
  await api("POST", `/chats/${chatId}/answered`);
  taken(await passControl(passedAt));
  expect((await shown()).unansweredSince).toBeNull();
  pass(60 * SECOND);
  await contactAsks("To the agent again");
  for (const at of [passedAt, passedAt - 30 * SECOND]) {
    taken(await passControl(at));
    expect((await shown()).unansweredSince).toBeNull();
  }
});

test("what the contact wrote before the agent gave the conversation back waits, also if it comes later", async () => {
  const { contactAsks, agentSays, passControl, shown, messages } = await agentAndChat();
  await agentSays("Hello");
  const passedAt = Date.now();
  pass(10 * SECOND);
  taken(await passControl(passedAt));
  await contactAsks("To the agent again");
  expect((await shown()).unansweredSince).toBeNull();
  await contactAsks("A person, please", passedAt - 5 * SECOND);
  expect((await shown()).unansweredSince).toBe((await messages()).at(-1)?.createdAt);
});

test("a conversation that was given back waits for nothing if the agent wrote last", async () => {
  const { contactAsks, agentSays, passControl, shown } = await agentAndChat();
  await contactAsks("A person, please");
  await agentSays("I get somebody");
  taken(await passControl());
  expect((await shown()).unansweredSince).toBeNull();
});

test("what the contact writes after that waits for an answer, and so does what an echo leaves", async () => {
  const { contactAsks, contactWrites, agentSays, appWrites, passControl, shown, messages } = await agentAndChat();
  const begin = Date.now();
  await contactAsks("One");
  pass(30 * SECOND);
  await contactAsks("Two");
  taken(await passControl());
  // Late: the agent had answered the first message.
  await agentSays("Answer to one", { timestamp: String(Math.floor(begin / SECOND)) });
  const two = (await messages())[1];
  expect((await shown()).unansweredSince).toBe(two?.createdAt);
  await appWrites("Answer to two");
  expect((await shown()).unansweredSince).toBeNull();
  pass(SECOND);
  await contactWrites("Three");
  expect((await shown()).unansweredSince).toBe((await messages()).at(-1)?.createdAt);
});

test("`answered` taken back shows what the agent gave back, and not what it had after that", async () => {
  const { contactAsks, passControl, shown, messages, api, chatId } = await agentAndChat();
  await contactAsks("A person, please");
  taken(await passControl());
  const [first] = await messages();
  await api("POST", `/chats/${chatId}/answered`);
  pass(SECOND);
  await contactAsks("Later, to the agent");
  expect((await shown()).unansweredSince).toBeNull();
  expect((await api("DELETE", `/chats/${chatId}/answered`)).body.chat.unansweredSince).toBe(first?.createdAt);
});

test("a handover that the list of chats may not know is asked for again", async () => {
  const { contactAsks, passControl, shown, messages } = await agentAndChat();
  await contactAsks("A person, please");
  const mend = breakObjects("ORGANIZATIONS", "report");
  const at = Date.now();
  expect((await passControl(at)).status).toBe(503);
  mend();
  taken(await passControl(at));
  expect((await shown()).unansweredSince).toBe((await messages())[0]?.createdAt);
});

test("a handover to somebody else, of an unknown chat or of another number changes nothing", async () => {
  const { contactAsks, passControl, shown, channel, address, chats } = await agentAndChat();
  await contactAsks("Hello");
  taken(await passControl(Date.now(), "control_taken"));
  taken(await handover(channel, newContact()));
  taken(await fromMeta(channel, [{ sender: { phone_number: address } }], { field: "messaging_handovers" }));
  const foreign = { sender: { phone_number: address }, recipient: { phone_number_id: "1" }, type: "control_passed" };
  taken(await fromMeta(channel, [foreign], { field: "messaging_handovers" }));
  expect((await shown()).unansweredSince).toBeNull();
  expect(await chats()).toHaveLength(1);
});

test("one message has one place, whichever of the fields brings it", async () => {
  const { channel, address, texts } = await agentAndChat();
  const value = whatsappText({ wa_id: address }, "Twice");
  taken(await fromStandby(channel, value));
  taken(await fromMeta(channel, [value]));
  const echo = agentText(address, "Once");
  taken(await fromStandby(channel, { message_echoes: [echo] }));
  taken(await fromApp(channel, { ...written(address, "Once"), id: echo.id }));
  expect(await texts()).toEqual(["Twice", "Once"]);
});
