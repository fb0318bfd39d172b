import type { Texts } from "../locales/en.ts";
import type { Times } from "../times.ts";

/**
 * The page's texts, the locale of its numbers, its time formats and its title. `user` is the id of the site's user, or
 * null for an anonymous visitor.
 */
export interface Words {
  texts: Texts;
  locale: string;
  times: Times;
  title: string;
  user: string | null;
}
