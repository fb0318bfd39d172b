import type { ChannelKind } from "./channel-kind.ts";
import { WHATSAPP_WINDOW_MS } from "./channel-kinds/in-chats/whatsapp.ts";

/** For how long after a contact's message a network takes free text, in milliseconds; absent where it always does. */
const WINDOWS: Partial<Record<ChannelKind, number>> = { whatsapp: WHATSAPP_WINDOW_MS };

/** When a message was written. Both are RFC 3339. */
interface Written {
  createdAt: string;
  /** What its network says; null or absent if it says nothing. */
  networkTime?: string | null | undefined;
}

/** When a contact wrote a message, in Unix milliseconds: by its network's time where that is the earlier one. */
export function wroteAt({ createdAt, networkTime }: Written): number {
  return Math.min(Date.parse(createdAt), Date.parse(networkTime ?? createdAt));
}

/**
 * Until when a chat's network takes free text; null if it always does. Times are Unix milliseconds.
 * @param contactWroteAt when the contact last wrote; null if it never did
 */
export function replyUntil(kind: ChannelKind, createdAt: number, contactWroteAt: number | null): number | null {
  const length = WINDOWS[kind];
  if (length === undefined) return null;
  return contactWroteAt === null ? createdAt : contactWroteAt + length;
}
