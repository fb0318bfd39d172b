import type { PartRefusal } from "../../model/network.ts";
import type { TelegramAnswer } from "./call.ts";

/**
 * Why a part was not sent, from a refused or unanswered call.
 *
 * A 429 delays only its own chat. Telegram does not say which limit was exceeded. The bot's limit (30 per second) is above
 * the channel's default pace, so it is nearly always the chat's limit: 1 per second, or 20 per minute in a group.
 * Telegram's waits range from a second to hours, and one busy chat must not stop the bot. If the bot's limit was exceeded,
 * each chat receives its own 429.
 */
export function refusalOfAnswer(answer: Exclude<TelegramAnswer, { answer: "ok" }>, address: string): PartRefusal {
  if (answer.answer === "none") return answer.refusal;
  const message = answer.description;
  const { code, afterMs, movedTo } = answer;
  if (code === 401 || code === 404) {
    return { outcome: "channel_broken", reason: `Telegram refuses the bot token: ${message}` };
  }
  // A new address equal to the current one is ignored: resending would never end.
  if (code === 400 && movedTo !== null && movedTo !== address) return { outcome: "moved", address: movedTo };
  if (code === 408 || code === 429 || code < 400 || code >= 500) {
    return { outcome: "retry", code: `network_${code}`, message, afterMs, wholeChannel: false };
  }
  return { outcome: "failed", code: code === 403 ? "contact_unreachable" : `network_${code}`, message };
}
