import type { ChannelInChats } from "./channel-description.ts";
import type { ChannelKind } from "./channel-kind.ts";
import { telegramInChats } from "./channel-kinds/in-chats/telegram.ts";
import { webInChats } from "./channel-kinds/in-chats/web.ts";
import { whatsappInChats } from "./channel-kinds/in-chats/whatsapp.ts";

/** What the console's chats show of each kind of channel. Apart from the descriptions, which it fetches later. */
export const IN_CHATS: Record<ChannelKind, ChannelInChats> = {
  web: webInChats,
  whatsapp: whatsappInChats,
  telegram: telegramInChats,
};
