import * as z from "zod/mini";
import type { Outcome, StatusUpdate } from "../adapter.ts";

const PAIR_RATE = 131056;
const PAIR_RATE_WAIT_MS = 6_000;
const OUTSIDE_WINDOW = 131047;
/** "Invalid request or possible server error": worth one more try, and no tenth. */
const UNSURE = 1;
/** Meta lifts these by itself, and they concern templates alone: the message waits at least this long. */
const SLOW_WAITS_MS = new Map([
  // The account may send no templates for a while, because some were in the wrong category.
  [131064, 3_600_000],
  // The template is being copied to the Marketing Messages API.
  [134101, 600_000],
]);
const MAX_WORDS = 500;
const MAX_WAIT_MS = 86_400_000;

/** Too fast for the whole number, account or app: all its chats wait, not one of them. */
const THROTTLED = new Set([4, 80007, 130429]);
const TRANSIENT = new Set([UNSURE, 2, 131000, 131016, 131057, 133004]);
/** About this message or this recipient. */
const PERMANENT = new Set([
  100, 130403, 130472, 130497, 131008, 131009, 131021, 131026, 131030, 131049, 131050, 131051, 131052, 131053, 131055,
  131062, 134100, 134102, 135000, 137000,
]);
const TEMPLATE = new Set([
  131063, 132000, 132001, 132005, 132007, 132008, 132012, 132015, 132016, 132018, 132068, 132069,
]);
/** About the channel: its token, its permissions, its account. 200 to 299 are permissions too. */
const BROKEN = new Set([0, 3, 10, 33, 190, 368, 131005, 131031, 131037, 131042, 131045, 131048, 133010]);

const text = z.catch(z.optional(z.string()), undefined);

/** An error as Meta tells it, in an answer or in a status. */
export const metaError = z.object({
  code: z.int(),
  message: text,
  title: text,
  error_data: z.catch(z.optional(z.object({ details: text })), undefined),
});
export type MetaError = z.output<typeof metaError>;

export const errorAnswer = z.object({ error: metaError });

type Without<O, K extends PropertyKey> = O extends unknown ? Omit<O, K> : never;
/** An outcome as one call has it: which parts went out before is its caller's to add. */
export type MetaRefusal = Without<Exclude<Outcome, { outcome: "sent" | "moved" }>, "parts">;

/** The stable word for an error: one of ours where a caller can act on it, else the network's number. */
function codeOf({ code }: MetaError): string {
  if (code === OUTSIDE_WINDOW) return "outside_messaging_window";
  return TEMPLATE.has(code) ? "template_rejected" : `network_${code}`;
}

/** The network's own words. Meta quotes a malformed access token in them, so the token is taken out. */
export function wordsOf({ message, title, error_data }: MetaError, accessToken = ""): string {
  const said = [message ?? title, error_data?.details].filter((part) => part).join(": ");
  const safe = accessToken === "" ? said : said.replaceAll(accessToken, "[token]");
  return safe.slice(0, MAX_WORDS).toWellFormed() || "The network gave no reason";
}

/**
 * Decides by Meta's code what an error means for the message. The HTTP status counts only if the code is unknown, and
 * then it never breaks the channel: a code that Meta adds may be about one recipient, whatever its status is.
 */
export function refusalOf(
  error: MetaError,
  { status, afterMs, accessToken }: { status: number; afterMs: number | null; accessToken: string | undefined },
): MetaRefusal {
  const { code } = error;
  const message = wordsOf(error, accessToken);
  const later = { outcome: "retry", code: codeOf(error), message, afterMs, wholeChannel: false } as const;
  if (code === PAIR_RATE) return { ...later, afterMs: Math.max(PAIR_RATE_WAIT_MS, afterMs ?? 0) };
  const slowMs = SLOW_WAITS_MS.get(code);
  if (slowMs !== undefined) return { ...later, afterMs: Math.max(slowMs, afterMs ?? 0) };
  if (code === UNSURE) return { ...later, once: true };
  if (TRANSIENT.has(code)) return later;
  if (THROTTLED.has(code)) return { ...later, wholeChannel: true };
  if (isBroken(code)) return broken(code, message);
  if (code === OUTSIDE_WINDOW || TEMPLATE.has(code) || PERMANENT.has(code)) {
    return { outcome: "failed", code: later.code, message };
  }
  // Most likely about the token or the account: the message waits, and holds its own chat alone.
  const isRefused = status === 401 || status === 403;
  if (isRefused || status === 429 || status >= 500) return { ...later, wholeChannel: status === 429 };
  if (status >= 400) return { outcome: "failed", code: later.code, message };
  return { outcome: "unknown", message };
}

/** What an answer means that holds no error of Meta's. */
export function refusalByStatus(status: number, afterMs: number | null): MetaRefusal {
  // Cloudflare's own two for a request that went out and got no answer, or none that it could read.
  const unanswered = status === 520 || status === 524;
  if (status === 429 || (status >= 500 && !unanswered)) {
    const message = `The network answered ${status}`;
    return { outcome: "retry", code: `http_${status}`, message, afterMs, wholeChannel: status === 429 };
  }
  return { outcome: "unknown", message: `The network answered ${status} with nothing that could be understood` };
}

/** `Retry-After`, seconds or a date, in milliseconds from `now`, at most a day; null when it is absent or neither. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const wish = headers.get("Retry-After") ?? "";
  // `Date.parse` makes a date of nearly every number: an HTTP date has a time in it.
  const at = wish.includes(":") ? Date.parse(wish) : Number.NaN;
  const wait = /^\d{1,9}$/.test(wish) ? Number(wish) * 1_000 : at - now;
  return Number.isNaN(wait) ? null : Math.min(MAX_WAIT_MS, Math.max(0, wait));
}

/** An error as a status tells it: what became of the message, and whether it was the channel that Meta refused. */
export function failureOf(error: MetaError): NonNullable<StatusUpdate["error"]> {
  const message = wordsOf(error);
  return { code: codeOf(error), message, ...(isBroken(error.code) && { broken: reasonOf(error.code, message) }) };
}

function isBroken(code: number): boolean {
  return BROKEN.has(code) || (code >= 200 && code <= 299);
}

function broken(code: number, message: string): MetaRefusal {
  return { outcome: "channel_broken", reason: reasonOf(code, message) };
}

function reasonOf(code: number, message: string): string {
  return `${code}: ${message}`;
}
