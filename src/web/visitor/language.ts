/** The languages of the page and the widget. */
export const LANGUAGES = ["en", "ar", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "tr", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];

const RIGHT_TO_LEFT = ["ar", "fa", "he", "ur"];

/**
 * Chooses the first supported language, and its full locale for dates (`de-AT`). English if none is supported. Ignores
 * malformed language tags. @param languages the supported ones
 */
export function chooseLanguage<T extends string = Language>(
  requested: readonly (string | null)[],
  languages: readonly (Language | T)[] = LANGUAGES,
): { language: Language | T; locale: string } {
  for (const tag of requested) {
    const locale = canonical(tag);
    const language = languages.find((known) => known === locale?.split("-")[0]);
    if (locale && language) return { language, locale };
  }
  return { language: "en", locale: "en" };
}

export function directionOf(language: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
}

function canonical(tag: string | null): string | undefined {
  try {
    return tag ? Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0] : undefined;
  } catch {
    return undefined;
  }
}
