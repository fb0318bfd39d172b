import * as z from "zod/mini";
import type { Network } from "../adapter.ts";
import { parseJson, readText } from "../network-response.ts";

/** Ample for the longest message that Telegram echoes in its answer; what is longer is no answer of Telegram's. */
const MAX_ANSWER_BYTES = 256 * 1_024;
const MAX_DESCRIPTION = 300;
const MAX_WAIT_SECONDS = 86_400;

/** What Telegram said to a call. `none`: nothing came that can be believed, so nobody knows whether it took effect. */
export type TelegramAnswer =
  | { answer: "ok"; result: unknown; description: string }
  | { answer: "refused"; code: number; description: string; afterMs: number | null; movedTo: string | null }
  | { answer: "none"; description: string };

const parameters = z.object({ retry_after: z.optional(z.number()), migrate_to_chat_id: z.optional(z.int()) });

const envelope = z.union([
  z.object({ ok: z.literal(true), result: z.unknown(), description: z.optional(z.string()) }),
  z.object({
    ok: z.literal(false),
    error_code: z.optional(z.int()),
    description: z.optional(z.string()),
    parameters: z.catch(z.optional(parameters), undefined),
  }),
]);

/**
 * One call of a method of the Bot API; never throws. The token is in the address, and an error's own text may hold the
 * address: no text of an error is ever passed on.
 */
export async function call(
  method: string,
  body: Record<string, string | string[]>,
  token: string,
  { base }: Network,
  signal: AbortSignal,
): Promise<TelegramAnswer> {
  try {
    const response = await fetch(`${base}/bot${token}/${method}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      redirect: "manual",
      signal,
    });
    return understood(response, await readText(response, MAX_ANSWER_BYTES, signal), token);
  } catch {
    const description = signal.aborted ? "Telegram did not answer in time" : "The connection to Telegram failed";
    return { answer: "none", description };
  }
}

function understood({ ok, status, headers }: Response, text: string | null, token: string): TelegramAnswer {
  const redirected = status >= 300 && status < 400;
  const said = redirected ? undefined : envelope.safeParse(parseJson(text)).data;
  const description = withoutToken(said?.description || `Telegram answered ${status}`, token);
  if (said?.ok && ok) return { answer: "ok", result: said.result, description };
  const no = said?.ok === false ? said : undefined;
  const code = no?.error_code ?? status;
  // A status alone is believed where only waiting follows: another's 400 or 403 proves nothing about the message.
  if (no ? code < 300 : !(redirected || [401, 404, 429].includes(code) || code >= 500)) {
    return { answer: "none", description: "Telegram's answer could not be understood" };
  }
  const seconds = no?.parameters?.retry_after ?? Number.parseInt(headers.get("Retry-After") ?? "", 10);
  const moved = no?.parameters?.migrate_to_chat_id;
  return {
    answer: "refused",
    code,
    description,
    afterMs: seconds >= 0 ? Math.min(seconds, MAX_WAIT_SECONDS) * 1_000 : null,
    movedTo: moved === undefined ? null : String(moved),
  };
}

/** Text of Telegram's for people to read: short, and free of the token, should it ever be echoed. */
function withoutToken(text: string, token: string): string {
  const secret = token.slice(token.indexOf(":") + 1);
  return (secret ? text.replaceAll(secret, "…") : text).slice(0, MAX_DESCRIPTION).toWellFormed();
}
