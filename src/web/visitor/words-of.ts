import type { PageFacts } from "../../model/page-facts.ts";
import type { Words } from "./components/words.ts";
import { directionOf } from "./language.ts";
import { chooseTexts } from "./texts.ts";
import { timesIn } from "./times.ts";

/** Loads the texts and sets the document's language. */
export async function wordsOf(requested: string | null, facts: PageFacts): Promise<Omit<Words, "user">> {
  const { language, locale, texts } = await chooseTexts([requested, ...navigator.languages], facts.texts);
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
  return { texts, locale, times: timesIn(locale), title: facts.title || texts.support };
}
