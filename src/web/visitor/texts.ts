import type { Trouble } from "./conversation.ts";
import type { Language } from "./language.ts";
import { en, type Texts } from "./locales/en.ts";
import type { LinkState } from "./session.ts";

const PATIENCE_MS = 5_000;

/** The texts of a language, which are a file of their own but for English; where they don't come, the English ones. */
export async function textsIn(language: Language): Promise<{ language: Language; texts: Texts }> {
  const english = { language: "en", texts: en } as const;
  if (language === "en") return english;
  try {
    const response = await fetch(`/web-assets/${language}.json`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    // A file of another day may lack a text that this script has.
    return { language, texts: { ...en, ...((await response.json()) as Partial<Texts>) } };
  } catch {
    return english;
  }
}

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

/** What the visitor can do about a connection that won't come back; null while there is hope. */
export function helpText(link: LinkState, texts: Texts): string | null {
  switch (link) {
    case 4401:
      return texts.wrongIdentityHelp;
    case 4403:
      return texts.wrongOriginHelp;
    case 4404:
      return texts.noChannelHelp;
    default:
      return null;
  }
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
    case "crowded":
      return texts.crowded;
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
