/**
 * An id for a Telegram message that is unique in its channel. Telegram numbers messages per bot and chat, and a channel
 * may get the token of another bot, so the id contains both.
 */
export function networkIdOf(token: string, chat: string, messageId: number | string): string {
  return `${token.split(":", 1)[0]}:${chat}:${messageId}`;
}
