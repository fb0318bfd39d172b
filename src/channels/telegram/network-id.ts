/**
 * An id for a Telegram message that is unique in its channel. Telegram numbers messages per bot and chat, and a channel
 * may get the token of another bot, so the id contains both.
 */
export function networkIdOf(token: string, chat: string, messageId: number | string): string {
  return `${botOf(token)}:${chat}:${messageId}`;
}

/** Telegram's number of a message; null if the message is not one of this bot in this chat. */
export function messageNumberOf(networkId: string, token: string, chat: string): number | null {
  const start = networkIdOf(token, chat, "");
  const digits = networkId.startsWith(start) ? networkId.slice(start.length) : "";
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}

function botOf(token: string): string | undefined {
  return token.split(":", 1)[0];
}
