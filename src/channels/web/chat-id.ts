import { toBase62 } from "../../ids.ts";

const LENGTH = 15;

/**
 * The id of a web chat, derived from the channel and the contact's address: `cht_`, the jurisdiction's letter, which is
 * the channel's own, and the last 15 base62 digits (89 bits) of SHA-256 of `<channelId>\n<address>`.
 *
 * So all the tabs of a visitor, and a later `POST /chats` for the same address, meet in one object before there is a
 * chat, and nothing need be written for a page that was only opened. A channel's id has no line break, so no two pairs
 * are hashed as the same text. The id is no secret: it opens nothing by itself.
 */
export async function webChatId(channelId: string, address: string): Promise<string> {
  const text = new TextEncoder().encode(`${channelId}\n${address}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  const letter = channelId[channelId.indexOf("_") + 1];
  return `cht_${letter}${toBase62(digest, LENGTH)}`;
}
