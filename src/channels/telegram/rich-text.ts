import { fields } from "./fields.ts";

const MAX_DEPTH = 24;
/** The most entities that Telegram sends. */
const MAX_ENTITIES = 100;
const MAX_URL = 2_048;
const MEDIA = /^(?:animation|audio|document|photo|video|voice_note|map)$/;

/** A text whose links are readable: the address behind words follows them in brackets. Offsets are in UTF-16 units. */
export function withLinks(text: string, entities: unknown): string {
  if (!Array.isArray(entities)) return text;
  const links = entities
    .slice(0, MAX_ENTITIES)
    .map(fields)
    .map(({ type, url, offset, length }) => ({
      isLink: type === "text_link",
      url,
      // Not by `Number`: it throws on an object that has a `toString` of its own.
      end: typeof offset === "number" && typeof length === "number" ? offset + length : 0,
    }))
    .filter(({ isLink, end }) => isLink && Number.isInteger(end) && end > 0 && end <= text.length)
    .sort((one, other) => other.end - one.end);
  return links.reduce(
    (whole, { url, end }) => whole.slice(0, end) + linkAfter(url, text.slice(0, end)) + whole.slice(end),
    text,
  );
}

/** The address behind words, unless they are the address. */
function linkAfter(url: unknown, before: string): string {
  const isShown = typeof url !== "string" || url === "" || before.endsWith(url);
  return isShown ? "" : ` (${url.slice(0, MAX_URL)})`;
}

/** The words of a rich message, its blocks in lines. Media in it is named. */
export function richWords(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (depth > MAX_DEPTH) return "";
  const words = (each: unknown) => richWords(each, depth + 1);
  if (Array.isArray(value)) return value.map(words).join("");
  const { type, text, alternative_text, expression, button, url, label, summary, blocks, items, cells, ...rest } =
    fields(value);
  const inline = words(text ?? alternative_text ?? expression ?? button ?? "");
  const rows = Array.isArray(cells) ? cells.map((row) => linesOf(row, words, " | ")) : [];
  const inner = [blocks, items, rest.buttons].map((each) => linesOf(each, words, "\n"));
  const media = typeof type === "string" && MEDIA.test(type) ? `[${type.replaceAll("_", " ")}]` : "";
  return [
    ...[words(summary ?? ""), `${inline}${linkAfter(url, inline)}`, media, ...rows],
    [words(label ?? ""), inner.filter(Boolean).join("\n")].filter(Boolean).join(" "),
    ...[words(rest.caption ?? ""), words(rest.credit ?? "")],
  ]
    .filter(Boolean)
    .join("\n");
}

function linesOf(list: unknown, words: (each: unknown) => string, separator: string): string {
  return Array.isArray(list) ? list.map(words).filter(Boolean).join(separator) : "";
}
