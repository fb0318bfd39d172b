/** The names in a text, each between white space. */
export type Names<Text extends string> = Text extends `${infer One}${" " | "\n"}${infer Rest}`
  ? One | Names<Rest>
  : Text;

export function namesIn<const Text extends string>(text: Text): readonly Names<Text>[] {
  return text.split(/\s/) as Names<Text>[];
}

/** Names such as `context.id`, with the beginnings of each: `context.`. */
export function leavesOf(groups: Record<string, readonly string[]>): ReadonlySet<string> {
  const names = Object.values(groups).flat();
  return new Set(
    names.flatMap((name) => [name, ...Array.from(name.matchAll(/\./g), ({ index }) => name.slice(0, index + 1))]),
  );
}

const MAX_UNKNOWN = 5;

/** Names of fields that are not among `known`, at most five. Of a list the first item counts. */
export function unknownLeaves(value: unknown, known: ReadonlySet<string>, path = ""): string[] {
  if (Array.isArray(value)) return unknownLeaves(value[0], known, path);
  const found: string[] = [];
  for (const [name, each] of value instanceof Object ? Object.entries(value) : []) {
    const leaf = path + name;
    if (known.has(`${leaf}.`)) found.push(...unknownLeaves(each, known, `${leaf}.`));
    else if (!known.has(leaf)) found.push(leaf);
    if (found.length >= MAX_UNKNOWN) break;
  }
  return found.slice(0, MAX_UNKNOWN);
}

/** A name from a webhook, if it is safe to log. */
export function loggable(name: string): string {
  return /^[a-z_.]{1,80}$/.test(name) ? name : "with an unknown name";
}
