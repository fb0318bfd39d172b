import * as z from "zod/mini";
import { atMost } from "../../http/fields.ts";
import { pace } from "../form.ts";

/** A contact's address is the id of a chat. */
export const form = {
  // Telegram's own form of a bot token: the bot's id, a colon, a secret.
  credentials: z.object({
    botToken: z.string().check(...atMost(128), z.regex(/^\d+:[\w-]{8,}$/, "must be a bot token, as 123456:ABC-DEF")),
  }),
  settings: pace,
  defaults: { perSecond: 25 },
  address(text: string): string | null {
    return /^-?[1-9]\d{0,19}$/.test(text) ? text : null;
  },
  addressForm: "must be a chat id: digits without leading zeros, with a leading - for a group",
};
