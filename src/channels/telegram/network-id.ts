/**
 * Telegram's id of a message, unique in a channel: Telegram numbers messages by bot and chat, and a channel may be
 * given another bot's token, whose numbers begin anew.
 */
export function networkIdOf(token: string, chat: string, messageId: number | string): string {
  return `${token.split(":", 1)[0]}:${chat}:${messageId}`;
}
