/** Formats the times of a conversation in one locale. */
export interface Times {
  /** The time of day. */
  time: (at: number) => string;
  /** "Today", "Yesterday", a weekday within the last week, else the date. */
  day: (at: number, now: number) => string;
  /** The weekday and the time, for a time within the next days. */
  soon: (at: number) => string;
  /** The full date and time, for a tooltip. */
  full: (at: number) => string;
}

/** The formats of a locale, by default in the visitor's time zone. */
export function timesIn(locale: string, timeZone?: string): Times {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone });
  const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short", timeZone });
  const near = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone });
  const far = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", timeZone });
  const soon = new Intl.DateTimeFormat(locale, { weekday: "long", hour: "numeric", minute: "2-digit", timeZone });
  const old = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const numbers = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit", timeZone });

  /** The number of a calendar day. Not computed from seconds, because days differ in length when clocks change. */
  const dayNumber = (at: number) => Date.parse(`${numbers.format(at)}T00:00:00Z`) / 86_400_000;

  return {
    time: (at) => time.format(at),
    soon: (at) => soon.format(at),
    full: (at) => full.format(at),
    day: (at, now) => {
      const ago = dayNumber(now) - dayNumber(at);
      if (ago === 0 || ago === 1) return capitalize(relative.format(-ago, "day"), locale);
      if (ago > 1 && ago < 7) return capitalize(near.format(at), locale);
      return (ago >= 0 && ago < 300 ? far : old).format(at);
    },
  };
}

/** Whether two times are on the same calendar day for the visitor. */
export function sameDay(one: number, other: number): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

function capitalize(text: string, locale: string): string {
  return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
}
