import type { Network } from "../../../../src/channels/network/adapter.ts";
import { whatsapp as adapter } from "../../../../src/channels/whatsapp/adapter.ts";
import type { Reply } from "../fake-network.ts";
import { outboundTo, sending } from "../outbound.ts";

export const TOKEN = "EAAtoken-that-nobody-may-see";
export const APP_SECRET = "app-secret-of-this-test";
export const PHONE_ID = "106540352242922";
export const credentials = { phoneNumberId: PHONE_ID, accessToken: TOKEN, appSecret: APP_SECRET };
export const network: Network = { base: "https://graph.test" };
export const outbound = outboundTo("4915112345678");
export const whatsapp = sending(adapter);

/** Meta's answer to a send that it accepted. */
export function accepted(id: string, contact: { wa_id?: string; user_id?: string } = {}): Reply {
  return () =>
    Response.json({
      messaging_product: "whatsapp",
      contacts: [{ input: "4915112345678", ...contact }],
      messages: [{ id, message_status: "accepted" }],
    });
}

/** Meta's refusal, as it writes it. */
export function refused(
  code: number,
  {
    status = 400,
    message = `(#${code}) No`,
    details,
    ...more
  }: {
    status?: number;
    message?: string;
    details?: string;
    type?: string;
    error_subcode?: number | undefined;
    is_transient?: boolean;
  } = {},
  headers: Record<string, string> = {},
): Reply {
  const error_data = { messaging_product: "whatsapp", details };
  const error = { message, type: "OAuthException", code, error_data, fbtrace_id: "A1b2", ...more };
  return () => Response.json({ error }, { status, headers });
}

/** `X-Hub-Signature-256` as Meta makes it. */
export async function signatureOf(body: string | Uint8Array<ArrayBuffer>, secret = APP_SECRET): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  return `sha256=${new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes)).toHex()}`;
}

/** A webhook's request for `receive`. */
export function webhook(body: string | Uint8Array<ArrayBuffer>, signature: string | null) {
  const headers = new Headers(signature === null ? {} : { "X-Hub-Signature-256": signature });
  const bytes = typeof body === "string" ? new Uint8Array(new TextEncoder().encode(body)) : body;
  return { headers, readBody: async () => bytes };
}

/** The call that Meta makes for these values: one entry and one change for each. */
export function callOf(...values: object[]): string {
  const changes = values.map((value) => ({
    field: "messages",
    value: {
      messaging_product: "whatsapp",
      metadata: { display_phone_number: "15550783881", phone_number_id: PHONE_ID },
      ...value,
    },
  }));
  return JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes }] });
}
