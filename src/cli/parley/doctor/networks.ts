import { printable } from "../table.ts";

const TIMEOUT_MS = 15_000;
/** The version of the Graph API that the service calls. */
export const GRAPH = "v24.0";

/** A network's answer to a request with a channel's secret. `reason` is for people. */
export type NetworkAnswer =
  | { answer: "works"; webhook: string | null; lastError: string | null }
  | { answer: "refused"; reason: string }
  | { answer: "none"; reason: string };

/** The networks' addresses, and the variables that replace them. The same as in their adapters. */
export const BASES = {
  telegram: { variable: "TELEGRAM_API_BASE", defaultUrl: "https://api.telegram.org" },
  whatsapp: { variable: "WHATSAPP_API_BASE", defaultUrl: "https://graph.facebook.com" },
} as const;

/** Asks Telegram for the bot's webhook. Errors of fetch are not shown, because the address contains the token. */
export async function askTelegram(base: string, token: string): Promise<NetworkAnswer> {
  const response = await getJson(`${base.replace(/\/+$/, "")}/bot${token}/getWebhookInfo`, {});
  if (!response) return { answer: "none", reason: "Telegram did not answer" };
  const { status, body } = response;
  const secret = token.slice(token.indexOf(":") + 1);
  if (status === 401 || status === 404) {
    return {
      answer: "refused",
      reason: `Telegram answered ${status} ${textOf(body.description)}`.replaceAll(secret, "…"),
    };
  }
  const { url, last_error_message: last } = (body.result ?? {}) as Record<string, unknown>;
  if (status !== 200 || typeof url !== "string") return { answer: "none", reason: `Telegram answered ${status}` };
  return { answer: "works", webhook: url || null, lastError: last ? textOf(last) : null };
}

/** Asks Meta for the webhook of a phone number: the number's own, else its account's, else the app's. */
export async function askWhatsApp(base: string, phoneNumberId: string, token: string): Promise<NetworkAnswer> {
  const url = `${base.replace(/\/+$/, "")}/${GRAPH}/${phoneNumberId}?fields=webhook_configuration`;
  const response = await getJson(url, { Authorization: `Bearer ${token}`, "User-Agent": "Parley" });
  if (!response) return { answer: "none", reason: "Meta did not answer" };
  const { status, body } = response;
  const error = (body.error ?? {}) as Record<string, unknown>;
  if (status === 401 || error.code === 190) {
    return { answer: "refused", reason: `Meta answered ${status} ${textOf(error.message)}`.replaceAll(token, "…") };
  }
  if (status !== 200) return { answer: "none", reason: `Meta answered ${status} ${textOf(error.message)}` };
  const set = (body.webhook_configuration ?? {}) as Record<string, unknown>;
  const webhook = set.phone_number || set.whatsapp_business_account || set.application;
  return { answer: "works", webhook: webhook ? textOf(webhook) : null, lastError: null };
}

/** Returns null without an answer in JSON. */
async function getJson(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; body: Record<string, unknown> } | null> {
  try {
    // A redirect is not followed, because it would send the token to another server.
    const init = { headers, redirect: "manual" as const, signal: AbortSignal.timeout(TIMEOUT_MS) };
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
