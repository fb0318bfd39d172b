/**
 * A small fake of api.telegram.org over real HTTP: run `node test/support/telegram-server.ts --port 9100`, and set
 * TELEGRAM_API_BASE=http://127.0.0.1:9100 for the service. It prints a line for each call. A line on its standard input
 * arrives as a message from a contact. `/help` lists the lines with a special meaning. Tests use `telegramServer`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { close, type Fields, listen, readBody, textIn } from "./fake-server.ts";

const HELP = `  <text>                 comes in as a message from contact 42
  /from <chat id> <text> comes in from another contact; a negative id is a group
  /photo [caption]       comes in as a photo
  /update <JSON>         comes in as a message with these fields
  /again                 the last update comes in once more
  /hook <url> <secret>   where updates go, as setWebhook would say
  /next <status> [n]     the next call is answered with that status; n: retry_after, or migrate_to_chat_id with 400
  /drop, /hang           the next call is carried out and its connection closed; or is never answered`;

const SENDS: Record<string, string> = {
  sendMessage: "text",
  sendPhoto: "photo",
  sendDocument: "document",
  sendAudio: "audio",
  sendVideo: "video",
};
// One pixel.
const PHOTO = Buffer.from("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "base64");
const DESCRIPTIONS: Record<number, string> = {
  400: "Bad Request: chat not found",
  401: "Unauthorized",
  403: "Forbidden: bot was blocked by the user",
  404: "Not Found",
  429: "Too Many Requests",
  502: "Bad Gateway",
};

/** A call of the bot, in the order of arrival. `answered` is its status, or 0 without a response. */
export interface BotCall {
  method: string;
  body: Fields;
  answered: number;
}

/**
 * What happens to the next call: a status, or a connection without a response, after the call took effect or without
 * effect.
 */
export type Fault = "drop" | "hang" | { status: number; parameters?: Fields; location?: string };

export interface TelegramServer {
  base: string;
  /** All calls so far, including dropped calls that took effect. */
  calls: BotCall[];
  webhook: { url: string; secret: string } | null;
  /** What happens to the next calls, in order. */
  faults: Fault[];
  /** Decides what happens to a recorded call that `faults` has nothing for. The call waits for the result. */
  weather: ((call: BotCall) => Promise<Fault | undefined>) | null;
  /** Sends an update with a message with these fields to the webhook. Returns the response status. */
  deliver(fields: Fields): Promise<number>;
  /** Sends the last update again. */
  repeat(): Promise<number>;
  close(): Promise<void>;
}

/** Starts the fake on the given port, or a free one. With `token`, it accepts no other token. */
export async function telegramServer({ port = 0, token = "", log = (_line: string) => {} } = {}) {
  const files = new Map([["P1", { path: "photos/file_1.gif", type: "image/gif", bytes: PHOTO }]]);
  let lastUpdate = Math.floor(Math.random() * 1_000_000);
  let lastMessage = 0;
  let lastSent: Fields | null = null;

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      log(`! ${String(error)}`);
      response.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, file, caller = "", rest = ""] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
    const known = token === "" ? /^\d+:[\w-]+$/.test(caller) : caller === token;
    if (file) return sendFile(response, known ? decodeURIComponent(rest) : "");
    const body = await readBody(request);
    const call: BotCall = { method: rest, body, answered: 0 };
    self.calls.push(call);
    const fault = self.faults.shift() ?? (await self.weather?.(call));
    if (fault === "hang") return log(`${rest} ${JSON.stringify(body)} -> never`);
    const reply = typeof fault === "object" ? refusal(fault) : known ? carryOut(rest, body) : refusal({ status: 401 });
    if (fault === "drop") {
      log(`${rest} ${JSON.stringify(body)} -> carried out, connection closed`);
      return void response.destroy();
    }
    call.answered = reply.status;
    const text = JSON.stringify(reply.body);
    log(`${rest} ${JSON.stringify(body)} -> ${reply.status} ${text}`);
    const location = typeof fault === "object" && fault.location ? { Location: fault.location } : {};
    response.writeHead(reply.status, { "Content-Type": "application/json", ...location }).end(text);
  }

  function carryOut(method: string, body: Fields): { status: number; body: Fields } {
    const field = SENDS[method];
    if (field) {
      const wrong = wrongIn(body, field);
      if (wrong) return refusal({ status: 400 }, `Bad Request: ${wrong}`);
      const result = { message_id: ++lastMessage, date: now(), chat: { id: Number(body.chat_id) }, text: body.text };
      return { status: 200, body: { ok: true, result } };
    }
    if (method === "setWebhook") {
      self.webhook = textIn(body, "url") ? { url: textIn(body, "url"), secret: textIn(body, "secret_token") } : null;
      return { status: 200, body: { ok: true, result: true, description: "Webhook was set" } };
    }
    if (method === "getWebhookInfo") {
      return { status: 200, body: { ok: true, result: { url: self.webhook?.url ?? "", pending_update_count: 0 } } };
    }
    if (method === "getMe") {
      return { status: 200, body: { ok: true, result: { id: 123_456, is_bot: true, first_name: "Parley" } } };
    }
    if (method !== "getFile") return refusal({ status: 404 });
    const found = files.get(String(body.file_id));
    if (!found) return refusal({ status: 400 }, "Bad Request: invalid file_id");
    const result = { file_id: body.file_id, file_size: found.bytes.length, file_path: found.path };
    return { status: 200, body: { ok: true, result } };
  }

  function sendFile(response: ServerResponse, path: string): void {
    const found = [...files.values()].find((file) => file.path === path);
    log(`file ${path} -> ${found ? 200 : 404}`);
    if (found) response.writeHead(200, { "Content-Type": found.type, "Content-Length": found.bytes.length });
    else response.writeHead(404, { "Content-Type": "application/json" });
    response.end(found?.bytes ?? JSON.stringify(refusal({ status: 404 }).body));
  }

  async function post(update: Fields): Promise<number> {
    if (!self.webhook) throw new Error("no webhook is set");
    const headers = {
      "Content-Type": "application/json",
      "X-Telegram-Bot-Api-Secret-Token": self.webhook.secret,
    };
    const response = await fetch(self.webhook.url, { method: "POST", headers, body: JSON.stringify(update) });
    await response.body?.cancel();
    log(`update ${JSON.stringify(update)} -> ${response.status}`);
    return response.status;
  }

  const self: TelegramServer = {
    base: "",
    calls: [],
    webhook: null,
    faults: [],
    weather: null,
    deliver(fields) {
      const from = { id: 42, is_bot: false, first_name: "Ann" };
      const chat = { id: 42, type: "private", first_name: "Ann" };
      const message = { message_id: ++lastMessage, date: now(), from, chat, ...fields };
      lastSent = { update_id: ++lastUpdate, message };
      return post(lastSent);
    },
    async repeat() {
      if (!lastSent) throw new Error("no update was sent yet");
      return post(lastSent);
    },
    close: () => close(server),
  };
  self.base = await listen(server, port);
  return self;
}

function refusal({ status, parameters }: Exclude<Fault, string>, description?: string) {
  const text = description ?? DESCRIPTIONS[status] ?? `Error ${status}`;
  return { status, body: { ok: false, error_code: status, description: text, ...(parameters && { parameters }) } };
}

/** Telegram's error for a send, as far as the fake knows it. */
function wrongIn(body: Fields, field: string): string | null {
  if (!/^-?\d+$/.test(String(body.chat_id))) return "chat not found";
  if (textIn(body, field).trim() === "") return field === "text" ? "message text is empty" : `there is no ${field}`;
  if (textIn(body, "text").length > 4_096) return "message is too long";
  if (textIn(body, "caption").length > 1_024) return "message caption is too long";
  return field === "text" || textIn(body, field).startsWith("https://") ? null : "wrong HTTP URL specified";
}

function now(): number {
  return Math.floor(Date.now() / 1_000);
}

/** Runs a typed line, and returns the text to print. */
async function obey(line: string, server: TelegramServer): Promise<string> {
  const [command = "", first = "", ...more] = line.split(" ");
  const rest = more.join(" ");
  if (!line.startsWith("/")) await server.deliver({ text: line });
  else if (command === "/from") {
    const group = first.startsWith("-") ? { type: "group", title: `Group ${first}` } : { type: "private" };
    await server.deliver({ chat: { id: Number(first), first_name: `Contact ${first}`, ...group }, text: rest });
  } else if (command === "/photo") {
    const photo = [{ file_id: "P1", file_unique_id: "U1", width: 1, height: 1 }];
    await server.deliver({ photo, ...(first && { caption: line.slice("/photo ".length) }) });
  } else if (command === "/update") await server.deliver(JSON.parse(line.slice("/update ".length)) as Fields);
  else if (command === "/again") await server.repeat();
  else if (command === "/hook") server.webhook = { url: first, secret: rest };
  else if (command === "/drop" || command === "/hang") server.faults.push(command === "/drop" ? "drop" : "hang");
  else if (command === "/next" && /^[2-5]\d\d$/.test(first)) {
    const status = Number(first);
    const name = status === 400 ? "migrate_to_chat_id" : "retry_after";
    server.faults.push({ status, ...(rest && { parameters: { [name]: Number(rest) } }) });
  } else return HELP;
  return "";
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string" }, token: { type: "string" } } });
  const server = await telegramServer({
    port: Number(values.port ?? 9_100),
    token: values.token ?? "",
    log: (line) => console.log(line),
  });
  console.log(`The Telegram stand-in listens on ${server.base}\n${HELP}`);
  for await (const line of createInterface({ input: process.stdin })) {
    const said = await obey(line.trim(), server).catch((error: unknown) => `! ${String(error)}`);
    if (said) console.log(said);
  }
}
