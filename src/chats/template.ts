import type { Variables } from "./message.ts";

/** `__proto__` is no name: no body of a request can carry a variable of that name. */
const NAME = /^(?!__proto__$)[A-Za-z0-9_]{1,64}$/;

type Part = { literal: string } | { name: string };

/**
 * The parts of a template's body: text, and `{{name}}` placeholders with optional spaces inside the braces. It scans
 * once from left to right, so the cost grows only with the length.
 * @returns null when a placeholder is not closed or its name is not 1 to 64 letters, digits or underscores
 */
function parseTemplate(body: string): Part[] | null {
  const parts: Part[] = [];
  let from = 0;
  for (;;) {
    const open = body.indexOf("{{", from);
    if (open < 0) return [...parts, { literal: body.slice(from) }];
    const close = body.indexOf("}}", open);
    const name = close < 0 ? "" : body.slice(open + 2, close).trim();
    if (!NAME.test(name)) return null;
    parts.push({ literal: body.slice(from, open) }, { name });
    from = close + 2;
  }
}

/** The names of a body's placeholders, each once, in the order of their first use; null when the body is malformed. */
export function placeholdersOf(body: string): string[] | null {
  const parts = parseTemplate(body);
  return parts && [...new Set(parts.flatMap((part) => ("name" in part ? [part.name] : [])))];
}

/**
 * A template filled with `variables`: its text and the values used; or the names of variables that are missing; or
 * `tooLong` if the text would have more than `maxLength` characters. Then no text is made: a body with many
 * placeholders and one long value would need far more memory than the request that brought it.
 */
export function fillTemplate(
  body: string,
  variables: Variables,
  maxLength: number,
): { text: string; parameters: { name: string; value: string }[] } | { missing: string[] } | { tooLong: true } {
  const parts = parseTemplate(body) ?? [{ literal: body }];
  const names = placeholdersOf(body) ?? [];
  // Own properties alone: a placeholder named `constructor` is a variable like any other.
  const missing = names.filter((name) => !Object.hasOwn(variables, name));
  if (missing.length > 0) return { missing };
  let text = "";
  for (const part of parts) {
    text += "name" in part ? String(variables[part.name]) : part.literal;
    if (text.length > maxLength) return { tooLong: true };
  }
  return { text, parameters: names.map((name) => ({ name, value: String(variables[name]) })) };
}
