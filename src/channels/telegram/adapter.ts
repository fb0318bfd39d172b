import type { Adapter } from "../adapter.ts";
import { media } from "./media.ts";
import { registerWebhook } from "./register.ts";
import { partsOf, send } from "./send.ts";
import { form } from "./spec.ts";
import { receive } from "./webhook.ts";

/** The Telegram Bot API. It tells of no delivery and no reading, so nothing is waited for after an unknown outcome. */
export const telegram: Adapter = {
  ...form,
  base: { variable: "TELEGRAM_API_BASE", usual: "https://api.telegram.org" },
  unknownWaitMs: 0,
  partsOf,
  send,
  receive,
  registerWebhook,
  media,
};
