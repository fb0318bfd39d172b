import { expect, test, vi } from "vitest";
import { send } from "../../support/harness.ts";
import { fakeNetworks, inTurn, lost, refuse } from "../../support/networks.ts";
import {
  fromMeta,
  fromTelegram,
  metadata,
  signed,
  taken,
  telegramText,
  whatsappText,
} from "../inbound/webhook-calls.ts";
import { newContact, place } from "../inbound/webhook-place.ts";
import { ACCESS_TOKEN, APP_SECRET, BOT_TOKEN, conversation, runNext, stopTheClock } from "./conversation.ts";

stopTheClock();

/** Hears all that is logged from here on, on any level. */
function listen() {
  const heard: unknown[] = [];
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void heard.push(line));
  }
  return {
    /** What the lines of one kind say. */
    of: (event: string) => (heard as Record<string, unknown>[]).filter((line) => line.event === event),
    text: () => JSON.stringify(heard),
  };
}

test.each(["telegram", "whatsapp"] as const)(
  "each attempt at %s leaves one line, with its outcome and nothing of the message or the contact",
  async (kind) => {
    const words = "Told by the network";
    const no = kind === "telegram" ? 400 : 131026;
    fakeNetworks(inTurn(lost, refuse(no, words)));
    const log = listen();
    const chat = await conversation(kind);
    const one = await send(chat.api, chat.chatId, { content: "A private word" });
    const two = await send(chat.api, chat.chatId, { content: "A private word" });
    await chat.run();
    await runNext(chat);
    const { chatId, channelId } = chat;
    const line = { event: "attempt", chatId, channelId, ms: expect.any(Number) };
    expect(log.of("attempt")).toEqual([
      { ...line, messageId: one.id, attempt: 1, outcome: "unknown", code: null },
      { ...line, messageId: one.id, attempt: 2, outcome: "failed", code: `network_${no}` },
      { ...line, messageId: two.id, attempt: 1, outcome: "sent", code: null },
    ]);
    for (const secret of ["private", words, chat.address, BOT_TOKEN, ACCESS_TOKEN]) {
      expect(log.text()).not.toContain(secret);
    }
  },
);

test("a webhook leaves a line for each thing that came, also for what is not stored, and nothing of its sender", async () => {
  const [telegram, whatsapp] = [await place("telegram"), await place("whatsapp")];
  const contact = newContact();
  const log = listen();
  const update = telegramText(contact, "A private word");
  taken(await fromTelegram(telegram.channel, update));
  taken(await fromTelegram(telegram.channel, update));
  taken(await fromTelegram(telegram.channel, { update_id: 1, edited_message: { text: "private" } }));
  taken(await fromTelegram(telegram.channel, "{ private"));
  const elsewhere = { ...whatsappText({ wa_id: contact }, "A private word"), ...metadata("555") };
  const stranger = { statuses: [{ id: "wamid.9", status: "sent", timestamp: "1", recipient_id: contact }] };
  taken(await fromMeta(whatsapp.channel, [elsewhere, stranger, { messages: [{ private: 1 }] }]));
  taken(await signed(whatsapp.channel, "{ private"));
  const said = (channelId: string) =>
    log
      .of("webhook")
      .filter((line) => line.channelId === channelId)
      .map(({ what }) => String(what));
  expect(said(telegram.channel.id)).toEqual([
    "message stored",
    "message repeated",
    "an update that is not stored: edited_message",
    "a body that is no JSON",
  ]);
  expect(said(whatsapp.channel.id).sort()).toEqual([
    "body not understood",
    "message not understood",
    "status unknown_chat",
    "unknown_account, 1 items",
  ]);
  for (const secret of ["private", contact, BOT_TOKEN, APP_SECRET]) expect(log.text()).not.toContain(secret);
});
