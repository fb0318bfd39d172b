import type { Network } from "../../../../src/channels/network/adapter.ts";
import { telegram as adapter } from "../../../../src/channels/telegram/adapter.ts";
import type { Reply } from "../fake-network.ts";
import { outboundTo, sending } from "../outbound.ts";

export const TOKEN = "123456:AAH-secret_part-of_the_token";
export const credentials = { botToken: TOKEN };
export const network: Network = { base: "https://telegram.test" };
export const outbound = outboundTo("42");
export const telegram = sending(adapter);

/** Telegram's answer to a call that succeeded. */
export function ok(result: unknown, description?: string): Reply {
  return () => Response.json({ ok: true, result, description });
}

/** Telegram's answer to a send that succeeded. */
export function accepted(messageId: number): Reply {
  return ok({ message_id: messageId, date: 1_790_000_000, chat: { id: 42, type: "private" }, text: "Hi" });
}

/** Telegram's refusal, as it writes it. */
export function refused(code: number, description: string, parameters?: Record<string, unknown>): Reply {
  return () => Response.json({ ok: false, error_code: code, description, parameters }, { status: code });
}
