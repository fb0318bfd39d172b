/** How the times of a conversation are written in one locale. */
export interface Times {
  /** The time of day. */
  time: (at: number) => string;
  /** "today", "yesterday", a weekday within the last days, else the date. */
  day: (at: number, now: number) => string;
  /** Date and time in full, for whoever points at a time. */
  full: (at: number) => string;
}

/** The formats of `locale`, in the visitor's own time zone unless another is given. */
export function timesIn(locale: string, timeZone?: string): Times {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone });
  const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short", timeZone });
  const near = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone });
  const far = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", timeZone });
  const old = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const numbers = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit", timeZone });

  /** Days since 1970 of the calendar day that `at` falls on: never 86,400 seconds apart where clocks change. */
  const dayNumber = (at: number) => Date.parse(`${numbers.format(at)}T00:00:00Z`) / 86_400_000;

  return {
    time: (at) => time.format(at),
    full: (at) => full.format(at),
    day: (at, now) => {
      const ago = dayNumber(now) - dayNumber(at);
      if (ago === 0 || ago === 1) return capitalize(relative.format(-ago, "day"), locale);
      if (ago > 1 && ago < 7) return capitalize(near.format(at), locale);
      return (ago >= 0 && ago < 300 ? far : old).format(at);
    },
  };
}

/** Whether two moments fall on one calendar day of the visitor. */
export function sameDay(one: number, other: number): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

function capitalize(text: string, locale: string): string {
  return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
}
