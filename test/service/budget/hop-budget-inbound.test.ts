import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { runAlarm } from "../../support/alarms.ts";
import { countHops } from "../../support/faults.ts";
import { type Client, call, newChat, newOrganization, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { asUser, connect, newSite, newToken, signUser, visit } from "../../support/sockets.ts";
import { heldBy } from "../../support/stored.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newContact, place } from "../inbound/fixtures.ts";
import { fromMeta, taken, whatsappStatus, whatsappText } from "../inbound/webhook-calls.ts";
import { uploadsEnded } from "../visitors/uploading.ts";
import { meter } from "./meter.ts";

stopTheClock();

test("a chat is created or found in one call of the organization's object, without D1 if the channel is known", async () => {
  const { api, channelId } = await newOrganization();
  const make = async (address: string) => (await api("POST", "/chats", { channelId, contact: { address } })).status;
  expect(await make("one")).toBe(201);
  const hops = countHops();
  expect([await make("two"), hops()]).toEqual([201, { KEYS: 1, ORGANIZATIONS: 1, CHATS: 1 }]);
  // A visitor's file may have begun a chat without messages: it is told to stay.
  expect([await make("two"), hops()]).toEqual([200, { KEYS: 1, ORGANIZATIONS: 1, CHATS: 1 }]);
  const { id } = await newChat(api, channelId, "three");
  await send(api, id);
  await runAlarm(env.CHATS.getByName(id));
  hops();
  expect([await make("three"), hops()]).toEqual([200, { KEYS: 1, ORGANIZATIONS: 1 }]);
});

/** A channel with a contact, whose record is cached, and the hops of a webhook for it. */
async function calledChannel() {
  const at = await place("whatsapp");
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: newContact() }, "Hi")]));
  return {
    ...at,
    hopsOf: async (...values: object[]) => {
      const hops = countHops();
      taken(await fromMeta(at.channel, values));
      return hops();
    },
  };
}

test("a webhook from an address that the isolate knows calls only the chat", async () => {
  const { hopsOf } = await calledChannel();
  const wa_id = newContact();
  await hopsOf(whatsappText({ wa_id }, "First"));
  expect(await hopsOf(whatsappText({ wa_id }, "Second"))).toEqual({ CHATS: 1 });
});

test("a webhook from a new contact calls the organization's object once and the chat once, also with further addresses", async () => {
  const { hopsOf, chats } = await calledChannel();
  const who = { wa_id: newContact(), user_id: "DE.77" };
  expect(await hopsOf(whatsappText(who, "Hi"))).toEqual({ ORGANIZATIONS: 1, CHATS: 1 });
  const chat = (await chats()).find(({ contact }) => contact.address === who.wa_id);
  const stored = await heldBy(env.CHATS.getByName(chat?.id ?? ""));
  expect(stored.values.map(([name]) => name)).not.toContain("pending");
});

/** Sends a message and waits for its delivery. */
async function sendThrough(api: Client, chatId: string) {
  const message = await send(api, chatId);
  await runAlarm(env.CHATS.getByName(chatId));
  return message;
}

test.each(["not used yet", "used"])(
  "a webhook from a contact whose chat the company created, %s, calls the organization's object once and the chat once",
  async (use) => {
    fakeNetworks();
    const { hopsOf, api, channel } = await calledChannel();
    const wa_id = newContact();
    const { id } = await newChat(api, channel.id, wa_id);
    if (use === "used") await sendThrough(api, id);
    expect(await hopsOf(whatsappText({ wa_id }, "An answer"))).toEqual({ ORGANIZATIONS: 1, CHATS: 1 });
  },
);

test("a status with our ids calls only the chat", async () => {
  fakeNetworks();
  const { hopsOf, api, channel } = await calledChannel();
  const { id: chatId } = await newChat(api, channel.id, newContact());
  const { id } = await sendThrough(api, chatId);
  const status = whatsappStatus("delivered", { id: "wamid.1", biz_opaque_callback_data: `${chatId}.${id}` });
  expect(await hopsOf(status)).toEqual({ CHATS: 1 });
});

test("a visitor's first message calls the organization's object once, and later ones never", async () => {
  const { api, channelId } = await newOrganization();
  await newChat(api, channelId);
  const { page } = await visit(channelId);
  const hops = countHops();
  expect(await page.write("a")).toMatchObject({ type: "stored", seq: 1 });
  expect(hops()).toEqual({ ORGANIZATIONS: 1, CHANNELS: 1 });
  vi.setSystemTime(Date.now() + 1_000);
  expect(await page.write("b")).toMatchObject({ type: "stored", seq: 2 });
  expect(hops()).toEqual({});
});

test("the first message of a visitor whom the company wrote to calls neither the organization's object nor D1", async () => {
  const { api, channelId, secret } = await newSite();
  const chat = await newChat(api, channelId, "user-7");
  await send(api, chat.id);
  const { page } = await visit(channelId, { protocols: asUser("user-7", await signUser("user-7", secret)) });
  const hops = countHops();
  expect(await page.write("a")).toMatchObject({ type: "stored", seq: 2 });
  expect(hops()).toEqual({});
});

test("an anonymous visitor's socket reads neither the organization's object nor D1 if the channel is cached", async () => {
  const { channelId } = await newOrganization();
  const token = newToken();
  await (await visit(channelId, { token })).page.write("a");
  const hops = countHops();
  expect((await visit(channelId, { token })).ready).toMatchObject({ lastSeq: 1 });
  expect((await visit(channelId)).ready).toMatchObject({ chatId: null });
  expect(hops()).toEqual({ CHATS: 2 });
});

test("a visitor's upload calls the channel and the chat twice, reads the channel's record anew, and writes two rows in the chat", async () => {
  const { api, channelId, secret } = await newSite();
  const user = "ada";
  const chat = await newChat(api, channelId, user);
  const claim = asUser(user, await signUser(user, secret))[1];
  const upload = async () =>
    call("POST", `/web/${channelId}/media`, {
      headers: { Authorization: `Bearer ${claim}`, "Content-Type": "text/plain", "Content-Length": "5" },
      body: "Hello",
    });
  expect((await upload()).status).toBe(201);
  const channel = env.CHANNELS.getByName(channelId);
  await uploadsEnded(channel);
  const hops = countHops();
  expect((await upload()).status).toBe(201);
  await uploadsEnded(channel);
  expect(hops()).toEqual({ CHANNELS: 2, CHATS: 2, DB: 1 });
  const metered = await meter([env.CHATS.getByName(chat.id)]);
  expect((await upload()).status).toBe(201);
  expect(metered.read()).toMatchObject({ rows: 2, directory: 0 });
});

test("sockets to an unknown channel read the directory once", async () => {
  const channelId = newId("chn", null);
  const hops = countHops();
  for (let n = 0; n < 5; n++) expect(await (await connect(channelId)).closed).toBe(4404);
  expect(hops()).toEqual({ DB: 1 });
});
