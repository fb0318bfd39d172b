/** The languages of the page and the widget. */
export const LANGUAGES = ["en", "de", "fr", "es", "ar"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * Chooses the first supported language, and its full locale for dates (`de-AT`). English if none is supported. Ignores
 * malformed language tags.
 */
export function chooseLanguage(requested: readonly (string | null)[]): { language: Language; locale: string } {
  for (const tag of requested) {
    const locale = canonical(tag);
    const language = LANGUAGES.find((known) => known === locale?.split("-")[0]);
    if (locale && language) return { language, locale };
  }
  return { language: "en", locale: "en" };
}

/** The writing direction of a language. */
export function directionOf(language: Language): "ltr" | "rtl" {
  return language === "ar" ? "rtl" : "ltr";
}

function canonical(tag: string | null): string | undefined {
  try {
    return tag ? Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0] : undefined;
  } catch {
    return undefined;
  }
}
