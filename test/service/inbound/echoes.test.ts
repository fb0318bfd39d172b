import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { client, expectError, newKey, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { report } from "../chats/inbound.ts";
import { newNetworkChannel, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { linesOf } from "../export/fixtures.ts";
import { conversationSums } from "../management/conversation-sums.ts";
import { fromApp, newWamid, phoneAndChat, timestampOf, written } from "./echo-calls.ts";
import { newContact, place } from "./fixtures.ts";
import { fromMeta, metadata, signed, taken, whatsappText } from "./webhook-calls.ts";

stopTheClock();

const SECOND = 1_000;

test("what the company writes in the app is an outbound message that nobody here delivers", async () => {
  const calls = fakeNetworks();
  const { messages, contactWrites, appWrites, run, chatId, shown } = await phoneAndChat();
  await contactWrites("Hello?");
  pass(5 * SECOND);
  const wrote = Math.floor(Date.now() / SECOND) * SECOND;
  await appWrites("From my phone");
  await run();
  const [, echo] = await messages();
  const at = new Date(Date.now()).toISOString();
  expect(echo).toEqual({
    id: echo?.id,
    chatId,
    seq: 2,
    direction: "OUTBOUND",
    type: "TEXT",
    content: "From my phone",
    mediaUrl: null,
    senderId: null,
    templateId: null,
    variables: null,
    text: "From my phone",
    status: "SENT",
    error: null,
    metadata: {},
    createdAt: at,
    updatedAt: at,
    sentAt: at,
    networkTime: new Date(wrote).toISOString(),
    origin: "app",
  });
  expect(calls).toEqual([]);
  expect(await shown()).toMatchObject({ lastMessage: { id: echo?.id, direction: "OUTBOUND" }, unansweredSince: null });
});

test("an echo is in events, the export and searches as any message, and opens the chat that does not exist", async () => {
  const at = await place("whatsapp");
  const to = newContact();
  const contacts = [{ wa_id: to, user_id: "DE.echo1", profile: { name: "Ada" } }];
  const echo = written(to, "Your order is ready", { to_user_id: "DE.echo1" });
  taken(await fromMeta(at.channel, [{ contacts, message_echoes: [echo] }], { field: "smb_message_echoes" }));
  taken(await fromApp(at.channel, echo));
  const chat = await at.chat();
  expect(chat.contact).toMatchObject({ address: to, name: "Ada", addresses: [to, "DE.echo1"] });
  expect(chat.replyUntil).toBe(chat.createdAt);
  const path = `/chats/${chat.id}/messages`;
  const { messages } = (await at.api("GET", path)).body;
  expect(messages).toMatchObject([{ seq: 1, origin: "app" }]);
  expect((await at.api("GET", `${path}?search=order&direction=OUTBOUND`)).body.messages).toEqual(messages);
  const { secret } = await newKey(at.organizationId, {
    permissions: ["data:export", "events:read", "messages:read", "messages:send"],
  });
  expect((await linesOf(secret, `/chats/${chat.id}/export`)).flatMap((line) => line.message ?? [])).toEqual(messages);
  const { events } = (await client(secret)("GET", `/chats/${chat.id}/events`)).body;
  expect(events.map(({ type }: { type: string }) => type)).toEqual(["chat.created", "message.created"]);
  expect(events[1].data.message).toEqual(messages[0]);
  const own = `${path}/${messages[0].id}`;
  expectError(await at.api("POST", `${own}/cancel`), 409, "not_cancelable");
  expectError(await at.api("POST", `${own}/resend`, {}), 409, "not_failed");
});

test("media of an echo comes from the network", async () => {
  const { appWrites, messages, chatId } = await phoneAndChat();
  await appWrites("", Date.now(), { type: "image", image: { id: "77", mime_type: "image/png", caption: "The shop" } });
  const [echo] = await messages();
  expect(echo).toMatchObject({ type: "IMAGE", text: "The shop", media: { contentType: "image/png" } });
  expect(echo?.mediaUrl).toContain(`/api/v1/chats/${chatId}/messages/${echo?.id}/media`);
});

test("a send with ifSeq is refused if the app has answered", async () => {
  fakeNetworks();
  const { api, chatId, contactWrites, appWrites, texts } = await phoneAndChat();
  await contactWrites("Are you there?");
  await appWrites("Yes");
  const path = `/chats/${chatId}/messages`;
  const refused = await api("POST", path, { content: "Late", ifSeq: 1 });
  expectError(refused, 409, "chat_moved_on");
  expect((await api("POST", path, { content: "In time", ifSeq: 2 })).status).toBe(201);
  expect(await texts()).toEqual(["Are you there?", "Yes", "In time"]);
});

test("an echo answers what the contact had written by its time, and its answer counts in no class", async () => {
  const { contactWrites, appWrites, shown, messages, chatId, channel, api } = await phoneAndChat();
  fakeNetworks();
  const begin = Date.now();
  await contactWrites("One", begin);
  pass(10 * SECOND);
  await contactWrites("Two", begin + 10 * SECOND);
  pass(SECOND);
  // The echo was written before the second message, and comes after it.
  await appWrites("Answer to one", begin + 9 * SECOND);
  const [, two] = await messages();
  expect((await shown()).unansweredSince).toBe(two?.createdAt);
  await report(chatId);
  expect((await shown()).unansweredSince).toBe(two?.createdAt);
  // One that is earlier than all of them answers nothing.
  await appWrites("Late", begin - 60 * SECOND);
  expect((await shown()).unansweredSince).toBe(two?.createdAt);
  // Equal times answer.
  await appWrites("Answer to two", begin + 10 * SECOND);
  expect((await shown()).unansweredSince).toBeNull();
  await report(chatId);
  expect(await conversationSums(channel.id)).toEqual({ received: 2, sent: 3, newChats: 1 });
  pass(60 * SECOND);
  await contactWrites("Three");
  pass(30 * SECOND);
  await send(api, chatId);
  await report(chatId);
  expect(await conversationSums(channel.id)).toEqual({ received: 3, sent: 4, newChats: 1, answers: 1, within1m: 1 });
});

test("what an echo leaves unanswered is also what `answered` is taken back to", async () => {
  const { contactWrites, appWrites, shown, messages, api, chatId } = await phoneAndChat();
  const begin = Date.now();
  for (const [text, later] of [
    ["One", 0],
    ["Two", 20],
    ["Three", 30],
  ] as const) {
    pass(10 * SECOND);
    await contactWrites(text, begin + later * SECOND);
  }
  await appWrites("Answer", begin + 20 * SECOND);
  const three = (await messages())[2];
  expect((await shown()).unansweredSince).toBe(three?.createdAt);
  expect((await api("POST", `/chats/${chatId}/answered`)).body.chat.unansweredSince).toBeNull();
  expect((await api("DELETE", `/chats/${chatId}/answered`)).body.chat.unansweredSince).toBe(three?.createdAt);
  await appWrites("Another", begin + 40 * SECOND);
  expectError(await api("DELETE", `/chats/${chatId}/answered`), 409, "nothing_unanswered");
});

test("edits, deletions and reactions in the app change the echo", async () => {
  const { appWrites, contactWrites, channel, address, messages, api, chatId, organizationId } = await phoneAndChat();
  await contactWrites("Hi");
  const [hi] = await messages();
  const id = await appWrites("Helo");
  const change = (fields: object) => fromApp(channel, { ...written(address, ""), ...fields });
  const message = { type: "text", text: { body: "Hello" } };
  taken(await change({ type: "edit", edit: { original_message_id: id, message } }));
  const echo = async () => (await messages()).at(-1) as Message;
  expect(await echo()).toMatchObject({ text: "Hello", editedAt: expect.any(String) });
  taken(await change({ type: "reaction", reaction: { message_id: id, emoji: "👍" } }));
  taken(
    await fromMeta(channel, [
      {
        messages: [
          {
            from: address,
            id: newWamid("in"),
            timestamp: timestampOf(),
            type: "reaction",
            reaction: { message_id: id, emoji: "🎉" },
          },
        ],
      },
    ]),
  );
  expect((await echo()).reactions).toMatchObject([
    { by: "organization", emoji: "👍" },
    { by: "contact", emoji: "🎉" },
  ]);
  taken(await change({ type: "revoke", revoke: { original_message_id: id } }));
  expect(await echo()).toMatchObject({ text: "", origin: "app", status: "SENT", deletedAt: expect.any(String) });
  const { secret } = await newKey(organizationId, { permissions: ["events:read"] });
  const { events } = (await client(secret)("GET", `/chats/${chatId}/events?limit=100`)).body;
  const told = events.map(({ type, data }: { type: string; data: { by?: string } }) => [type, data.by]);
  expect(told.slice(-4)).toEqual([
    ["message.edited", undefined],
    ["message.reaction", "organization"],
    ["message.reaction", "contact"],
    ["message.redacted", "organization"],
  ]);
  expect((await api("GET", `/chats/${chatId}/messages/${hi?.id}`)).body.message).toEqual(hi);
});

test("a reply to an echo quotes it, on both sides", async () => {
  const calls = fakeNetworks();
  const { appWrites, channel, address, messages, api, chatId, run } = await phoneAndChat();
  const id = await appWrites("Which one?");
  const value = whatsappText({ wa_id: address }, "The blue one");
  const context = { from: "15550001111", id };
  taken(await fromMeta(channel, [{ ...value, messages: value.messages.map((one) => ({ ...one, context })) }]));
  const [echo, reply] = await messages();
  expect(reply?.replyTo).toBe(echo?.id);
  await send(api, chatId, { replyTo: echo?.id });
  await run();
  expect(calls[0]?.body.context).toEqual({ message_id: id });
  // The contact's newest message is the one that is read.
  expect((await api("POST", `/chats/${chatId}/read`, { messageId: echo?.id })).body.shown).toBe(false);
});

test("an echo to a group, to nobody, and one without its own number change no chat", async () => {
  const { channel, chats, texts, address } = await phoneAndChat();
  for (const fields of [{ to: "Y2FwaV9ncm91cA" }, { group_id: "g1" }, { recipient_type: "group" }, { to: undefined }])
    taken(await fromApp(channel, written(address, "Hi all", fields)));
  const value = { message_echoes: [written(address, "From nowhere")] };
  const changes = [{ field: "smb_message_echoes", value }];
  taken(await signed(channel, JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] })));
  expect(await texts()).toEqual([]);
  expect(await chats()).toHaveLength(1);
});

test("an echo of another number goes to that number's channel, or nowhere", async () => {
  const { channel, address, texts, organizationId, api } = await phoneAndChat();
  const other = "15559990000";
  const echoFrom = (id: string) =>
    fromMeta(channel, [{ ...metadata(id), message_echoes: [written(address, "From the other")] }], {
      field: "smb_message_echoes",
    });
  taken(await echoFrom(other));
  const sibling = await newNetworkChannel(organizationId, "whatsapp", { credentials: { phoneNumberId: other } });
  taken(await echoFrom(other));
  expect(await texts()).toEqual([]);
  const [chat] = (await api("GET", `/chats?channel=${sibling.id}`)).body.chats;
  expect(chat.contact.address).toBe(address);
  expect((await api("GET", `/chats/${chat.id}/messages`)).body.messages).toMatchObject([{ text: "From the other" }]);
});

test("history and the app's address book are acknowledged and not read", async () => {
  const { channel, address, texts } = await phoneAndChat();
  const messages = [written(address, "From last year")];
  const history = [{ metadata: { phase: 0, chunk_order: 1, progress: 50 }, threads: [{ id: address, messages }] }];
  const old = { history, messages, message_echoes: messages };
  taken(await fromMeta(channel, [old], { field: "history" }));
  taken(await fromMeta(channel, [old], { field: "smb_app_state_sync" }));
  taken(await fromMeta(channel, [old], { field: "message_echoes" }));
  expect(await texts()).toEqual([]);
});

test("an echo survives its object", async () => {
  const { appWrites, texts, chatId, shown } = await phoneAndChat();
  await appWrites("Still here");
  await evictDurableObject(env.CHATS.getByName(chatId));
  expect(await texts()).toEqual(["Still here"]);
  expect((await shown()).lastMessage.text).toBe("Still here");
});
