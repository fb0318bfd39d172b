import * as z from "zod/mini";
import type { TemplateNotice } from "../../model/network.ts";
import { textField } from "../network/lenient.ts";
import { receivedAt } from "../network/received.ts";

/**
 * What Meta reports about templates. A report names only the account of the template, and reports can come in another
 * order than the changes.
 */

/** The statuses that a list has too. After any other event, the list must be read. */
const STATUSES = new Set([
  "APPROVED",
  "PENDING",
  "REJECTED",
  "PAUSED",
  "DISABLED",
  "IN_APPEAL",
  "LIMIT_EXCEEDED",
  "ARCHIVED",
  "PENDING_DELETION",
  "DELETED",
]);
const FIELD = /^(?:message_template_(?:status|quality|components)_update|template_category_update)$/;
const WORD = /^[A-Z_]{1,40}$/;

const entry = z.object({ id: z.string().check(z.regex(/^\d{1,32}$/)), time: z.catch(z.unknown(), undefined) });
const news = z.object({
  message_template_name: z.string().check(z.regex(/^[a-z0-9_]{1,512}$/)),
  message_template_language: z.string().check(z.regex(/^[A-Za-z_-]{2,32}$/)),
  event: textField,
  reason: textField,
  new_category: textField,
  new_quality_score: textField,
});
type News = z.output<typeof news>;

/** Whether a change of a webhook is about a template. */
export function isAboutTemplate(field: string): boolean {
  return FIELD.test(field);
}

/** What a change says about a template; null if it can't be understood. */
export function templateNotice(field: string, value: unknown, from: unknown): TemplateNotice | null {
  const account = entry.safeParse(from).data;
  const read = news.safeParse(value).data;
  if (!account || !read) return null;
  return {
    kind: "template",
    wabaId: account.id,
    name: read.message_template_name,
    // A list has en_US, a webhook also en-US.
    language: read.message_template_language.replace("-", "_"),
    at: receivedAt(account.time),
    change: changeOf(field, read),
  };
}

function changeOf(field: string, read: News): TemplateNotice["change"] {
  const { event = "", reason = "", new_category: category = "", new_quality_score: quality = "" } = read;
  if (field === "template_category_update") return WORD.test(category) ? { category } : null;
  if (field === "message_template_quality_update") return WORD.test(quality) ? { quality } : null;
  if (field !== "message_template_status_update" || !STATUSES.has(event)) return null;
  const isReason = event === "REJECTED" && WORD.test(reason) && reason !== "NONE";
  return { status: event, rejectedReason: isReason ? reason : null };
}
