import * as z from "zod/mini";
import type { PartRefusal } from "../../model/network.ts";
import type { FilesPort, Network } from "../network/adapter.ts";
import { lenient } from "../network/lenient.ts";
import { parseJson, readText, refusalByCloudflare, statusText } from "../network/network-response.ts";
import { postFile } from "../network/post-file.ts";
import type { CallFile } from "./render.ts";

/** More than enough for the longest message that Telegram echoes. A longer response is not from Telegram. */
const MAX_ANSWER_BYTES = 256 * 1_024;
const MAX_DESCRIPTION = 300;
const MAX_WAIT_SECONDS = 86_400;

/**
 * Telegram's answer to a call. `none`: no valid answer came. `refusal` is then the outcome of a part: it is unknown
 * whether the call took effect, unless Cloudflare says that it did not reach Telegram.
 */
export type TelegramAnswer =
  | { answer: "ok"; result: unknown; description: string }
  | { answer: "refused"; code: number; description: string; afterMs: number | null; movedTo: string | null }
  | { answer: "none"; description: string; refusal: PartRefusal };

const parameters = z.object({ retry_after: z.optional(z.number()), migrate_to_chat_id: z.optional(z.int()) });

const envelope = z.union([
  z.object({ ok: z.literal(true), result: z.unknown(), description: z.optional(z.string()) }),
  z.object({
    ok: z.literal(false),
    error_code: z.optional(z.int()),
    description: z.optional(z.string()),
    parameters: lenient(parameters),
  }),
]);

/**
 * Calls a method of the Bot API; never throws. The URL contains the token, and the text of an error may contain the URL.
 * So the text of an error is never passed on.
 */
export async function call(
  method: string,
  body: Record<string, unknown>,
  token: string,
  network: Network,
  signal: AbortSignal,
): Promise<TelegramAnswer> {
  try {
    const response = await fetch(urlOf(method, token, network), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      redirect: "manual",
      signal,
    });
    return await readAnswer(response, token, signal);
  } catch {
    return noAnswer(signal.aborted ? "Telegram did not answer in time" : "The connection to Telegram failed");
  }
}

/** Like `call`, with an uploaded file in a field. A refusal: the file could not be sent, or no answer came. */
export function callWithFile(
  method: string,
  body: Record<string, unknown>,
  file: CallFile,
  token: string,
  network: Network,
  signal: AbortSignal,
  files: Pick<FilesPort, "open">,
): Promise<TelegramAnswer | PartRefusal> {
  const fields = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, formValue(value)]));
  const post = { url: urlOf(method, token, network), fields, ...file };
  return postFile(post, files, signal, (response) => readAnswer(response, token, signal));
}

/** Fields of a form are texts. Any other value is written as JSON. */
function formValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function urlOf(method: string, token: string, { base }: Network): string {
  return `${base}/bot${token}/${method}`;
}

async function readAnswer(response: Response, token: string, signal: AbortSignal): Promise<TelegramAnswer> {
  return parseAnswer(response, await readText(response, MAX_ANSWER_BYTES, signal), token);
}

function parseAnswer({ ok, status, headers }: Response, text: string | null, token: string): TelegramAnswer {
  const redirected = status >= 300 && status < 400;
  const parsed = redirected ? undefined : envelope.safeParse(parseJson(text)).data;
  const description = withoutToken(parsed?.description || statusText(status, `Telegram answered ${status}`), token);
  if (parsed?.ok && ok) return { answer: "ok", result: parsed.result, description };
  const error = parsed?.ok === false ? parsed : undefined;
  const unanswered = parsed ? null : refusalByCloudflare(status);
  if (unanswered) return { answer: "none", description, refusal: unanswered };
  const code = error?.error_code ?? status;
  // Without Telegram's JSON, trust only statuses that delay the message or break the channel. A 400 or 403 may come from
  // a proxy, and proves nothing about the message.
  if (error ? code < 300 : !(redirected || [401, 404, 429].includes(code) || code >= 500)) {
    return noAnswer("Telegram's answer could not be understood");
  }
  const seconds = error?.parameters?.retry_after ?? Number.parseInt(headers.get("Retry-After") ?? "", 10);
  const newChatId = error?.parameters?.migrate_to_chat_id;
  return {
    answer: "refused",
    code,
    description,
    afterMs: seconds >= 0 ? Math.min(seconds, MAX_WAIT_SECONDS) * 1_000 : null,
    movedTo: newChatId === undefined ? null : String(newChatId),
  };
}

function noAnswer(message: string): TelegramAnswer {
  return { answer: "none", description: message, refusal: { outcome: "unknown", message } };
}

/** A text of Telegram, truncated, and with the token removed in case it is echoed. */
function withoutToken(text: string, token: string): string {
  const secret = token.slice(token.indexOf(":") + 1);
  return (secret ? text.replaceAll(secret, "…") : text).slice(0, MAX_DESCRIPTION).toWellFormed();
}
