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

/**
 * What fills a placeholder: by `contact.name`, `member.name` or `metadata.<key>`. Null, blank or missing: there is no
 * value.
 */
export type ReplyValues = Readonly<Record<string, string | null>>;

/**
 * Fills in a reply. A placeholder without a value becomes its words; without words too, it stays as it is written. What
 * is filled in is text: placeholders in it stay.
 */
export function fillReply(content: string, values: ReplyValues): string {
  const parts = splitPlaceholders(content) ?? [{ literal: content }];
  return parts
    .map((part) => {
      if ("literal" in part) return part.literal;
      const { key, words } = readPlaceholder(part.name);
      // Own properties only: a key of metadata can have any name.
      const value = Object.hasOwn(values, key) ? values[key] : null;
      return value?.trim() ? value : (words ?? `{{${part.name}}}`);
    })
    .join("");
}

/** What a reply's known placeholders name, each once, in the order of their first use; nothing if one is not closed. */
export function replyKeys(content: string): string[] {
  const names = (splitPlaceholders(content) ?? []).flatMap((part) => ("name" in part ? [part.name] : []));
  return [...new Set(names.filter((name) => PLACEHOLDER.test(name)).map((name) => readPlaceholder(name).key))];
}

/** What a placeholder names, and its words for where there is no value; null without a `|`. */
function readPlaceholder(placeholder: string): { key: string; words: string | null } {
  const [key = "", ...words] = placeholder.split("|");
  return { key: key.trim(), words: words.length > 0 ? words.join("|").trim() : null };
}
