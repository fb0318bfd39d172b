import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ChatParts } from "../../../src/chats/object/chat-parts.ts";
import { runAlarm } from "../../support/alarms.ts";
import { type Answer, send } from "../../support/harness.ts";
import { fakeNetworks, type NetworkCall, type Script } from "../../support/networks.ts";
import { type Conversation, chatOf, conversation, type Kind } from "../chats/object/delivery/conversation.ts";
import { fromMeta, fromTelegram } from "./webhook-calls.ts";

/** The seconds of the networks' clocks. */
export const SECONDS = 1_700_000_000;
/** The same as the API shows it, a few seconds later. */
export const shownAt = (later = 0) => new Date((SECONDS + later) * 1_000).toISOString();

const CHOICES = [
  { type: "reply", id: "tea-1", title: "Tea" },
  { type: "reply", id: "coffee-1", title: "Coffee" },
];

let numbers = 0;

/** What a contact does on a network, as the network tells it. `id` is the network's own id of a message. */
export interface Contact {
  write(text: string, fields?: object, id?: string | number): Promise<Answer>;
  tap(data: string, options?: { query?: string; title?: string }): Promise<Answer>;
  edit(id: string | number, text: string, later: number): Promise<Answer>;
  react(id: string | number, emoji: string | null, later: number): Promise<Answer>;
  /** WhatsApp only. */
  remove(id: string): Promise<Answer>;
}

type Channel = { id: string; webhook: { verifyToken: string; url: string } };

export function contactOn(kind: Kind, channel: Channel, address: string): Contact {
  return kind === "telegram" ? telegramContact(channel, address) : whatsappContact(channel, address);
}

function telegramContact(channel: Channel, address: string): Contact {
  const chat = { id: Number(address), type: "private", first_name: "Ada" };
  const tell = (kind: string, fields: object) => {
    const base = { chat, from: chat, date: SECONDS };
    return fromTelegram(channel, { update_id: ++numbers, [kind]: { ...base, ...fields } });
  };
  const emojis = (emoji: string | null) => (emoji === null ? [] : [{ type: "emoji", emoji }]);
  return {
    write: (text, fields = {}, message_id = ++numbers) =>
      tell("message", { message_id, ...(text && { text }), ...fields }),
    tap: (data, { query = `q${++numbers}`, title = "Tea" } = {}) => {
      const reply_markup = { inline_keyboard: [[{ text: title, callback_data: data }]] };
      const message = { message_id: 1, date: SECONDS, chat, text: "Which?", reply_markup };
      return tell("callback_query", { id: query, message, chat_instance: "1", data });
    },
    edit: (message_id, text, later) => tell("edited_message", { message_id, text, edit_date: SECONDS + later }),
    react: (message_id, emoji, later) =>
      tell("message_reaction", {
        ...{ message_id, user: chat, date: SECONDS + later },
        ...{ old_reaction: [], new_reaction: emojis(emoji) },
      }),
    remove: () => Promise.reject(new Error("Telegram tells no bot of a deletion")),
  };
}

function whatsappContact(channel: Channel, address: string): Contact {
  const tell = (fields: object, later = 0, id: string | number = `wamid.rich.${++numbers}`) =>
    fromMeta(channel, [
      {
        contacts: [{ wa_id: address, profile: { name: "Ada" } }],
        messages: [{ from: address, id, timestamp: String(SECONDS + later), ...fields }],
      },
    ]);
  return {
    write: (body, fields = {}, id) => tell({ type: "text", text: { body }, ...fields }, 0, id),
    tap: (id, { query, title = "Tea" } = {}) =>
      tell({ type: "interactive", interactive: { type: "button_reply", button_reply: { id, title } } }, 0, query),
    edit: (original_message_id, body, later) =>
      tell({ type: "edit", edit: { original_message_id, message: { type: "text", text: { body } } } }, later),
    react: (message_id, emoji, later) =>
      tell({ type: "reaction", reaction: { message_id, ...(emoji !== null && { emoji }) } }, later),
    remove: (original_message_id) => tell({ type: "revoke", revoke: { original_message_id } }),
  };
}

/** A chat with a contact, and what they do. */
export async function chatWith(kind: Kind, script?: Script) {
  const calls = fakeNetworks(script);
  const at = await conversation(kind);
  const contact = contactOn(kind, at.channel, at.address);
  return { ...at, ...outside(at, calls), kind, calls, contact };
}

export type RichChat = Awaited<ReturnType<typeof chatWith>>;

/** A further contact of the same channel. */
export async function otherChat(at: RichChat) {
  const other = await chatOf(at, at.channelId);
  return {
    ...other,
    ...outside({ ...at, ...other }, at.calls),
    contact: contactOn(at.kind, at.channel, other.address),
  };
}

function outside({ api, chatId, messages }: Pick<Conversation, "api" | "chatId" | "messages">, calls: NetworkCall[]) {
  return {
    /** Asks the contact a question. Returns the message, and what a tap on its first choice brings. */
    ask: async () => {
      const body = { content: "Which?", interactive: { choices: CHOICES } };
      const message = await send(api, chatId, body);
      await runAlarm(env.CHATS.getByName(chatId));
      const sent = calls.at(-1)?.body;
      const [data] = sent.reply_markup
        ? sent.reply_markup.inline_keyboard.flat().map((button: { callback_data: string }) => button.callback_data)
        : sent.interactive.action.buttons.map((button: { reply: { id: string } }) => button.reply.id);
      return { message, data: data as string };
    },
    networkIdOf: (id: string) => networkIdIn(chatId, id),
    newest: async () => {
      const all = await messages();
      const newest = all.at(-1);
      if (!newest) throw new Error("The chat has no message");
      return newest;
    },
  };
}

/** What a contact's app calls a message: its id at WhatsApp, its number at Telegram. */
export async function networkIdIn(chatId: string, id: string): Promise<string | number> {
  const stored = await partsIn({ chatId }, ({ log }) => log.networkIds.of(log.byId(id)?.seq ?? 0));
  if (stored === null) throw new Error("The network does not have the message");
  const own = stored.split(":").at(-1) ?? "";
  return /^\d+$/.test(own) ? Number(own) : own;
}

/** Does something with the parts of a chat's object, inside of it. */
export function partsIn<Result>({ chatId }: { chatId: string }, work: (parts: ChatParts) => Result): Promise<Result> {
  const object = env.CHATS.getByName(chatId);
  return runInDurableObject(object, (instance) => work((instance as unknown as { parts: ChatParts }).parts));
}
