/** The languages that the page and the widget speak. */
export const LANGUAGES = ["en", "de", "fr", "es", "ar"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * The first wish that we can meet, and the full locale for dates (`de-AT` writes them as in Austria). English when none
 * can be met; a wish that is no language tag is passed over.
 */
export function chooseLanguage(wishes: readonly (string | null)[]): { language: Language; locale: string } {
  for (const wish of wishes) {
    const locale = canonical(wish);
    const language = LANGUAGES.find((known) => known === locale?.split("-")[0]);
    if (locale && language) return { language, locale };
  }
  return { language: "en", locale: "en" };
}

/** The direction in which a language is written. */
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
