/** The days of a week as `Date.getUTCDay` counts them. */
export const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** Whatever is open for longer than that never closes: the week repeats. */
const HORIZON_DAYS = 9;

/** When a company answers, by the clock of its time zone: times such as `09:00`. A day without an entry is closed. */
export interface OpeningHours {
  timeZone: string;
  week: Partial<Record<(typeof WEEKDAYS)[number], { opens: string; closes: string }[] | undefined>>;
}

/** Whether the company is there, and when that changes (Unix milliseconds; null: never). */
export interface Opening {
  isOpen: boolean;
  changesAt: number | null;
}

/**
 * Whether a company is open at `now` (Unix milliseconds). Without hours it always is.
 * A time that a change of the clocks leaves out counts as the moment of the change; one that comes twice counts when it
 * comes first.
 */
export function openingAt(hours: OpeningHours | undefined, now: number): Opening {
  if (!hours) return { isOpen: true, changesAt: null };
  const { timeZone, week } = hours;
  const offsetAt = offsetsOf(timeZone);
  const today = Math.floor((now + offsetAt(now)) / DAY_MS);
  const periods: { from: number; to: number }[] = [];
  for (let day = today - 1; day <= today + HORIZON_DAYS; day++) {
    for (const { opens, closes } of week[WEEKDAYS[weekdayOf(day)] ?? "sunday"] ?? []) {
      const from = instantOf(day, opens, offsetAt);
      const to = instantOf(day, closes, offsetAt);
      const last = periods.at(-1);
      if (last && from <= last.to) last.to = to;
      else if (from < to) periods.push({ from, to });
    }
    // A later period can't lengthen the one that counts.
    if ((periods.at(-2)?.to ?? 0) > now) break;
  }
  const next = periods.find(({ to }) => to > now);
  if (!next || next.from > now) return { isOpen: false, changesAt: next?.from ?? null };
  const isForever = next.to > now + (HORIZON_DAYS - 1) * DAY_MS;
  return { isOpen: true, changesAt: isForever ? null : next.to };
}

function weekdayOf(day: number): number {
  return new Date(day * DAY_MS).getUTCDay();
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

/** By how many milliseconds a zone's clocks are ahead of UTC at an instant. */
function offsetsOf(timeZone: string): (at: number) => number {
  const fields = { year: "numeric", month: "numeric", day: "numeric" } as const;
  const format = new Intl.DateTimeFormat("en", {
    ...{ timeZone, calendar: "gregory", hourCycle: "h23" },
    ...{ ...fields, hour: "numeric", minute: "numeric", second: "numeric" },
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
  };
}

/** The instant at which a zone's clocks show a time of a day. */
function instantOf(day: number, text: string, offsetAt: (at: number) => number): number {
  const shown = day * DAY_MS + minutesOf(text) * MINUTE_MS;
  // The offset can change once between the two guesses, so one of them is right, or the time is left out.
  const [before, after] = [offsetAt(shown - DAY_MS), offsetAt(shown + DAY_MS)];
  const candidates = [shown - before, shown - after].filter((at) => at + offsetAt(at) === shown);
  return candidates.length > 0 ? Math.min(...candidates) : changeBetween(shown - after, shown - before, offsetAt);
}

/** The minute at which the clocks jump, between two instants. */
function changeBetween(low: number, high: number, offsetAt: (at: number) => number): number {
  const goal = offsetAt(high);
  while (high - low > MINUTE_MS) {
    const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
    if (offsetAt(middle) === goal) high = middle;
    else low = middle;
  }
  return high;
}
