import type { Adapter } from "../network/adapter.ts";
import { acknowledgeTap, actOnTelegram } from "./acts.ts";
import { inspectBot } from "./inspect.ts";
import { telegramMedia } from "./media.ts";
import { postToTelegram } from "./post.ts";
import { registerWebhook } from "./register.ts";
import { renderForTelegram, type TelegramPart } from "./render.ts";
import { telegramSpec } from "./spec.ts";
import { receiveFromTelegram } from "./webhook.ts";

/** The Telegram Bot API. It sends no delivery statuses, so there is nothing to wait for after an unknown outcome. */
export const telegram: Adapter<TelegramPart> = {
  ...telegramSpec,
  base: { variable: "TELEGRAM_API_BASE", defaultUrl: "https://api.telegram.org" },
  unknownWaitMs: 0,
  render: renderForTelegram,
  post: postToTelegram,
  acts: { kinds: ["react", "typing"], make: actOnTelegram },
  acknowledge: acknowledgeTap,
  receive: receiveFromTelegram,
  registerWebhook,
  inspect: inspectBot,
  media: telegramMedia,
};
