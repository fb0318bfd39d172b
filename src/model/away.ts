import * as z from "zod/mini";
import { atMost, notBlank, wellFormed } from "./field.ts";
import { type OpeningHours, openingAt } from "./opening-hours.ts";

export const MAX_AWAY_TEXT = 1_024;
/** A chat gets no second away message within this time. */
export const AWAY_PAUSE_HOURS = 12;

/** The setting `away` of a channel. */
export const awaySetting = z.object({ text: z.string().check(notBlank, wellFormed, ...atMost(MAX_AWAY_TEXT)) });
export type AwaySetting = z.output<typeof awaySetting>;

/** What a channel answers while it is closed. `until`: when it opens, Unix milliseconds; null if it never does. */
export interface Away {
  text: string;
  until: number | null;
}

/** What a channel answers at `now` (Unix milliseconds); undefined within its hours, and if it has no hours or no text. */
export function awayAt(
  { away, hours }: { away?: AwaySetting | undefined; hours?: OpeningHours | undefined },
  now: number,
): Away | undefined {
  if (!away) return undefined;
  const { isOpen, changesAt } = openingAt(hours, now);
  return isOpen ? undefined : { text: away.text, until: changesAt };
}
