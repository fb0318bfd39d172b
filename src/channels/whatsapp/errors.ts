import * as z from "zod/mini";
import type { PartRefusal, StatusUpdate } from "../../model/network.ts";
import { lenient, textField } from "../network/lenient.ts";
import { refusalByCloudflare } from "../network/network-response.ts";

/** What follows from an error in the response to a send. */
type Rule = {
  /**
   * `fail`: the message fails permanently, by its own fault or its contact's. `unsure`: it fails too, perhaps by the fault
   * of the account. `pause`: all chats of the channel wait. `once`: retried only once. `break`: the account (token, number,
   * permissions) is refused.
   */
  does: "fail" | "unsure" | "retry" | "once" | "pause" | "break";
  /** The service's own error code. Default: `network_` and Meta's code. */
  code?: string;
  /** How long a retry waits at least. */
  waitMs?: number;
};

/** Meta's error codes. 200 to 299 are permissions, as 10 is. */
const TABLE: readonly [Rule, ...codes: number[]][] = [
  [
    { does: "break" },
    ...[0, 3, 10, 33, 190, 368, 131005, 131031, 131037, 131042, 131045, 131048],
    ...[133000, 133005, 133006, 133008, 133009, 133010, 133015, 133016],
  ],
  // Rate limits of the number, account or app.
  [{ does: "pause" }, 4, 80007, 130429],
  // The message, its template, its contact.
  [{ does: "fail" }, 131008, 131009, 131051, 131052, 131053, 131055, 134100, 134102, 137000],
  [
    { does: "fail", code: "template_rejected" },
    ...[131063, 132000, 132001, 132005, 132007, 132008, 132012, 132015, 132016, 132018, 132068, 132069],
  ],
  [{ does: "fail" }, ...[130403, 130472, 130497, 131021, 131026, 131030, 131049, 131050, 131062]],
  [{ does: "fail", code: "outside_messaging_window" }, 131047],
  [{ does: "retry", waitMs: 6_000 }, 131056],
  // Invalid parameters: of the message, or a number that is wrong in another way than `isNoAccess` knows.
  [{ does: "unsure" }, 100, 135000],
  // "Invalid request or possible server error."
  [{ does: "once" }, 1],
  [{ does: "retry" }, 2, 131000, 131016, 131057, 133004],
  // The account can't send templates for a while, because some had the wrong category.
  [{ does: "retry", waitMs: 3_600_000 }, 131064],
  // The template is being copied to the Marketing Messages API.
  [{ does: "retry", waitMs: 600_000 }, 134101],
];
const RULES: ReadonlyMap<number, Rule> = new Map(
  TABLE.flatMap(([rule, ...codes]) => codes.map((code) => [code, rule])),
);
const BROKEN: Rule = { does: "break" };

const INVALID = 100;
const NO_ACCESS = 33;
const OPTED_OUT = 131050;
const MAX_TEXT = 500;

/** Errors with which Meta refuses media: among others, an upload that it no longer has. */
const ABOUT_MEDIA = new Set([100, 131008, 131009, 131052, 131053].map((code) => `network_${code}`));

/** Meta's error in a response or a status. Other subcodes than 33, such as 2494xxx, ride on any code and say nothing. */
export const metaError = z.object({
  code: z.int(),
  error_subcode: lenient(z.int()),
  type: textField,
  is_transient: lenient(z.boolean()),
  message: textField,
  title: textField,
  error_data: lenient(z.object({ details: textField })),
});
export type MetaError = z.output<typeof metaError>;

export const errorAnswer = z.object({ error: metaError });

/** The rule of an error; undefined for a code that the table lacks. */
function ruleOf(error: MetaError): Rule | undefined {
  const { code } = error;
  if (isNoAccess(error) || (code >= 200 && code <= 299)) return BROKEN;
  return RULES.get(code);
}

/** Whether a 100 is about the channel: the token has no access to the number, or the number's id is another object's. */
function isNoAccess({ code, error_subcode, type, message = "" }: MetaError): boolean {
  if (code !== INVALID) return false;
  return (
    error_subcode === NO_ACCESS || type === "GraphMethodException" || /field \(messages\)|appsecret_proof/.test(message)
  );
}

function codeOf({ code }: MetaError, rule: Rule | undefined): string {
  return rule?.code ?? `network_${code}`;
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
 * The outcome of an error, decided by the table. The HTTP status counts only if the code is unknown. Then it never breaks
 * the channel, because a new code may concern only one recipient, whatever its status.
 */
export function refusalOf(
  error: MetaError,
  { status, afterMs, accessToken }: { status: number; afterMs: number | null; accessToken: string | undefined },
): PartRefusal {
  const rule = ruleOf(error);
  const message = errorText(error, accessToken);
  const code = codeOf(error, rule);
  const later = { outcome: "retry", code, message, afterMs, wholeChannel: rule?.does === "pause" } as const;
  if (rule?.waitMs !== undefined) return { ...later, afterMs: Math.max(rule.waitMs, afterMs ?? 0) };
  if (error.is_transient || rule?.does === "retry" || rule?.does === "pause") return later;
  if (rule?.does === "once") return { ...later, once: true };
  if (rule?.does === "break") return { outcome: "channel_broken", reason: reasonOf(error, message) };
  if (rule) {
    const failed = { outcome: "failed", code, message } as const;
    return rule.does === "unsure" ? { ...failed, unsure: reasonOf(error, message) } : { ...failed, works: true };
  }
  // Probably about the token or the account. The message waits and delays only its own chat.
  const isRefused = status === 401 || status === 403;
  if (isRefused || status === 429 || status >= 500) return { ...later, wholeChannel: status === 429 };
  return status >= 400 ? { outcome: "failed", code, message } : { outcome: "unknown", message };
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
  const rule = ruleOf(error);
  const message = errorText(error);
  const isBroken = rule?.does === "break" && !error.is_transient;
  return { code: codeOf(error, rule), message, ...(isBroken && { broken: reasonOf(error, message) }) };
}

function reasonOf({ code }: MetaError, message: string): string {
  return `${code}: ${message}`;
}
