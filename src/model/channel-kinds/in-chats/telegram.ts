import type { ChannelInChats } from "../../channel-description.ts";

export const telegramInChats: ChannelInChats = {
  label: "Telegram",
  icon: "send",
  // Bots have fewer: https://core.telegram.org/bots/api#reactiontypeemoji
  reactions: ["👍", "❤️", "😁", "😱", "😢", "🙏"],
};
