/** The values of a template's placeholders. */
export type Variables = Record<string, string | number>;

/** Without `__proto__`: a request can't have a variable of that name. */
const NAME = /^(?!__proto__$)[A-Za-z0-9_]{1,64}$/;

type Part = { literal: string } | { name: string };

/**
 * Splits a text at its `{{name}}` placeholders, which may have spaces inside the braces. One scan from left to right, so
 * the cost is linear.
 * @returns null if a placeholder is not closed
 */
export function splitPlaceholders(text: string): Part[] | null {
  const parts: Part[] = [];
  let from = 0;
  for (;;) {
    const open = text.indexOf("{{", from);
    if (open < 0) return [...parts, { literal: text.slice(from) }];
    const close = text.indexOf("}}", open);
    if (close < 0) return null;
    parts.push({ literal: text.slice(from, open) }, { name: text.slice(open + 2, close).trim() });
    from = close + 2;
  }
}

/**
 * A template's body as text and placeholders.
 * @returns null if a placeholder is not closed, or its name is not 1 to 64 letters, digits or underscores, or is
 *   `__proto__`
 */
function parseTemplate(body: string): Part[] | null {
  const parts = splitPlaceholders(body);
  return parts?.every((part) => !("name" in part) || NAME.test(part.name)) ? parts : null;
}

/** The distinct names of a body's placeholders, in the order of their first use; null if the body is malformed. */
export function placeholdersOf(body: string): string[] | null {
  const parts = parseTemplate(body);
  return parts && [...new Set(parts.flatMap((part) => ("name" in part ? [part.name] : [])))];
}

/**
 * Fills a template with `variables`. Stops at `maxLength` characters: many placeholders and one long value would need
 * far more memory than the request.
 * @returns the text and the values used, or the names of missing variables, or `tooLong`
 */
export function fillTemplate(
  body: string,
  variables: Variables,
  maxLength: number,
): { text: string; parameters: { name: string; value: string }[] } | { missing: string[] } | { tooLong: true } {
  const parts = parseTemplate(body) ?? [{ literal: body }];
  const names = placeholdersOf(body) ?? [];
  // Own properties only: `constructor` is a name like any other.
  const missing = names.filter((name) => !Object.hasOwn(variables, name));
  if (missing.length > 0) return { missing };
  let text = "";
  for (const part of parts) {
    text += "name" in part ? String(variables[part.name]) : part.literal;
    if (text.length > maxLength) return { tooLong: true };
  }
  return { text, parameters: names.map((name) => ({ name, value: String(variables[name]) })) };
}
