import type { PartRefusal } from "../../model/network.ts";
import type { TelegramAnswer } from "./call.ts";

const UNREACHABLE = "contact_unreachable";

/**
 * What Telegram's descriptions of a 400 or a 403 are about, whose code alone says nothing. What the table lacks may be about
 * the bot, so it does not show that the channel works. `code`: the service's own error code.
 * @see https://github.com/tdlib/telegram-bot-api
 */
const TABLE: readonly { text: RegExp; code?: string }[] = [
  // The contact.
  {
    text: /chat not found|PEER_ID_INVALID|can't initiate conversation|was blocked|is deactivated|was kicked|not a member|chat was deleted/i,
    code: UNREACHABLE,
  },
  // A group or one of its topics. It stays closed to the bot until an administrator opens it.
  { text: /TOPIC_CLOSED|not enough rights|have no rights|need administrator rights/i },
  // The message.
  {
    text: /too (big|long)|is empty|HTTP URL|type of the web page|file identifier|can't parse|PHOTO_|IMAGE_|BUTTON_|message .*not found|chat was upgraded/i,
  },
];

const NO_TOPIC = /message thread not found|TOPIC_DELETED/i;

/**
 * Why a part was not sent, from a refused or unanswered call.
 *
 * A 429 delays only its own chat. Telegram does not say which limit was exceeded. The bot's limit (30 per second) is above
 * the channel's default pace, so it is nearly always the chat's limit: 1 per second, or 20 per minute in a group.
 * Telegram's waits range from a second to hours, and one busy chat must not stop the bot. If the bot's limit was exceeded,
 * each chat receives its own 429.
 */
export function refusalOfAnswer(
  answer: Exclude<TelegramAnswer, { answer: "ok" }>,
  address: string,
  topic?: string,
): PartRefusal {
  if (answer.answer === "none") return answer.refusal;
  const message = answer.description;
  const { code, afterMs, movedTo } = answer;
  if (code === 401 || code === 404) {
    return { outcome: "channel_broken", reason: `Telegram refuses the bot token: ${message}` };
  }
  // A new address equal to the current one is ignored: resending would never end.
  if (code === 400 && movedTo !== null && movedTo !== address) return { outcome: "moved", address: movedTo };
  // Telegram looks for the topic before it sends.
  if (code === 400 && topic !== undefined && NO_TOPIC.test(message)) {
    return { outcome: "moved", address, lostTopic: topic };
  }
  if (code === 408 || code === 429 || code < 400 || code >= 500) {
    return { outcome: "retry", code: `network_${code}`, message, afterMs, wholeChannel: false };
  }
  const known = TABLE.find(({ text }) => text.test(message));
  const own = known?.code ?? (code === 403 ? UNREACHABLE : `network_${code}`);
  return { outcome: "failed", code: own, message, ...(known && { works: true }) };
}
