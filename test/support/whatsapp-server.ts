/**
 * A small fake of WhatsApp's Cloud API over real HTTP. Set WHATSAPP_API_BASE for the service to its `base`. It accepts
 * messages, and sends signed webhooks with their statuses and with contacts' messages, like Meta.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { ServerInteractiveMessage } from "whatsapp-api-js/types";
import { close, type Fields, listen, type ReceivedFile, readBody, textIn } from "./fake-server.ts";
import { faultsOfWhatsApp } from "./network-limits.ts";

/** An accepted message: its recipient, its text and its id. */
export interface TakenMessage {
  id: string;
  to: string;
  text: string;
  /** The service's id, which statuses return. */
  opaque: string;
  /** The whole request. */
  body: Fields;
  /** The upload that it shows. */
  file: ReceivedFile | null;
}

export interface WhatsAppServer {
  base: string;
  /** What was uploaded, by the id of the upload. It forgets those that a test removes. */
  uploads: Map<string, ReceivedFile>;
  /** The webhooks' secret and address, or null without a listener. */
  webhook: { url: string; appSecret: string; phoneNumberId: string } | null;
  /**
   * Called with each message before the response. "drop" accepts it and closes the connection, "busy" does not accept
   * it.
   */
  weather: ((message: TakenMessage) => Promise<"drop" | "busy" | undefined>) | null;
  /** Sends a status of a message. Returns the webhook's response status. */
  tell(message: TakenMessage, status: "sent" | "delivered" | "read"): Promise<number>;
  /** Sends a contact's text with the network's id `id`. Returns the webhook's response status. */
  deliver(message: { id: string; from: string; text: string }): Promise<number>;
  /** Taps the button or the row with this title. Returns the webhook's response status. */
  tap(message: TakenMessage, title: string): Promise<number>;
  close(): Promise<void>;
}

/** Starts the fake on a free port. It accepts only `token`. */
export async function whatsappServer({ token }: { token: string }): Promise<WhatsAppServer> {
  let last = 0;
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { body, file } = await readBody(request);
    const isUpload = request.method === "POST" && /^\/v\d+\.\d+\/\d+\/media(\?|$)/.test(request.url ?? "");
    const isSend = request.method === "POST" && /^\/v\d+\.\d+\/\d+\/messages(\?|$)/.test(request.url ?? "");
    if (request.headers.authorization !== `Bearer ${token}`) return refuse(response, 401, 190, "Invalid access token");
    if (isUpload) {
      takeUpload(response, body, file);
      return;
    }
    const text = textIn(objectIn(body, "text"), "body");
    const to = textIn(body, "to");
    const faults = faultsOfWhatsApp(body);
    if (!isSend || body.messaging_product !== "whatsapp" || to === "" || faults.length > 0) {
      return refuse(response, 400, 100, `Invalid parameter: ${faults.join(", ")}`);
    }
    const mediaId = mediaIdIn(body);
    const shown = self.uploads.get(mediaId) ?? null;
    if (mediaId !== "" && !shown) return refuse(response, 400, 100, "Invalid parameter: the media does not exist");
    const opaque = textIn(body, "biz_opaque_callback_data");
    const message = { id: `wamid.${++last}`, to, text, opaque, body, file: shown };
    const met = await self.weather?.(message);
    if (met === "drop") return void response.destroy();
    // Too many messages to this contact, so only its chat waits.
    if (met === "busy") return refuse(response, 400, 131_056, "Pair rate limit hit");
    const contacts = [{ input: to, wa_id: to }];
    reply(response, 200, { messaging_product: "whatsapp", contacts, messages: [{ id: message.id }] });
  }

  function takeUpload(response: ServerResponse, body: Fields, file: ReceivedFile | null): void {
    const isWhole = file?.field === "file" && file.size > 0 && file.type === body.type;
    if (!isWhole || body.messaging_product !== "whatsapp") {
      refuse(response, 400, 100, "Invalid parameter: file");
      return;
    }
    const id = String(++last);
    self.uploads.set(id, file);
    reply(response, 200, { id });
  }

  async function post(value: Fields): Promise<number> {
    if (!self.webhook) throw new Error("no webhook is set");
    const { url, appSecret, phoneNumberId } = self.webhook;
    const metadata = { display_phone_number: phoneNumberId, phone_number_id: phoneNumberId };
    const changes = [{ field: "messages", value: { messaging_product: "whatsapp", metadata, ...value } }];
    const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] });
    const signature = createHmac("sha256", appSecret).update(body).digest("hex");
    const headers = { "Content-Type": "application/json", "X-Hub-Signature-256": `sha256=${signature}` };
    const response = await fetch(url, { method: "POST", headers, body });
    await response.body?.cancel();
    return response.status;
  }

  const self: WhatsAppServer = {
    base: "",
    uploads: new Map(),
    webhook: null,
    weather: null,
    tell({ id, to, opaque }, status) {
      const told = { id, status, timestamp: now(), recipient_id: to, biz_opaque_callback_data: opaque };
      return post({ statuses: [told] });
    },
    deliver({ id, from, text }) {
      const contacts = [{ wa_id: from, profile: { name: `Contact ${from}` } }];
      return post({ contacts, messages: [{ id, from, timestamp: now(), type: "text", text: { body: text } }] });
    },
    tap({ id, to, body }, title) {
      const tapped = optionsOf(body).find((option) => option.title === title);
      if (!tapped) throw new Error(`no ${title} in ${id}`);
      const interactive: ServerInteractiveMessage["interactive"] = tapped.isRow
        ? { type: "list_reply", list_reply: { id: tapped.id, title, description: tapped.description ?? "" } }
        : { type: "button_reply", button_reply: { id: tapped.id, title } };
      const contacts = [{ wa_id: to, profile: { name: `Contact ${to}` } }];
      const context = { from: self.webhook?.phoneNumberId, id };
      const tap = { id: `wamid.${++last}`, from: to, timestamp: now(), context, type: "interactive", interactive };
      return post({ contacts, messages: [tap] });
    },
    close: () => close(server),
  };
  self.base = await listen(server, 0);
  return self;
}

function refuse(response: ServerResponse, status: number, code: number, message: string): void {
  reply(response, status, { error: { code, message, type: "OAuthException" } });
}

function reply(response: ServerResponse, status: number, body: Fields): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/** What the contact can tap in a message. */
function optionsOf({ interactive }: Fields) {
  const { action } = (interactive ?? {}) as {
    action?: { buttons?: { reply: Option }[]; sections?: { rows: Option[] }[] };
  };
  const buttons = (action?.buttons ?? []).map(({ reply }) => ({ ...reply, isRow: false }));
  const rows = (action?.sections ?? []).flatMap((section) => section.rows.map((row) => ({ ...row, isRow: true })));
  return [...buttons, ...rows];
}

/** The id of the upload that a message shows, alone or above choices; "" for none. */
function mediaIdIn(body: Fields): string {
  const above = objectIn(objectIn(body, "interactive"), "header");
  const shown = Object.keys(above).length > 0 ? above : body;
  return textIn(objectIn(shown, textIn(shown, "type")), "id");
}

interface Option {
  id: string;
  title: string;
  description?: string;
}

function objectIn(body: Fields, field: string): Fields {
  const value = body[field];
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function now(): string {
  return String(Math.floor(Date.now() / 1_000));
}
