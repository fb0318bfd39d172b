import * as z from "zod/mini";
import { telegramRendering } from "../../model/channel-kinds/telegram.ts";
import { credential, networkSettings } from "../network/spec.ts";
import { takenByTelegram } from "./file-limits.ts";

/** The credentials, settings and addresses of Telegram channels. A contact's address is the id of a Telegram chat. */
export const telegramSpec = {
  // Telegram's form of a bot token: the bot's id, a colon, a secret.
  credentials: z.object({
    botToken: credential(/^\s*\d+:[\w-]{8,}\s*$/, "must be a bot token, such as 123456:ABC-DEF", 128),
  }),
  settings: networkSettings,
  defaults: { perSecond: 25 },
  address(text: string): string | null {
    return /^-?[1-9]\d{0,19}$/.test(text) ? text : null;
  },
  addressError: "must be a chat id: digits without leading zeros, with a leading - for a group",
  renderingOf: telegramRendering,
  takes: takenByTelegram,
};
