import * as z from "zod/mini";
import { atMost, httpsUrl, notBlankIfGiven, optional, wellFormed } from "./field.ts";
import { TEXT_KEYS } from "./page-text.ts";

/** When the page asks anonymous visitors for their name and email address. */
export const ASK_CONTACT = ["never", "afterFirst", "whenClosed"] as const;

const MAX_STARTERS = 5;
const MAX_TEXT = 500;
/** Bytes of UTF-8. All texts are in the page. */
const MAX_TEXTS = 8 * 1_024;

const line = (max: number) => z.string().check(notBlankIfGiven, wellFormed, ...atMost(max));

const locale = z.string().check(...atMost(35), z.refine(isLocale, "must be a language tag, such as de or pt-BR"));
const textKey = z
  .string()
  .check(z.refine((key) => TEXT_KEYS.some((known) => known === key), "is not a text of the page"));

/** How the page and the widget look and speak. None of it is stored as a message. */
export const pageSettings = {
  title: optional(line(80)),
  greeting: optional(line(1_000)),
  accentColor: optional(z.string().check(z.regex(/^#[0-9a-fA-F]{6}$/, "must be a color, such as #0d6b5e"))),
  logoUrl: optional(httpsUrl),
  starters: optional(z.array(line(80)).check(z.maxLength(MAX_STARTERS))),
  texts: optional(
    z
      .record(locale, z.record(textKey, line(MAX_TEXT)))
      .check(
        z.refine(
          (texts) => new TextEncoder().encode(JSON.stringify(texts)).length <= MAX_TEXTS,
          `must have at most ${MAX_TEXTS} bytes as JSON`,
        ),
      ),
  ),
  hideWhenClosed: optional(z.boolean()),
  askContact: optional(z.enum(ASK_CONTACT)),
};

export type PageSettings = { [Name in keyof typeof pageSettings]?: z.output<(typeof pageSettings)[Name]> };

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag)[0] === tag;
  } catch {
    return false;
  }
}
