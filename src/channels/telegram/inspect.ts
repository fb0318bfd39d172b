import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { Inspection } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { lenient } from "../network/lenient.ts";
import { call } from "./call.ts";
import { UPDATES } from "./register.ts";

const DEADLINE_MS = 10_000;
/** Telegram keeps the last error forever. An older one says nothing about the webhook of today. */
const RECENT_MS = 3_600_000;
const MAX_ERROR = 300;

const webhookInfo = z.object({
  url: z.string(),
  last_error_date: z.optional(z.number()),
  last_error_message: z.optional(z.string()),
  // Absent for Telegram's default: all but a few.
  allowed_updates: lenient(z.array(z.string())),
});

const NOT_BY_DEFAULT = "message_reaction";

/** Asks Telegram for the bot's webhook; never throws. */
export async function inspectBot({ botToken = "" }: Credentials, network: Network): Promise<Inspection> {
  const answer = await call("getWebhookInfo", {}, botToken, network, AbortSignal.timeout(DEADLINE_MS));
  if (answer.answer === "none") return { answer: "none", description: answer.description };
  if (answer.answer === "refused") {
    const { code, description } = answer;
    // Telegram answers 404 to a text that does not have the form of a token.
    return { answer: code === 401 || code === 404 ? "refused" : "none", description };
  }
  const info = webhookInfo.safeParse(answer.result).data;
  if (!info) return { answer: "none", description: "Telegram's answer could not be understood" };
  const { url, last_error_date: failedAt = 0, last_error_message: error = null } = info;
  const isRecent = failedAt * 1_000 > Date.now() - RECENT_MS;
  const lastError = isRecent && error ? error.slice(0, MAX_ERROR).toWellFormed() : null;
  const isSent = (update: string) => info.allowed_updates?.includes(update) ?? update !== NOT_BY_DEFAULT;
  return { answer: "accepted", webhook: url || null, lastError, unsent: UPDATES.filter((update) => !isSent(update)) };
}
