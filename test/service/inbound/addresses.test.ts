import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { runAlarm } from "../../support/alarms.ts";
import { admin, client, expectFaults, newChat, newKey, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { newContact, type Place, place } from "./fixtures.ts";
import { fromMeta, fromTelegram, taken, telegramText, whatsappText } from "./webhook-calls.ts";

/** A notice of WhatsApp about a contact. */
function notice(system: object, from?: string, timestamp = 1_790_000_000) {
  const id = `wamid.notice.${newContact()}`;
  return { messages: [{ id, timestamp: String(timestamp), type: "system", from, system }] };
}

/** A notice that a contact changed its number. */
const changed = (from: string, wa_id: string, at?: number) => notice({ type: "user_changed_number", wa_id }, from, at);

/** A place where each of these numbers has a chat of its own, and the chats' ids in their order. */
async function chatsOf(numbers: string[]) {
  const at = await place("whatsapp");
  const ids: string[] = [];
  for (const number of numbers) ids.push((await opened(at, number)).chat.id);
  const reach = async () => {
    const reached: (string | undefined)[] = [];
    for (const id of ids) reached.push(await sentTo(at, id));
    return reached;
  };
  return { at, reach };
}

/** Opens the chat of an address through the API. */
async function opened(at: Place, address: string): Promise<{ chat: Chat; status: number }> {
  const { status, body } = await at.api("POST", "/chats", { channelId: at.channel.id, contact: { address } });
  return { chat: body.chat, status };
}

/** To whom a message of a chat goes. */
async function sentTo(at: Place, chatId: string): Promise<string | undefined> {
  const calls = fakeNetworks();
  await send(at.api, chatId);
  await runAlarm(env.CHATS.getByName(chatId));
  return calls[0]?.to;
}

describe("numbers with two forms", () => {
  const pairs: [string, string][] = [
    ["553187654321", "5531987654321"],
    ["525512345678", "5215512345678"],
    ["541123456789", "5491123456789"],
  ];
  test.each(
    pairs.flatMap(([one, other]) => [
      [one, other],
      [other, one],
    ]),
  )("a company that opened %s gets the answer of %s in the same chat", async (first, second) => {
    const at = await place("whatsapp");
    const { chat } = await opened(at, `+${first}`);
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: second }, "Hello")]));
    const found = await at.chat();
    expect(found.id).toBe(chat.id);
    expect(found.contact).toMatchObject({ address: first, addresses: [first, second] });
    expect(await opened(at, second)).toMatchObject({ status: 200, chat: { id: chat.id } });
  });

  test("the contact of either form is listed by the other one, with signs and without", async () => {
    const at = await place("whatsapp");
    const { chat } = await opened(at, "5531987654321");
    for (const text of ["553187654321", "+55 31 8765-4321", "5531987654321", "+5531987654321"]) {
      const { body } = await at.api("GET", `/chats?contact=${encodeURIComponent(text)}`);
      expect(body.chats.map(({ id }: Chat) => id)).toEqual([chat.id]);
    }
  });

  test("two chats that began before stay two, each with its own form", async () => {
    const at = await place("whatsapp");
    const [short, long] = ["541123456789", "5491123456789"];
    const { chat: landline } = await opened(at, short);
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: long, user_id: "AR.1" }, "Hello")]));
    expect((await at.chats()).map(({ id }) => id)).toEqual([landline.id]);
  });

  test("a short number of Ivory Coast is looked for behind the operators, if one chat alone has any of them", async () => {
    const at = await place("whatsapp");
    const { chat } = await opened(at, "+225 07 12 34 56 78");
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: "22512345678" }, "Hello")]));
    expect(await at.chat()).toMatchObject({ id: chat.id, contact: { addresses: ["2250712345678", "22512345678"] } });
    await opened(at, "+225 01 99 99 99 99");
    await opened(at, "+225 05 99 99 99 99");
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: "22599999999" }, "Who?")]));
    expect(await at.chats()).toHaveLength(4);
    // A company's own words are not guessed at.
    expect((await opened(at, "22588888888")).status).toBe(201);
    expect((await opened(at, "2250788888888")).status).toBe(201);
  });
});

test.each(["0170 1234567", "0049 170 1234567", "+49 (0)170 1234567", "123456", "1234567890123456"])(
  "the number %s is refused",
  async (address) => {
    const at = await place("whatsapp");
    const answer = await at.api("POST", "/chats", { channelId: at.channel.id, contact: { address } });
    expectFaults(answer, "contact.address");
  },
);

test("a user id is an address, and what a network calls a number is taken as it is", async () => {
  const at = await place("whatsapp");
  const { chat, status } = await opened(at, "DE.1349120865530274");
  expect(status).toBe(201);
  taken(await fromMeta(at.channel, [whatsappText({ user_id: "DE.1349120865530274" }, "Hello")]));
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: "0123" }, "Odd")]));
  expect((await at.chats()).map(({ contact }) => contact.address)).toEqual(["0123", "DE.1349120865530274"]);
  expect(await sentTo(at, chat.id)).toBe("DE.1349120865530274");
});

describe("notices of WhatsApp", () => {
  test("a number that changed leads to the same chat, writes no message, and gets what the company sends", async () => {
    const at = await place("whatsapp");
    const [old, next] = [newContact(), newContact()];
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: old }, "Before")]));
    taken(await fromMeta(at.channel, [notice({ type: "user_changed_number", wa_id: next, body: "Ada changed" }, old)]));
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: next }, "After")]));
    expect(await at.texts()).toEqual({ [old]: ["Before", "After"] });
    const chat = await at.chat();
    expect(chat.contact.addresses).toEqual([old, next]);
    expect(await sentTo(at, chat.id)).toBe(next);
  });

  test("a user id that changed without a sender leads to the same chat, and the number stays in use", async () => {
    const at = await place("whatsapp");
    const number = newContact();
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: number, user_id: "DE.1" }, "Before")]));
    const changed = { type: "user_changed_user_id", previous_user_id: "DE.1", user_id: "DE.2" };
    taken(await fromMeta(at.channel, [notice(changed)]));
    taken(await fromMeta(at.channel, [whatsappText({ user_id: "DE.2" }, "After")]));
    expect(await at.texts()).toEqual({ [number]: ["Before", "After"] });
    const chat = await at.chat();
    expect(chat.contact.addresses).toEqual([number, "DE.1", "DE.2"]);
    expect(await sentTo(at, chat.id)).toBe(number);
  });

  test.each(["first", "last", "between"])(
    "of a call, the notice counts before the messages, if it comes %s",
    async (where) => {
      const at = await place("whatsapp");
      const messages = [whatsappText({ user_id: "DE.1" }, "Before"), whatsappText({ user_id: "DE.2" }, "After")];
      const changed = notice({ type: "user_changed_user_id", previous_user_id: "DE.1", user_id: "DE.2" });
      messages.splice({ first: 0, between: 1, last: 2 }[where] ?? 0, 0, changed as never);
      taken(await fromMeta(at.channel, messages));
      expect(await at.texts()).toEqual({ "DE.1": ["Before", "After"] });
    },
  );

  test("two notices in a circle end", async () => {
    const at = await place("whatsapp");
    const [one, other] = [newContact(), newContact()];
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: one }, "Hello")]));
    const to = (next: string, from: string) => notice({ type: "user_changed_number", wa_id: next }, from);
    taken(await fromMeta(at.channel, [to(other, one), to(one, other)]));
    expect((await at.chat()).contact.addresses).toEqual([one, other]);
  });

  test("of two chats of one contact, both follow where the contact goes", async () => {
    const [one, other, third] = [newContact(), newContact(), newContact()];
    const { at, reach } = await chatsOf([one, other]);
    taken(await fromMeta(at.channel, [changed(one, other)]));
    expect(await reach()).toEqual([other, other]);
    taken(await fromMeta(at.channel, [changed(other, third)]));
    expect(await reach()).toEqual([third, third]);
    taken(await fromMeta(at.channel, [changed(third, one), changed(one, other), changed(other, one)]));
    expect(await reach()).toEqual([one, one]);
  });

  test("a notice that is repeated late moves nobody back", async () => {
    const [one, other] = [newContact(), newContact()];
    const { at, reach } = await chatsOf([one]);
    const first = changed(one, other, 1_790_000_000);
    taken(await fromMeta(at.channel, [first]));
    taken(await fromMeta(at.channel, [changed(other, one, 1_790_000_060)]));
    taken(await fromMeta(at.channel, [first]));
    expect(await reach()).toEqual([one]);
  });

  test("two chats that turn out to be one contact's name each other, until one is deleted", async () => {
    const at = await place("whatsapp");
    const [old, next] = [newContact(), newContact()];
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: old }, "Before")]));
    taken(await fromMeta(at.channel, [whatsappText({ wa_id: next }, "After")]));
    const [second, first] = await at.chats();
    expect(first?.contact.sameAs).toBeUndefined();
    taken(await fromMeta(at.channel, [notice({ type: "user_changed_number", wa_id: next }, old)]));
    const shown = async () => Object.fromEntries((await at.chats()).map(({ id, contact }) => [id, contact.sameAs]));
    expect(await shown()).toEqual({ [first?.id ?? ""]: [second?.id], [second?.id ?? ""]: [first?.id] });
    expect((await at.api("GET", `/chats/${first?.id}`)).body.chat.contact.sameAs).toEqual([second?.id]);
    expect((await admin("DELETE", `/chats/${second?.id}`)).status).toBe(200);
    expect(await shown()).toEqual({ [first?.id ?? ""]: undefined });
  });
});

test("a number that WhatsApp verified is an address, and one of another card is not", async () => {
  const at = await place("whatsapp");
  const number = newContact();
  const card = (origin: string, wa_id: string) => ({
    ...whatsappText({ user_id: "DE.7" }, ""),
    messages: [
      {
        from_user_id: "DE.7",
        id: `wamid.card.${wa_id}`,
        timestamp: "1790000000",
        type: "contacts",
        contacts: [{ origin, name: { formatted_name: "Ada" }, phones: [{ phone: `+${wa_id}`, wa_id }] }],
      },
    ],
  });
  taken(await fromMeta(at.channel, [card("other", newContact()), card("contact_request", number)]));
  expect((await at.chat()).contact.addresses).toEqual(["DE.7", number]);
  const { chat } = await opened(at, number);
  expect(chat.id).toBe((await at.chat()).id);
});

test("a contact's own card on Telegram is found by its number, and is never written to", async () => {
  const at = await place("telegram");
  const from = newContact();
  const card = (user_id: number, phone_number: string) => ({ contact: { first_name: "Ada", user_id, phone_number } });
  taken(await fromTelegram(at.channel, telegramText(from, "", { text: undefined, ...card(1, "+4915100000") })));
  taken(
    await fromTelegram(at.channel, telegramText(from, "", { text: undefined, ...card(Number(from), "4917012345") })),
  );
  const chat = await at.chat();
  expect(chat.contact.addresses).toEqual([from, "+4917012345"]);
  const { body } = await at.api("GET", `/chats?contact=${encodeURIComponent("+4917012345")}`);
  expect(body.chats).toHaveLength(1);
  expect(await sentTo(at, chat.id)).toBe(from);
});

test("a contact's public name is shown, changes and goes, and the events say so", async () => {
  const at = await place("telegram");
  const from = newContact();
  const named = (username?: string) => ({ chat: { id: Number(from), type: "private", first_name: "Ada", username } });
  const nameNow = async (expected: string | null) => {
    const id = (await at.chat()).id;
    await runAlarm(env.CHATS.getByName(id));
    expect((await at.chat()).contact).toMatchObject({ name: "Ada", username: expected });
  };
  taken(await fromTelegram(at.channel, telegramText(from, "One", named("ada_l"))));
  expect((await at.chat()).contact.username).toBe("ada_l");
  taken(await fromTelegram(at.channel, telegramText(from, "Two", named("ada_new"))));
  await nameNow("ada_new");
  taken(await fromTelegram(at.channel, telegramText(from, "Three", named())));
  await nameNow(null);
  const { secret } = await newKey(at.organizationId, { permissions: ["events:read"] });
  expect((await client(secret)("GET", "/events?types=chat.updated")).body.events).toHaveLength(2);
});

test("a chat of the company has its address alone", async () => {
  const at = await place("whatsapp");
  const chat = await newChat(at.api, at.channel.id, "+4915112345678");
  expect(chat.contact).toEqual({
    address: "4915112345678",
    name: null,
    username: null,
    personId: null,
    addresses: ["4915112345678"],
  });
});
