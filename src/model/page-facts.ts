import { type OpeningHours, openingAt } from "./opening-hours.ts";
import type { PageSettings } from "./page-settings.ts";

/** What the widget knows of a channel before its page is loaded. */
export interface Appearance {
  isOpen: boolean;
  /** When `isOpen` changes next, RFC 3339; null if it never does. */
  changesAt: string | null;
  hideWhenClosed: boolean;
  title: string;
  accentColor: string | null;
  logoUrl: string | null;
}

/** What of a channel's settings is public on every site. @param now Unix milliseconds */
export function appearanceOf({ name, settings }: Named, now: number): Appearance {
  const { isOpen, changesAt } = openingAt(settings.hours, now);
  return {
    isOpen,
    changesAt: changesAt === null ? null : new Date(changesAt).toISOString(),
    hideWhenClosed: settings.hideWhenClosed ?? false,
    title: settings.title ?? name,
    accentColor: settings.accentColor ?? null,
    logoUrl: settings.logoUrl ?? null,
  };
}

/** What the page itself knows as well. */
export interface PageFacts extends Appearance {
  /** Who can send files. */
  uploads: Uploads;
  greeting: string | null;
  starters: string[];
  texts: NonNullable<PageSettings["texts"]>;
  askContact: NonNullable<PageSettings["askContact"]>;
}

export function pageFactsOf(channel: Named, now: number): PageFacts {
  const { uploads = "everyone", greeting = null, starters = [], texts = {}, askContact = "never" } = channel.settings;
  return { ...appearanceOf(channel, now), uploads, greeting, starters, texts, askContact };
}

interface Named {
  name: string;
  settings: ShownSettings;
}

/** The settings of a channel that its page shows. */
export type ShownSettings = PageSettings & { uploads?: Uploads | undefined; hours?: OpeningHours | undefined };

/** Who can send files in a web channel. `verified`: visitors for whom the site vouches. */
export const UPLOADS = ["off", "verified", "everyone"] as const;
export type Uploads = (typeof UPLOADS)[number];
