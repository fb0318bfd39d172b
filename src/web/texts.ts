import type { Trouble } from "./conversation.ts";
import type { Language } from "./language.ts";
import { ar } from "./locales/ar.ts";
import { de } from "./locales/de.ts";
import { en, type Texts } from "./locales/en.ts";
import { es } from "./locales/es.ts";
import { fr } from "./locales/fr.ts";
import type { LinkState } from "./session.ts";

/** The page's texts in each language. */
export const TEXTS: Record<Language, Texts> = { en, de, fr, es, ar };

/** A text with its `{placeholder}` filled in. */
export function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Why a message was refused, in the visitor's language where we know the reason, else in the server's own words. */
export function reasonOf(trouble: Trouble, texts: Texts, locale: string): string {
  if (trouble.retryAfter !== null) return fill(texts.rate, { time: waitOf(trouble.retryAfter, locale) });
  if (trouble.code === "chat_full" || trouble.code === "chat_backlog") return texts.full;
  return trouble.message || texts.refused;
}

/** What stands between the visitor and the chat, or null when nothing does. */
export function linkText(link: LinkState, texts: Texts): string | null {
  switch (link) {
    case "online":
      return null;
    case "connecting":
      return texts.connecting;
    case "offline":
      return texts.offline;
    case 4401:
      return texts.wrongIdentity;
    case 4403:
      return texts.wrongOrigin;
    case 4404:
      return texts.noChannel;
  }
}

/** A wait as people say it: seconds up to a minute and a half, minutes up to an hour and a half, then hours. */
function waitOf(seconds: number, locale: string): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole <= 90) return amount(whole, "second", locale);
  if (whole <= 5_400) return amount(Math.ceil(whole / 60), "minute", locale);
  return amount(Math.ceil(whole / 3_600), "hour", locale);
}

function amount(value: number, unit: string, locale: string): string {
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(value);
}
