import type { Beside, NetworkDescription } from "../channel-description.ts";
import type { RenderingOf } from "../content.ts";

export const telegramDescription: Beside<NetworkDescription> = {
  about: "A bot. You need its token from @BotFather.",
  network: "Telegram",
  address: "A chat id of Telegram. A bot can’t write first.",
  credentials: [
    { name: "botToken", label: "Bot token", hint: "@BotFather shows it after /newbot or /token.", isSecret: true },
  ],
  webhook: { url: "URL", token: "Secret token", enter: null, isRegistered: true },
  firstMessage: "Open your bot in Telegram and write to it. A bot can’t write first.",
};

/** The error codes of messages that only Telegram refuses. */
export const telegramFailures = { contact_unreachable: "the contact blocked the bot, or never wrote to it" };

/** How Telegram shows choices: buttons below the message. It asks for a location only in a private chat. */
export const telegramRendering: RenderingOf = ({ choices }, { address }) => {
  const [first] = choices;
  if (first?.type === "location") return address.startsWith("-") ? "text" : "keyboard";
  return first?.type === "link" ? "link" : "buttons";
};
