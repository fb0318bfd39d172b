import * as z from "zod/mini";
import type { ChannelNews, WarningCode } from "../../model/channel-warning.ts";
import type { AccountNotice } from "../../model/network.ts";
import { lenient, textField } from "../network/lenient.ts";
import { fieldAt } from "./describe.ts";

/**
 * What Meta reports about a WhatsApp Business account and its numbers. A report names only the account, so what it says of
 * one number is asked for again.
 */

const FIELD = /^(?:account_(?:update|alerts)|phone_number_(?:quality|name)_update|business_capability_update)$/;
const WORD = /^[A-Z][A-Z0-9_]{0,60}$/;
const ACCOUNT = /^\d{1,32}$/;

/** The states of an account in which it sends nothing. */
const BREAKS = new Set([
  "ACCOUNT_DELETED",
  "ACCOUNT_OFFBOARDED",
  "DISABLE",
  "PARTNER_APP_UNINSTALLED",
  "PARTNER_REMOVED",
  "RESTRICTED_CUSTOMER_INITIATED_MESSAGING",
]);
const MENDS = new Set(["ACCOUNT_RECONNECTED", "REINSTATE"]);
const WARNS = new Map([
  ["ACCOUNT_VIOLATION", "The account violated a policy of Meta's"],
  ["SCHEDULE_FOR_DISABLE", "Meta will disable the account"],
  ["RESTRICTED_BIZ_INITIATED_MESSAGING", "Meta lets the account send no templates"],
]);
/** Events that carry one of the states above, or say nothing about sending. */
const QUIET =
  /^(?:ACCOUNT_RESTRICTION|DISABLED_UPDATE|VERIFIED_ACCOUNT|AD_ACCOUNT_LINKED|MM_LITE_TERMS_SIGNED|BUSINESS_PRIMARY_|PARTNER_|AUTH_INTL_|VOLUME_BASED_)/;

const report = z.object({
  event: textField,
  decision: textField,
  rejection_reason: textField,
  max_daily_conversations_per_business: lenient(z.union([z.int(), z.string()])),
});

/** Whether a change of a webhook is about an account. */
export function isAboutAccount(field: string): boolean {
  return FIELD.test(field);
}

/** What a change says about an account; null if it can't be understood. */
export function accountNotice(field: string, value: unknown, from: unknown): AccountNotice | null {
  // The entry of a partner's event has the id of the partner.
  const wabaId = [fieldAt(value, "waba_info", "waba_id"), fieldAt(from, "id")]
    .map(String)
    .find((id) => ACCOUNT.test(id));
  const read = report.safeParse(value).data;
  return wabaId !== undefined && read ? { kind: "account", wabaId, news: newsOf(field, read, value) } : null;
}

function newsOf(field: string, { event = "", ...read }: z.output<typeof report>, value: unknown): ChannelNews {
  switch (field) {
    case "account_update":
      return updateOf(event, value);
    case "account_alerts":
      return alertOf(fieldAt(value, "alert_info") ?? value);
    case "phone_number_quality_update":
      return { isAskWorthy: true, ...(event === "FLAGGED" && warning("quality", "Meta flagged a number's quality")) };
    case "phone_number_name_update": {
      const reason = wordOf(read.rejection_reason);
      const isRejected = read.decision === "REJECTED";
      return { isAskWorthy: true, ...(isRejected && warning("name", `Meta rejected a number's name${reason}`)) };
    }
    default:
      return limitOf(read.max_daily_conversations_per_business);
  }
}

function updateOf(event: string, value: unknown): ChannelNews {
  const restrictions = fieldAt(value, "restriction_info");
  const states = [
    event,
    fieldAt(value, "ban_info", "waba_ban_state"),
    ...[restrictions].flat().map((each) => fieldAt(each, "restriction_type")),
  ]
    .flat()
    .filter((each) => typeof each === "string");
  const broken = states.find((each) => BREAKS.has(each));
  if (broken !== undefined) {
    const reason = wordOf(fieldAt(value, "disconnection_info", "reason"));
    return { state: { broken: `Meta reports ${broken}${reason}` } };
  }
  if (states.some((each) => MENDS.has(each))) return { state: "mended", ended: ["account"], isAskWorthy: true };
  const warned = states.find((each) => WARNS.has(each));
  if (warned !== undefined) {
    const violation = wordOf(fieldAt(value, "violation_info", "violation_type"));
    return { isAskWorthy: true, ...warning("account", `${WARNS.get(warned)}${violation}`) };
  }
  const isUnknown = WORD.test(event) && !QUIET.test(event);
  return { isAskWorthy: true, ...(isUnknown && { unknown: { [`account_update.${event}`]: 1 } }) };
}

function alertOf(alert: unknown): ChannelNews {
  const [severity, type, words] = ["severity", "type", "description"].map((part) => fieldAt(alert, `alert_${part}`));
  if (severity !== "CRITICAL" && severity !== "WARNING") return {};
  const text = typeof words === "string" && words.trim() !== "" ? words.trim() : "Meta gives no details";
  return warning("alert", `${text}${wordOf(type)}`);
}

/** -1 and `TIER_UNLIMITED`: no limit. */
function limitOf(told: string | number | undefined): ChannelNews {
  const [, digits, thousands] = /^(?:TIER_)?(\d{1,9})(K?)$/.exec(String(told)) ?? [];
  if (digits !== undefined) return { dailyLimit: Number(digits) * (thousands ? 1_000 : 1) };
  return told === -1 || told === "TIER_UNLIMITED" ? { dailyLimit: null } : { isAskWorthy: true };
}

function warning(code: WarningCode, text: string): Pick<ChannelNews, "warnings"> {
  return { warnings: [{ code, text }] };
}

/** A word of Meta's in brackets, if it is one. */
function wordOf(value: unknown): string {
  return typeof value === "string" && WORD.test(value) && value !== "NONE" ? ` (${value})` : "";
}
