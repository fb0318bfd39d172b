/**
 * A small fake of api.telegram.org over real HTTP. Set TELEGRAM_API_BASE for the service to its `base`. It accepts
 * messages, keeps the webhook that it is told, and sends contacts' messages there.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { CallbackQuery } from "@grammyjs/types";
import { close, type Fields, listen, type ReceivedFile, readBody, textIn } from "./fake-server.ts";
import { faultsOfTelegram } from "./network-limits.ts";

const SENDS: Record<string, string> = {
  sendMessage: "text",
  sendPhoto: "photo",
  sendDocument: "document",
  sendAudio: "audio",
  sendVideo: "video",
};
const DESCRIPTIONS: Record<number, string> = {
  400: "Bad Request: chat not found",
  401: "Unauthorized",
  403: "Forbidden: bot was blocked by the user",
  404: "Not Found",
  429: "Too Many Requests",
  502: "Bad Gateway",
};

/** Calls that only say yes. */
const ACTS = ["setMessageReaction", "sendChatAction", "answerCallbackQuery"];

/** A call of the bot, and the file in it. */
interface BotCall {
  method: string;
  body: Fields;
  file: ReceivedFile | null;
}

/** A message of the bot: its number in its chat, and the call that sent it. */
export interface BotMessage extends BotCall {
  number: number;
}

/** What happens to a call: a status, or it takes effect and its connection is closed without a response. */
type Fault = "drop" | { status: number; parameters?: Fields };

export interface TelegramServer {
  base: string;
  webhook: { url: string; secret: string; allowed_updates?: unknown } | null;
  /** Called with each message that it took, before the response. */
  taken: ((message: BotMessage) => void) | null;
  /** Decides what happens to a call, which waits for the result. */
  weather: ((call: BotCall) => Promise<Fault | undefined>) | null;
  /** Sends an update with a message with these fields to the webhook. Returns the response status. */
  deliver(fields: Fields): Promise<number>;
  /** Taps the button with this title below a message. Returns the id of the tap and the webhook's response status. */
  tap(message: BotMessage, title: string): Promise<{ id: string; status: number }>;
  close(): Promise<void>;
}

/** Starts the fake on a free port. With `token`, it accepts no other token; else all but those that begin with `revoked`. */
export async function telegramServer({ token = "" } = {}) {
  let lastUpdate = Math.floor(Math.random() * 1_000_000);
  let lastMessage = 0;

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, caller = "", method = ""] = /^\/bot([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
    const known = token === "" ? /^\d+:(?!revoked)[\w-]+$/.test(caller) : caller === token;
    const call = callOf(method, await readBody(request));
    const fault = await self.weather?.(call);
    const reply = typeof fault === "object" ? refusal(fault) : known ? carryOut(call) : refusal({ status: 401 });
    if (fault === "drop") return void response.destroy();
    response.writeHead(reply.status, { "Content-Type": "application/json" }).end(JSON.stringify(reply.body));
  }

  function carryOut(call: BotCall): { status: number; body: Fields } {
    const { method, body } = call;
    const field = SENDS[method];
    if (field) {
      const wrong = wrongIn(call, field) ?? faultsOfTelegram({ method, body })[0];
      if (wrong) return refusal({ status: 400 }, `Bad Request: ${wrong}`);
      self.taken?.({ number: ++lastMessage, ...call });
      const result = { message_id: lastMessage, date: now(), chat: { id: Number(body.chat_id) }, text: body.text };
      return { status: 200, body: { ok: true, result } };
    }
    if (ACTS.includes(method)) return { status: 200, body: { ok: true, result: true } };
    if (method === "setWebhook") {
      const { allowed_updates } = body;
      const url = textIn(body, "url");
      self.webhook = url ? { url, secret: textIn(body, "secret_token"), allowed_updates } : null;
      return { status: 200, body: { ok: true, result: true, description: "Webhook was set" } };
    }
    if (method === "getWebhookInfo") {
      const { url = "", allowed_updates } = self.webhook ?? {};
      return { status: 200, body: { ok: true, result: { url, pending_update_count: 0, allowed_updates } } };
    }
    if (method === "getMe") {
      return { status: 200, body: { ok: true, result: { id: 123_456, is_bot: true, first_name: "Parley" } } };
    }
    return refusal({ status: 404 });
  }

  async function post(update: Fields): Promise<number> {
    if (!self.webhook) throw new Error("no webhook is set");
    const headers = {
      "Content-Type": "application/json",
      "X-Telegram-Bot-Api-Secret-Token": self.webhook.secret,
    };
    const response = await fetch(self.webhook.url, { method: "POST", headers, body: JSON.stringify(update) });
    await response.body?.cancel();
    return response.status;
  }

  const self: TelegramServer = {
    base: "",
    webhook: null,
    taken: null,
    weather: null,
    deliver(fields) {
      const from = { id: 42, is_bot: false, first_name: "Ann" };
      const chat = { id: 42, type: "private", first_name: "Ann" };
      const message = { message_id: ++lastMessage, date: now(), from, chat, ...fields };
      return post({ update_id: ++lastUpdate, message });
    },
    async tap({ number, body }, title) {
      const { chat_id, text = "", reply_markup } = body as SentMessage;
      const button = reply_markup?.inline_keyboard?.flat().find((each) => each.text === title);
      if (!button?.callback_data) throw new Error(`no ${title} in ${number}`);
      const contact = { id: Number(chat_id), first_name: "Ann" };
      const chat = { ...contact, type: "private" as const };
      const message = { message_id: number, date: now(), chat, text, reply_markup } as CallbackQuery["message"];
      const callback_query: CallbackQuery = {
        id: String(++lastUpdate),
        from: { ...contact, is_bot: false },
        chat_instance: "1",
        data: button.callback_data,
        ...(message && { message }),
      };
      return { id: callback_query.id, status: await post({ update_id: lastUpdate, callback_query }) };
    },
    close: () => close(server),
  };
  self.base = await listen(server, 0);
  return self;
}

interface SentMessage {
  chat_id?: string;
  text?: string;
  reply_markup?: { inline_keyboard?: { text: string; callback_data?: string }[][] };
}

function refusal({ status, parameters }: Exclude<Fault, string>, description?: string) {
  const text = description ?? DESCRIPTIONS[status] ?? `Error ${status}`;
  return { status, body: { ok: false, error_code: status, description: text, ...(parameters && { parameters }) } };
}

/** A call from what its request says. In a form, objects are JSON. */
function callOf(method: string, { body, file }: { body: Fields; file: ReceivedFile | null }): BotCall {
  if (!file) return { method, body, file };
  const objects = ["reply_markup", "reply_parameters"].filter((field) => field in body);
  const parsed = Object.fromEntries(objects.map((field) => [field, JSON.parse(textIn(body, field)) as unknown]));
  return { method, body: { ...body, ...parsed }, file };
}

/** Telegram's error for a send, as far as the fake knows it. */
function wrongIn({ body, file }: BotCall, field: string): string | null {
  if (!/^-?\d+$/.test(String(body.chat_id))) return "chat not found";
  if (file) return file.field === field && file.size > 0 ? null : `there is no ${field} in the request`;
  if (textIn(body, field).trim() === "") return field === "text" ? "message text is empty" : `there is no ${field}`;
  if (textIn(body, "text").length > 4_096) return "message is too long";
  if (textIn(body, "caption").length > 1_024) return "message caption is too long";
  return field === "text" || textIn(body, field).startsWith("https://") ? null : "wrong HTTP URL specified";
}

function now(): number {
  return Math.floor(Date.now() / 1_000);
}
