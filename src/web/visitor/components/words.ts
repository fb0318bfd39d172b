import type { Texts } from "../locales/en.ts";
import type { Times } from "../times.ts";

/**
 * How the page speaks: its texts, the locale of its numbers, its times, and the name at its top. `user` is the id under
 * which a user of the site writes; null for an anonymous visitor.
 */
export interface Words {
  texts: Texts;
  locale: string;
  times: Times;
  title: string;
  user: string | null;
}

/** What a visitor can do. `close` is null on a page of its own. */
export interface Actions {
  write: (text: string) => void;
  sendAgain: (id: string) => void;
  loadOlder: () => void;
  close: (() => void) | null;
}
