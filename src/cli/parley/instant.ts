import * as chrono from "chrono-node/en";
import { CommandError } from "../command-error.ts";
import { confirm } from "./deletion.ts";

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\S+$/;
/** The clocks of this machine and the service may differ by this much. */
const TOLERANCE_MS = 60_000;

/**
 * The time that an option names, as RFC 3339 in UTC: `in 2 hours`, `tomorrow at 9:00`, `2027-01-31T09:00:00Z`. A time of
 * day without a zone is one of this machine. RFC 3339 goes to the service as it is.
 * @throws CommandError if the text is not a time, or has other words too
 */
export function instantOf(text: string, option: string, now = new Date()): string {
  return readInstant(text, option, now, true);
}

/** Like `instantOf`, for what was: `9:00` is today's, and `Monday` can be the last one. @throws CommandError as it */
export function pastInstantOf(text: string, option: string, now = new Date()): string {
  return readInstant(text, option, now, false);
}

function readInstant(text: string, option: string, now: Date, forwardDate: boolean): string {
  if (RFC_3339.test(text)) return text;
  const [found, ...others] = chrono.parse(text, now, { forwardDate });
  if (!found || others.length > 0 || found.text.length !== text.trim().length) {
    throw new CommandError(
      `--${option} is not a time: ${text}. Try ${forwardDate ? '"in 2 hours", "tomorrow at 9:00"' : '"2 hours ago", "yesterday at 9:00"'} or RFC 3339.`,
      2,
    );
  }
  return found.date().toISOString();
}

/**
 * Asks before the service gets a past time, because it would send the message at once.
 * @throws CommandError unless confirmed
 */
export async function confirmPast(at: string | undefined, yes: boolean | undefined, now = Date.now()): Promise<void> {
  const time = Date.parse(at ?? "");
  if (time < now - TOLERANCE_MS) await confirm(`send the message at once, because ${at} has passed`, yes);
}
