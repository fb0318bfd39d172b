/** The names of known fields, each between spaces: at `""` those at the top, at the name of a field those in it. */
export type KnownFields = Readonly<Record<string, string>>;

const MAX_NEW = 5;

/** The names of fields that are not known, at most five, such as `context.new`. Of a list the first item counts. */
export function newFields(value: unknown, known: KnownFields, path = ""): string[] {
  const found: string[] = [];
  for (const [name, each] of value instanceof Object ? Object.entries(value) : []) {
    if (!` ${known[path]} `.includes(` ${name} `)) found.push(path ? `${path}.${name}` : name);
    else if (!path && known[name]) found.push(...newFields(Array.isArray(each) ? each[0] : each, known, name));
    if (found.length >= MAX_NEW) break;
  }
  return found.slice(0, MAX_NEW);
}

/** A name from a webhook, if it is safe to log. */
export function loggable(name: string): string {
  return isLoggable(name) ? name : "with an unknown name";
}

export function isLoggable(name: string): boolean {
  return /^[a-z_.]{1,80}$/.test(name);
}
