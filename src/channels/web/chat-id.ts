import { toBase62 } from "../../model/id.ts";

const LENGTH = 15;

/**
 * The id of a web chat, derived from the channel and the contact's address: `cht_`, the channel's jurisdiction letter,
 * and the last 15 base62 digits (89 bits) of the SHA-256 of `<channelId>\n<address>`.
 *
 * Because the id is derived, all tabs of a visitor and a later `POST /chats` for the same address reach the same object
 * before the chat exists, and opening the page writes nothing. A channel's id contains no line break, so no two pairs
 * are hashed as the same text. The id is not a secret: it grants no access.
 */
export async function webChatId(channelId: string, address: string): Promise<string> {
  const text = new TextEncoder().encode(`${channelId}\n${address}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  const letter = channelId[channelId.indexOf("_") + 1];
  return `cht_${letter}${toBase62(digest, LENGTH)}`;
}
