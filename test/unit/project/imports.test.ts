import { expect, test } from "vitest";

const FILES = import.meta.glob<string>("../../../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
/** The Worker re-exports the objects' classes, and the client's types are generated. */
const LEFT_OUT = ["src/index.ts", "src/openapi/client/types.ts", "src/env.d.ts"];

const sources = new Map(
  Object.entries(FILES)
    .map(([path, text]) => [path.replace("../../../", ""), text] as const)
    .filter(([path]) => !LEFT_OUT.includes(path)),
);

/** The files of `src` that a file imports, for types too. */
function importsOf(path: string): string[] {
  const specifiers = (sources.get(path) ?? "").matchAll(/\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g);
  const found = [...specifiers].map(([, to]) => new URL(to as string, `file:///${path}`).pathname.slice(1));
  return found.filter((to) => sources.has(to));
}

/** The first circle that is reached from a file; null if there is none. */
function circleFrom(path: string, way: string[], done: Set<string>): string[] | null {
  if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
  if (done.has(path)) return null;
  for (const next of importsOf(path)) {
    const circle = circleFrom(next, [...way, path], done);
    if (circle) return circle;
  }
  done.add(path);
  return null;
}

test("no files import each other in a circle, not even for types", () => {
  const done = new Set<string>();
  expect([...sources.keys()].map((path) => circleFrom(path, [], done)).filter(Boolean)).toEqual([]);
});

test("no name is exported by two files", () => {
  const exported = Map.groupBy(
    [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/^export (?:async )?(?:abstract )?(?:class|function\*?|const|let|interface|type) (\w+)/gm)].map(
        ([, name]) => ({ name: name as string, path }),
      ),
    ),
    ({ name }) => name,
  );
  // A function's overloads stand in one file.
  const places = [...exported].map(([name, all]) => [name, [...new Set(all.map(({ path }) => path))]] as const);
  expect(places.filter(([, paths]) => paths.length > 1)).toEqual([]);
});
