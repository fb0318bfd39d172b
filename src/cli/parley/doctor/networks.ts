import { printable } from "../table.ts";

const PATIENCE_MS = 15_000;
/** The version of the Graph API that the service calls. */
export const GRAPH = "v24.0";

/** What a network says when it is asked with a channel's own secret. */
export type NetworkAnswer =
  | { answer: "works"; webhook: string | null; trouble: string | null }
  | { answer: "refused"; said: string }
  | { answer: "none"; said: string };

/** Where the networks are, unless the configuration says otherwise: as their adapters have it. */
export const BASES = {
  telegram: { variable: "TELEGRAM_API_BASE", usual: "https://api.telegram.org" },
  whatsapp: { variable: "WHATSAPP_API_BASE", usual: "https://graph.facebook.com" },
} as const;

/** Asks Telegram where the bot's updates go. The token is in the address: no error's own text is passed on. */
export async function askTelegram(base: string, token: string): Promise<NetworkAnswer> {
  const asked = await ask(`${base.replace(/\/+$/, "")}/bot${token}/getWebhookInfo`, {});
  if (!asked) return { answer: "none", said: "Telegram did not answer" };
  const { status, body } = asked;
  const secret = token.slice(token.indexOf(":") + 1);
  if (status === 401 || status === 404) {
    return {
      answer: "refused",
      said: `Telegram answered ${status} ${textOf(body.description)}`.replaceAll(secret, "…"),
    };
  }
  const { url, last_error_message: last } = (body.result ?? {}) as Record<string, unknown>;
  if (status !== 200 || typeof url !== "string") return { answer: "none", said: `Telegram answered ${status}` };
  return { answer: "works", webhook: url || null, trouble: last ? textOf(last) : null };
}

/** Asks Meta where what comes for a number goes: the number's own address, that of its account, or the app's. */
export async function askWhatsApp(base: string, phoneNumberId: string, token: string): Promise<NetworkAnswer> {
  const url = `${base.replace(/\/+$/, "")}/${GRAPH}/${phoneNumberId}?fields=webhook_configuration`;
  const asked = await ask(url, { Authorization: `Bearer ${token}`, "User-Agent": "Parley" });
  if (!asked) return { answer: "none", said: "Meta did not answer" };
  const { status, body } = asked;
  const error = (body.error ?? {}) as Record<string, unknown>;
  if (status === 401 || error.code === 190) {
    return { answer: "refused", said: `Meta answered ${status} ${textOf(error.message)}`.replaceAll(token, "…") };
  }
  if (status !== 200) return { answer: "none", said: `Meta answered ${status} ${textOf(error.message)}` };
  const set = (body.webhook_configuration ?? {}) as Record<string, unknown>;
  const webhook = set.phone_number || set.whatsapp_business_account || set.application;
  return { answer: "works", webhook: webhook ? textOf(webhook) : null, trouble: null };
}

/** Null where nothing came that is JSON. */
async function ask(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; body: Record<string, unknown> } | null> {
  try {
    // Followed, a redirect would show the token to another.
    const init = { headers, redirect: "manual" as const, signal: AbortSignal.timeout(PATIENCE_MS) };
    const response = await fetch(url, init);
    const body: unknown = await response.json();
    return { status: response.status, body: typeof body === "object" && body !== null ? { ...body } : {} };
  } catch {
    return null;
  }
}

function textOf(value: unknown): string {
  return printable(typeof value === "string" ? value : "").slice(0, 300);
}
