import type { Tapped } from "../conversation.ts";
import type { Texts } from "../locales/en.ts";
import type { ChosenFile } from "../session.ts";
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

/** The visitor's actions. `close` is null outside the widget. */
export interface Actions {
  write: (text: string, about?: { choice?: Tapped; replyTo?: string | undefined }) => void;
  react: (seq: number, emoji: string | null) => void;
  typing: () => void;
  sendFiles: (text: string, files: readonly ChosenFile[], replyTo?: string) => void;
  /** Takes back a message with a file that was not sent yet. */
  withdraw: (id: string) => void;
  /** @returns whether there is a connection */
  tellContact: (contact: { name?: string; email?: string }) => boolean;
  /** Whether the visitor was asked for a name and an email address, in this browser. */
  wasAsked: () => boolean;
  setAsked: () => void;
  sendAgain: (id: string) => void;
  loadOlder: () => void;
  close: (() => void) | null;
}
