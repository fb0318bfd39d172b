import type { ChannelInChats } from "./channel-description.ts";
import { telegramInChats } from "./channel-kinds/in-chats/telegram.ts";
import { webInChats } from "./channel-kinds/in-chats/web.ts";
import { whatsappInChats } from "./channel-kinds/in-chats/whatsapp.ts";

const kinds = { web: webInChats, whatsapp: whatsappInChats, telegram: telegramInChats };

/** What the console's chats show of each kind of channel. Apart from the descriptions, which it fetches later. */
export const IN_CHATS: Record<keyof typeof kinds, ChannelInChats> = kinds;
