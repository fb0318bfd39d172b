/** The text of each module of src/, by its path from the repository's root. */
export const SOURCES: Modules = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>(
      ["../../../src/**/*.{ts,tsx}", "!../../../src/openapi/client/types.ts", "!../../../src/**/*.d.ts"],
      { query: "?raw", import: "default", eager: true },
    ),
  ).map(([path, text]) => [path.replace("../../../", ""), text]),
);

export type Modules = Record<string, string>;

interface Import {
  /** A path from the repository's root, or the name of a package. */
  to: string;
  isType: boolean;
  /** Whether it is loaded later, by `import("…")`. */
  isLater: boolean;
}

/** A comment, or a text, in which nothing is one. */
const COMMENTS = /("(?:\\.|[^"\\\n])*")|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const TEXTS = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
/** What an import loads later is a value, and `import("…").Name` a type. */
const IMPORT =
  /^(?:import|export) (type )?(?:[^"';]*? from )?"([^"]+)"|(?<!typeof )\bimport\(\s*"([^"]+)"(?!\s*\)\.[A-Z])|\bimport\(\s*"([^"]+)"/gm;
/** Names of what only the runtime has: bindings, storage, sockets, timers, the network and the log. */
const RUNTIME =
  /\b(?:Env|ExecutionContext|DurableObject\w*|SqlStorage\w*|SyncKvStorage|D1Database|WebSocket\w*|fetch|caches|scheduler|set(?:Timeout|Interval)|console)\b/;
/** Packages that touch nothing of the runtime. */
export const PURE_PACKAGES = ["zod/mini", "zod/v4/core", "hono/utils/ipaddr"];

/** What a module imports and exports again. */
export function importsOf(path: string, text = ""): Import[] {
  return [...withoutComments(text).matchAll(IMPORT)].map(([, isType, from, later, inType]) => {
    const to = from ?? later ?? inType ?? "";
    const resolved = to.startsWith(".") ? new URL(to, `file:///${path}`).pathname.slice(1) : to;
    return { to: resolved, isType: isType !== undefined || inType !== undefined, isLater: later !== undefined };
  });
}

export const valuesOf = (path: string, text = "") =>
  importsOf(path, text).flatMap(({ to, isType }) => (isType ? [] : [to]));

/** The modules that run with these, by their imports of values. */
export function runningWith(modules: Modules, roots: string[]): Set<string> {
  const found = new Set(roots);
  for (const path of found) for (const to of valuesOf(path, modules[path])) if (to in modules) found.add(to);
  return found;
}

/** Whether a module and all that it imports touch nothing of the runtime. Its results depend on its input, or on chance. */
export function isPure(modules: Modules, path: string): boolean {
  return [...runningWith(modules, [path])].every((each) => {
    const text = withoutComments(modules[each] ?? "");
    const packages = valuesOf(each, text).filter((to) => !(to in modules));
    return packages.every((name) => PURE_PACKAGES.includes(name)) && !RUNTIME.test(code(text));
  });
}

function withoutComments(text: string): string {
  return text.replaceAll(COMMENTS, (_, literal = "") => literal);
}

/** Without texts and imports of types. */
function code(text: string): string {
  return text.replaceAll(/^import type [^;]*;/gm, "").replaceAll(TEXTS, '""');
}
