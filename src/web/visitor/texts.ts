import type { Trouble } from "../shared/files/repeat-upload.ts";
import { chooseLanguage, LANGUAGES, type Language } from "./language.ts";
import { en, type Texts } from "./locales/en.ts";
import type { LinkState } from "./session-view.ts";

const TIMEOUT_MS = 5_000;

/** What a company says in other words, by locale and name. */
type OwnTexts = Readonly<Record<string, Partial<Record<string, string>>>>;

interface Chosen {
  language: string;
  locale: string;
  texts: Texts;
}

/**
 * The texts of the first of the visitor's languages that the page or the company has. The company's replace the page's;
 * what it lacks in a language of its own is in English.
 */
export async function chooseTexts(requested: readonly (string | null)[], own: OwnTexts): Promise<Chosen> {
  const ownLanguages = Object.keys(own).map((locale) => locale.split("-")[0] ?? locale);
  const chosen = chooseLanguage<string>(requested, [...LANGUAGES, ...ownLanguages]);
  const shipped = LANGUAGES.find((known) => known === chosen.language);
  const { language, texts } = shipped ? await textsIn(shipped) : { language: chosen.language, texts: en };
  // Times in Traditional Chinese would not fit the page's texts, which are in Simplified Chinese.
  const isWhole = language === chosen.language && (language !== "zh" || own[chosen.locale]);
  const locale = isWhole ? chosen.locale : language;
  return { language, locale, texts: { ...texts, ...own[language], ...own[locale] } };
}

/** Loads the texts of a language. Returns the English ones if that fails. */
async function textsIn(language: Language): Promise<{ language: Language; texts: Texts }> {
  const english = { language: "en", texts: en } as const;
  if (language === "en") return english;
  try {
    const response = await fetch(`/web-assets/${language}.json`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    // A file of an older version may lack a text.
    return { language, texts: { ...en, ...((await response.json()) as Partial<Texts>) } };
  } catch {
    return english;
  }
}

/** Fills the `{placeholders}` of a text. */
export function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Why a message was refused: in the visitor's language if the code is known, else the server's text. */
export function refusalReason(trouble: Trouble, texts: Texts, locale: string): string {
  if (trouble.retryAfter !== null) return fill(texts.rate, { time: waitOf(trouble.retryAfter, locale) });
  if (["chat_full", "chat_backlog", "chat_limit"].includes(trouble.code)) return texts.full;
  if (trouble.code === "upload_failed") return texts.uploadFailed;
  if (trouble.code === "file_gone") return texts.fileGone;
  return trouble.message || texts.refused;
}

const FINAL_TEXTS = { 4401: "wrongIdentity", 4403: "wrongOrigin", 4404: "noChannel" } as const;

/** The state of the connection in words, or null while it works. */
export function linkText(link: LinkState, texts: Texts): string | null {
  return link === "online" ? null : texts[typeof link === "number" ? FINAL_TEXTS[link] : link];
}

/** What the visitor can do after a final close code, else null. */
export function helpText(link: LinkState, texts: Texts): string | null {
  return typeof link === "number" ? texts[`${FINAL_TEXTS[link]}Help` as const] : null;
}

/** A duration in words: seconds up to 90 seconds, minutes up to 90 minutes, then hours. */
function waitOf(seconds: number, locale: string): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole <= 90) return amount(whole, "second", locale);
  if (whole <= 5_400) return amount(Math.ceil(whole / 60), "minute", locale);
  return amount(Math.ceil(whole / 3_600), "hour", locale);
}

function amount(value: number, unit: string, locale: string): string {
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(value);
}
