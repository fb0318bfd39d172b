import { expect, test } from "vitest";
import GUIDE from "../../../src/docs/contributing.md?raw";
import { importsOf, isPure, type Modules, PURE_PACKAGES, runningWith, SOURCES, valuesOf } from "./sources.ts";

/** The folders of the service, the lowest first. Each imports from itself and from those below it. */
const FLOORS = [
  "model",
  "platform",
  "http",
  "secrets",
  "db",
  "calls",
  "files",
  "channels",
  "keys",
  "events",
  "webhooks",
  "organizations",
  "chats",
  "management",
  "export",
  "inbound",
  "visitors",
  "api",
  "console",
];

/** The programs beside the service, and the folders that each imports from. The documents read all routes. */
const PROGRAMS: Record<string, readonly string[]> = {
  client: ["platform", "openapi"],
  web: ["model", "platform", "client", "openapi"],
  cli: ["model", "secrets", "client"],
  openapi: FLOORS,
};

/** The first folder below src/; empty for the Worker's entry, which stands above all. */
const folderOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1] ?? "";

/** Imports of another folder that is not below, values and types. */
function importsUpward(modules: Modules): string[] {
  return Object.entries(modules).flatMap(([path, text]) => {
    const from = folderOf(path);
    if (from === "") return [];
    const below = PROGRAMS[from] ?? FLOORS.slice(0, FLOORS.indexOf(from));
    return importsOf(path, text)
      .filter(({ to }) => /^(?:src|test)\//.test(to) && folderOf(to) !== from && !below.includes(folderOf(to)))
      .map(({ to }) => `${path} imports ${to}`);
  });
}

test("each folder of src/ stands on a floor", () => {
  const folders = new Set(Object.keys(SOURCES).map(folderOf));
  folders.delete("");
  expect([...folders].toSorted()).toEqual([...FLOORS, ...Object.keys(PROGRAMS)].toSorted());
});

test("no import runs upward, so no folders import each other in a circle", () => {
  expect(importsUpward(SOURCES)).toEqual([]);
});

test("the model is pure: it imports only itself and packages that touch nothing of the runtime", () => {
  const model = Object.keys(SOURCES).filter((path) => folderOf(path) === "model");
  expect(model.length).toBeGreaterThan(30);
  expect(model.filter((path) => !isPure(SOURCES, path))).toEqual([]);
  const imported = model.flatMap((path) => importsOf(path, SOURCES[path]).map(({ to }) => to));
  expect(imported.filter((to) => !to.startsWith("src/model/") && !PURE_PACKAGES.includes(to))).toEqual([]);
});

test("the guide has the floors in this order", () => {
  expect(GUIDE).toContain(FLOORS.map((each) => `\`${each}\``).join(", "));
});

test("pages and the command line take no schemas from the model", () => {
  const roots = Object.keys(SOURCES).filter((path) => ["web", "cli"].includes(folderOf(path)));
  const withSchemas = [...runningWith(SOURCES, roots)].filter(
    (path) => folderOf(path) === "model" && valuesOf(path, SOURCES[path]).some((to) => to.startsWith("zod")),
  );
  expect(withSchemas).toEqual([]);
});

test.for([
  ["a value", 'import { call } from "../calls/call.ts";'],
  ["a type", 'import type { Call } from "../calls/call.ts";'],
  ["a value on several lines", 'import {\n  call,\n} from "../calls/call.ts";'],
  ["what is exported again", 'export { call } from "../calls/call.ts";'],
  ["a value that is loaded later", 'const load = () => import("../calls/call.ts");'],
  ["a test", 'import { until } from "../../test/support/until.ts";'],
  ["a type in a type", 'type Call = import("../calls/call.ts").Call;'],
  ["the entry", 'import "../app.ts";'],
] as const)("the check finds %s from above", ([, text]) => {
  expect(importsUpward({ "src/db/rows.ts": text })).toHaveLength(1);
  expect(importsUpward({ "src/db/rows.ts": 'import { fault } from "../model/error.ts";' })).toEqual([]);
});
