import { splitPlaceholders } from "./placeholder.ts";

/** A saved reply is a text that whoever writes a message fills in and changes. Networks don't know it. */

/** How many an organization can have. */
export const MAX_REPLIES = 1_000;
export const MAX_REPLY_NAME = 80;
export const MAX_SHORTCUT = 32;

/** What a client fills in, each with `|` and words for where there is none: `{{metadata.order|your order}}`. */
const PLACEHOLDER = /^(?:contact\.name|member\.name|metadata\.[^|\s][^|]{0,39})\s*(?:\||$)/;
/** How much of an unknown placeholder an error repeats. */
const MAX_SHOWN = 60;

/** What is wrong with the placeholders of a reply's content, for an error; null if nothing is. */
export function placeholderFault(content: string): string | null {
  const parts = splitPlaceholders(content);
  if (!parts) return "has a placeholder that is not closed";
  const unknown = parts.find((part) => "name" in part && !PLACEHOLDER.test(part.name));
  if (!unknown || !("name" in unknown)) return null;
  const shown = JSON.stringify(`{{${unknown.name.slice(0, MAX_SHOWN)}}}`);
  return `has the unknown placeholder ${shown}. Known are {{contact.name}}, {{member.name}} and {{metadata.<key>|words if empty}}`;
}
