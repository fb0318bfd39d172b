import * as z from "zod/mini";
import type { PartRefusal, StatusUpdate } from "../../model/network.ts";
import { lenient, textField } from "../network/lenient.ts";
import { refusalByCloudflare } from "../network/network-response.ts";

const PAIR_RATE = 131056;
const PAIR_RATE_WAIT_MS = 6_000;
const OUTSIDE_WINDOW = 131047;
const OPTED_OUT = 131050;
/** "Invalid request or possible server error": the cause is unclear, so the message is retried only once. */
const UNCLEAR = 1;
/** Errors about templates that Meta resolves after some time, and how long a message waits at least. */
const TEMPLATE_WAITS_MS = new Map([
  // The account can't send templates for a while, because some had the wrong category.
  [131064, 3_600_000],
  // The template is being copied to the Marketing Messages API.
  [134101, 600_000],
]);
const MAX_TEXT = 500;

/** Rate limits of the phone number, account or app. All chats of the channel wait. */
const THROTTLED = new Set([4, 80007, 130429]);
const TRANSIENT = new Set([UNCLEAR, 2, 131000, 131016, 131057, 133004]);
/** Errors about the message or its recipient. */
const PERMANENT = new Set([
  100,
  130403,
  130472,
  130497,
  131008,
  131009,
  131021,
  131026,
  131030,
  131049,
  OPTED_OUT,
  131051,
  131052,
  131053,
  131055,
  131062,
  134100,
  134102,
  135000,
  137000,
]);
const TEMPLATE = new Set([
  131063, 132000, 132001, 132005, 132007, 132008, 132012, 132015, 132016, 132018, 132068, 132069,
]);
/** Errors about the channel: its token, permissions or account. 200 to 299 are also permissions. */
const BROKEN = new Set([0, 3, 10, 33, 190, 368, 131005, 131031, 131037, 131042, 131045, 131048, 133010]);

/** Errors with which Meta refuses media: among others, an upload that it no longer has. */
const ABOUT_MEDIA = new Set([100, 131008, 131009, 131052, 131053].map((code) => `network_${code}`));

/** Meta's error in a response or a status. */
export const metaError = z.object({
  code: z.int(),
  message: textField,
  title: textField,
  error_data: lenient(z.object({ details: textField })),
});
export type MetaError = z.output<typeof metaError>;

export const errorAnswer = z.object({ error: metaError });

/** The service's error code if a caller can act on it; else `network_` and Meta's code. */
function codeOf({ code }: MetaError): string {
  if (code === OUTSIDE_WINDOW) return "outside_messaging_window";
  return TEMPLATE.has(code) ? "template_rejected" : `network_${code}`;
}

/** Whether an error with the service's code `code` may be about the media of the message. */
export function isAboutMedia(code: string): boolean {
  return ABOUT_MEDIA.has(code);
}

/** Whether an error with the service's code `code` says that the contact takes no marketing. */
export function isOptOut(code: string): boolean {
  return code === `network_${OPTED_OUT}`;
}

/** Meta's text of an error. Meta quotes a malformed access token in it, so the token is removed. */
export function errorText({ message, title, error_data }: MetaError, accessToken = ""): string {
  const full = [message ?? title, error_data?.details].filter((part) => part).join(": ");
  const safe = accessToken === "" ? full : full.replaceAll(accessToken, "[token]");
  return safe.slice(0, MAX_TEXT).toWellFormed() || "The network gave no reason";
}

/**
 * The outcome of an error, decided by Meta's code. The HTTP status counts only if the code is unknown. Then it never
 * breaks the channel, because a new code may concern only one recipient, whatever its status.
 */
export function refusalOf(
  error: MetaError,
  { status, afterMs, accessToken }: { status: number; afterMs: number | null; accessToken: string | undefined },
): PartRefusal {
  const { code } = error;
  const message = errorText(error, accessToken);
  const later = { outcome: "retry", code: codeOf(error), message, afterMs, wholeChannel: false } as const;
  if (code === PAIR_RATE) return { ...later, afterMs: Math.max(PAIR_RATE_WAIT_MS, afterMs ?? 0) };
  const templateWaitMs = TEMPLATE_WAITS_MS.get(code);
  if (templateWaitMs !== undefined) return { ...later, afterMs: Math.max(templateWaitMs, afterMs ?? 0) };
  if (code === UNCLEAR) return { ...later, once: true };
  if (TRANSIENT.has(code)) return later;
  if (THROTTLED.has(code)) return { ...later, wholeChannel: true };
  if (isBroken(code)) return broken(code, message);
  if (code === OUTSIDE_WINDOW || TEMPLATE.has(code) || PERMANENT.has(code)) {
    return { outcome: "failed", code: later.code, message };
  }
  // Probably about the token or the account. The message waits and delays only its own chat.
  const isRefused = status === 401 || status === 403;
  if (isRefused || status === 429 || status >= 500) return { ...later, wholeChannel: status === 429 };
  if (status >= 400) return { outcome: "failed", code: later.code, message };
  return { outcome: "unknown", message };
}

/** The outcome of a response without an error of Meta. */
export function refusalByStatus(status: number, afterMs: number | null): PartRefusal {
  const unanswered = refusalByCloudflare(status);
  if (unanswered) return unanswered;
  if (status === 429 || status >= 500) {
    const message = `The network answered ${status}`;
    return { outcome: "retry", code: `http_${status}`, message, afterMs, wholeChannel: status === 429 };
  }
  return { outcome: "unknown", message: `The network answered ${status} with a response that could not be understood` };
}

/** The error of a FAILED status, with `broken` if Meta refused the channel itself. */
export function failureOf(error: MetaError): NonNullable<StatusUpdate["error"]> {
  const message = errorText(error);
  return { code: codeOf(error), message, ...(isBroken(error.code) && { broken: reasonOf(error.code, message) }) };
}

function isBroken(code: number): boolean {
  return BROKEN.has(code) || (code >= 200 && code <= 299);
}

function broken(code: number, message: string): PartRefusal {
  return { outcome: "channel_broken", reason: reasonOf(code, message) };
}

function reasonOf(code: number, message: string): string {
  return `${code}: ${message}`;
}
