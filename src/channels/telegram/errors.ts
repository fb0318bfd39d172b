import type { Outcome } from "../adapter.ts";
import type { TelegramAnswer } from "./call.ts";

/**
 * What a refused or unanswered call means for the message.
 *
 * A 429 holds its chat alone. Telegram does not say which limit was met, but the bot's own (30 a second) lies above the
 * channel's pace, so it was nearly always the chat's: one a second, 20 a minute in a group. And its waits reach from a
 * second to hours: one busy chat must not silence the bot. Should it be the bot's, each chat hears so by itself.
 */
export function outcomeOf(
  answer: Exclude<TelegramAnswer, { answer: "ok" }>,
  address: string,
  parts: string[],
): Outcome {
  const message = answer.description;
  if (answer.answer === "none") return { outcome: "unknown", message, parts };
  const { code, afterMs, movedTo } = answer;
  if (code === 401 || code === 404) {
    return { outcome: "channel_broken", reason: `Telegram refuses the bot token: ${message}`, parts };
  }
  // Moved to where it is already: sending again would go round for ever.
  if (code === 400 && movedTo !== null && movedTo !== address) return { outcome: "moved", address: movedTo, parts };
  if (code === 408 || code === 429 || code < 400 || code >= 500) {
    return { outcome: "retry", code: `network_${code}`, message, afterMs, wholeChannel: false, parts };
  }
  return { outcome: "failed", code: code === 403 ? "contact_unreachable" : `network_${code}`, message, parts };
}
