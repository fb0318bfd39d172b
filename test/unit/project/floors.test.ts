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
  "search",
  "management",
  "export",
  "inbound",
  "visitors",
  "api",
  "mcp",
  "console",
];

/** The programs beside the service, and the folders that each imports from. The documents read all routes. */
const PROGRAMS: Record<string, readonly string[]> = {
  client: ["platform", "openapi"],
  web: ["model", "platform", "client", "openapi"],
  cli: ["model", "secrets", "client"],
  openapi: FLOORS,
};

/**
 * The folders in one of these, the lowest first. Each imports from itself, from those before it, and from the files that
 * stand beside the folders.
 */
const ROOMS: Record<string, readonly string[]> = {
  channels: ["network", "telegram", "whatsapp", "templates", "web", "object"],
  "chats/object": ["log", "search", "delivery", "files", "scheduled", "visitors", "retention"],
  cli: ["local", "package", "parley", "deploy"],
  "cli/parley": ["smoke", "doctor", "commands"],
  openapi: ["client", "operator"],
  web: ["shared", "visitor", "console", "docs"],
  "web/console": [
    "parts",
    "audit",
    "notes",
    "replies",
    "labels",
    "inbox",
    "channels",
    "keys",
    "members",
    "webhooks",
    "notifications",
    "scheduled",
    "sign-in",
    "settings",
    "statistics",
    "templates",
    "screens",
  ],
  "web/shared": ["files", "long-list", "message"],
  "web/visitor": ["locales", "components"],
  webhooks: ["subscription", "object"],
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

/** The folder of `src/<part>/` that a file is in; empty for a file beside the folders, null for one of another part. */
function roomOf(part: string, path: string): string | null {
  const inside = `src/${part}/`;
  return path.startsWith(inside) ? (/^([^/]+)\//.exec(path.slice(inside.length))?.[1] ?? "") : null;
}

/** Imports of a folder above in the part: those of a file, and of the files beside the folders that load with it. */
function importsUpwardIn(part: string, modules: Modules): string[] {
  const rooms = ROOMS[part] ?? [];
  const loadedBy = (path: string) =>
    importsOf(path, modules[path]).flatMap(({ to, isType, isLater }) => (isType || isLater ? [] : [to]));
  return Object.keys(modules).flatMap((path) => {
    const from = roomOf(part, path);
    if (!from) return [];
    const beside = new Set([path]);
    for (const each of beside) for (const to of loadedBy(each)) if (roomOf(part, to) === "") beside.add(to);
    const above = rooms.slice(rooms.indexOf(from) + 1);
    const reached = [...beside].flatMap((each) =>
      (each === path ? importsOf(path, modules[path]).map(({ to }) => to) : loadedBy(each)).map((to) => ({ each, to })),
    );
    return reached
      .filter(({ to }) => above.includes(roomOf(part, to) ?? ""))
      .map(({ each, to }) => `${path} imports ${to}${each === path ? "" : ` through ${each}`}`);
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

test("folders that stand side by side have an order", () => {
  const found: Record<string, Set<string>> = {};
  for (const path of Object.keys(SOURCES)) {
    const folders = path.split("/").slice(1, -1);
    for (const [i, folder] of folders.entries()) {
      if (i > 0) (found[folders.slice(0, i).join("/")] ??= new Set()).add(folder);
    }
  }
  const several = Object.entries(found).filter(([, folders]) => folders.size > 1);
  const sorted = (all: [string, Iterable<string>][]) =>
    Object.fromEntries(all.map(([part, of]) => [part, [...of].toSorted()]));
  expect(sorted(several)).toEqual(sorted(Object.entries(ROOMS)));
});

test.for(Object.keys(ROOMS))("no folder of %s/ imports one above it", (part) => {
  expect(importsUpwardIn(part, SOURCES)).toEqual([]);
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

test.for([
  ["a value", { "src/webhooks/subscription/subscription.ts": 'import { storage } from "../object/storage.ts";' }],
  ["a type", { "src/webhooks/subscription/subscription.ts": 'import type { Storage } from "../object/storage.ts";' }],
  [
    "what is loaded later",
    { "src/webhooks/subscription/subscription.ts": 'const load = () => import("../object/storage.ts");' },
  ],
  [
    "what a file beside the folders loads",
    {
      "src/webhooks/subscription/subscription.ts": 'import { first } from "../first.ts";',
      "src/webhooks/first.ts": 'import { second } from "./second.ts";',
      "src/webhooks/second.ts": 'import { first } from "./first.ts";\nimport { storage } from "./object/storage.ts";',
    },
  ],
] as const)("the check finds %s in a folder above", ([, modules]) => {
  expect(importsUpwardIn("webhooks", modules)).toHaveLength(1);
});

test("a file beside the folders may load one later, and know its types", () => {
  const first =
    'import type { Storage } from "./object/storage.ts";\nconst load = () => import("./object/storage.ts");';
  const line = 'import { first } from "../first.ts";\nimport { id } from "../../model/id.ts";';
  const object = 'import { line } from "../line/line.ts";';
  const modules = {
    "src/webhooks/subscription/subscription.ts": line,
    "src/webhooks/first.ts": first,
    "src/webhooks/object/a.ts": object,
  };
  expect(importsUpwardIn("webhooks", modules)).toEqual([]);
});
