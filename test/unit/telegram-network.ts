import type { Network, Outbound } from "../../src/channels/adapter.ts";
import type { Reply } from "./fake-network.ts";

export const TOKEN = "123456:AAH-secret_part-of_the_token";
export const credentials = { botToken: TOKEN };
export const network: Network = { base: "https://telegram.test" };

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

/** A message to send, a text unless told otherwise. `text` is `content` unless it is given. */
export function outbound(fields: Partial<Outbound> = {}): Outbound {
  const content = fields.content ?? "Hi";
  return {
    chatId: "cht_g0123456789ABCDE",
    messageId: "msg_g0123456789ABCDE",
    address: "42",
    type: "TEXT",
    content,
    mediaUrl: null,
    text: content,
    template: null,
    partsSent: [],
    ...fields,
  };
}
