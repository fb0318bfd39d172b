import { expect, test } from "vitest";
import { SOURCES } from "./sources.ts";

const DECLARATION =
  /^export (?:default )?(?:declare |abstract |async )*(?:function\*?|class|const|let|type|interface|enum) (\w+)/gm;
/** A list of names, unless another module exports them first. */
const LIST = /^export (?:type )?\{([^}]*)\}(?! from)/gm;
/** Type imports count too: oxlint's import/no-cycle ignores them. */
const IMPORT = /(?:\bfrom |^import |\bimport\()"(\.{1,2}\/[^"]+)"/gm;

function exportedNames(text: string): Set<string> {
  const declared = Array.from(text.matchAll(DECLARATION), ([, name = ""]) => name);
  const listed = Array.from(text.matchAll(LIST), ([, names = ""]) => names.split(","));
  const named = listed.flat().map((each) => each.trim().replace(/^(type )?(\w+ as )?/, ""));
  return new Set([...declared, ...named].filter((name) => name !== ""));
}

function sharedNames(sources: Record<string, string>): string[] {
  const paths = new Map<string, string[]>();
  for (const [path, text] of Object.entries(sources)) {
    for (const name of exportedNames(text)) paths.set(name, [...(paths.get(name) ?? []), path]);
  }
  return [...paths].filter(([, of]) => of.length > 1).map(([name, of]) => `${name}: ${of.join(", ")}`);
}

/**
 * The modules in circles. Repeatedly removes the modules that import none of the others, or that none of the others
 * import, until only circles and the paths between them are left.
 */
function modulesInCircles(sources: Record<string, string>): string[] {
  const imports = new Map(
    Object.entries(sources).map(([path, text]) => [
      path,
      Array.from(text.matchAll(IMPORT), ([, to = ""]) => new URL(to, `file:///${path}`).pathname.slice(1)),
    ]),
  );
  for (let size = -1; size !== imports.size; ) {
    size = imports.size;
    for (const [path, to] of imports) if (!to.some((each) => imports.has(each))) imports.delete(path);
    const imported = new Set([...imports.values()].flat());
    for (const path of imports.keys()) if (!imported.has(path)) imports.delete(path);
  }
  return [...imports.keys()];
}

/** The console is a program of its own, for the browser: it has its own `Chat` as the API shows it. */
const CONSOLE = "src/web/console/";

test.for([
  ["the service and its tools", (path: string) => !path.startsWith(CONSOLE)],
  ["the console", (path: string) => path.startsWith(CONSOLE)],
] as const)("no name is exported by two modules of %s", ([, belongs]) => {
  const own = Object.entries(SOURCES).filter(([path]) => belongs(path));
  expect(own.length).toBeGreaterThan(30);
  expect(sharedNames(Object.fromEntries(own))).toEqual([]);
});

test("modules don't import each other in circles, not even types", () => {
  expect(modulesInCircles(SOURCES)).toEqual([]);
});

test("the check of names finds declarations, lists and aliases, counts each module once, and ignores names of other modules", () => {
  const sources = {
    "src/a.ts": "export function open(a: 1): 1;\nexport function open() {}\nexport type Row = {};",
    "src/b.ts": 'const open = 1;\nexport { open, type Line as Row };\nexport { Row as Other } from "./a.ts";',
    "src/c.ts": "export class Other {}\nconst open = 2;",
  };
  expect(sharedNames(sources)).toEqual(["open: src/a.ts, src/b.ts", "Row: src/a.ts, src/b.ts"]);
});

test("the check of circles finds type imports and side effects, and ignores chains", () => {
  const sources = {
    "src/a/one.ts": 'import type { Two } from "../two.ts";',
    "src/two.ts": 'import "./a/one.ts";\nimport { three } from "./three.ts";',
    "src/three.ts": 'import { z } from "zod";\nexport * from "./four.ts";',
    "src/four.ts": "",
    "src/entry.ts": 'import { two } from "./two.ts";',
  };
  expect(modulesInCircles(sources)).toEqual(["src/a/one.ts", "src/two.ts"]);
});
