import { expect, test } from "vitest";
import GUIDE from "../../../src/docs/contributing.md?raw";

/** The text of each module of src/, by its path from the repository's root. */
const SOURCES = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>(
      ["../../../src/**/*.{ts,tsx}", "!../../../src/openapi/client/types.ts", "!../../../src/**/*.d.ts"],
      { query: "?raw", import: "default", eager: true },
    ),
  ).map(([path, text]) => [path.replace("../../../", ""), text]),
);

/** Exports the classes of the objects beside the Worker. */
const ENTRY = "src/index.ts";
const WORKER = "src/app.ts";
/** Programs of their own, which run neither in the Worker nor in an object. */
const PROGRAMS = /^src\/(cli|client|openapi|web)\//;
/** What both sides share although it is not pure: storage, networks, calls, and what the runtime lacks. */
const SHARED = new RegExp(
  `^src/(?:${[
    "(?:db|http|platform|secrets)/.*",
    "config\\.ts",
    "channels/(?:telegram|whatsapp)/.*",
    "channels/(?:post-file|record|registry)\\.ts",
    "channels/web/(?:file-link|render)\\.ts",
    "files/bucket\\.ts",
    "organizations/call-organization\\.ts",
    "chats/open-(?:visitor-)?chat\\.ts",
    "management/row-ceilings\\.ts",
    "templates/sync\\.ts",
  ].join("|")})$`,
);

/** What stands below `object/` runs in a Durable Object, and so do the lines of webhooks, in those of their owners. */
function runsInObject(path: string): boolean {
  return path.includes("/object/") || path.startsWith("src/webhooks/line/");
}

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const TEXTS = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
const IMPORT = /^(?:import|export) (type )?(?:[^"';]*? from )?"([^"]+)"|\bimport\("([^"]+)"\)/gm;
/** Names of what only the runtime has: bindings, storage, sockets, timers, the network and the log. */
const RUNTIME =
  /\b(?:Env|ExecutionContext|DurableObject\w*|SqlStorage\w*|SyncKvStorage|D1Database|WebSocket\w*|fetch|caches|scheduler|set(?:Timeout|Interval)|console)\b/;

interface Import {
  to: string;
  isType: boolean;
}

type Modules = Record<string, string>;

function importsOf(path: string, text: string): Import[] {
  return [...text.replaceAll(COMMENTS, "").matchAll(IMPORT)].map(([, isType, from, inType]) => {
    const to = from ?? inType ?? "";
    const resolved = to.startsWith(".") ? new URL(to, `file:///${path}`).pathname.slice(1) : to;
    return { to: resolved, isType: isType !== undefined || inType !== undefined };
  });
}

const valuesOf = (path: string, text = "") => importsOf(path, text).flatMap(({ to, isType }) => (isType ? [] : [to]));

/** The modules that run with these, by their imports of values. */
function runningWith(modules: Modules, roots: string[]): Set<string> {
  const found = new Set(roots);
  for (const path of found) for (const to of valuesOf(path, modules[path])) if (to in modules) found.add(to);
  return found;
}

/** Whether a module and all that it imports touch nothing of the runtime. Its results depend on its input alone. */
function isPure(modules: Modules, path: string): boolean {
  return [...runningWith(modules, [path])].every((each) => {
    const text = (modules[each] ?? "").replaceAll(COMMENTS, "");
    const packages = valuesOf(each, text).filter((to) => !(to in modules));
    return packages.every((name) => name === "zod/mini" || name === "hono/utils/ipaddr") && !RUNTIME.test(code(text));
  });
}

/** Without comments, texts and imports of types. */
function code(text: string): string {
  return text.replaceAll(/^import type [^;]*;/gm, "").replaceAll(TEXTS, '""');
}

/** Imports from outside of what runs in an object. The documents may read the limits of pure modules. */
function importsInto(modules: Modules): string[] {
  return Object.entries(modules).flatMap(([path, text]) =>
    path === ENTRY || runsInObject(path)
      ? []
      : importsOf(path, text)
          .filter(({ to }) => runsInObject(to) && !(PROGRAMS.test(path) && isPure(modules, to)))
          .map(({ to }) => `${path} imports ${to}`),
  );
}

/** What runs in an object, stands elsewhere, and is neither pure nor shared; and types of what knows routes. */
function importsOutOf(modules: Modules): string[] {
  const inObjects = Object.keys(modules).filter(runsInObject);
  const knowsRoutes = (path: string) => importsOf(path, modules[path] ?? "").some(({ to }) => to === "hono");
  const values = [...runningWith(modules, inObjects)].filter(
    (path) => !runsInObject(path) && !SHARED.test(path) && !isPure(modules, path),
  );
  const types = inObjects.filter((path) =>
    importsOf(path, modules[path] ?? "").some(({ to }) => to in modules && !SHARED.test(to) && knowsRoutes(to)),
  );
  return [...values.map((path) => `${path} runs in an object`), ...types.map((path) => `${path} knows a route`)];
}

/** What only objects use, and stands where the Worker's files do. */
function misplaced(modules: Modules): string[] {
  const inObjects = runningWith(modules, Object.keys(modules).filter(runsInObject));
  const inWorker = runningWith(modules, [WORKER]);
  return [...inObjects].filter(
    (path) => !inWorker.has(path) && !runsInObject(path) && !SHARED.test(path) && !PROGRAMS.test(path),
  );
}

test("nothing but the Worker's entry imports what runs in a Durable Object", () => {
  expect(Object.keys(SOURCES).filter(runsInObject).length).toBeGreaterThan(100);
  expect(importsInto(SOURCES)).toEqual([]);
});

test("what runs in a Durable Object imports no route and nothing of the Worker, but pure and shared modules", () => {
  expect(importsOutOf(SOURCES)).toEqual([]);
});

test("what only Durable Objects use stands below object/", () => {
  expect(misplaced(SOURCES)).toEqual([]);
});

/** Where each file may run in an object; the guide says so of the folder or the name. */
const IN_BOTH = /^src\/(?:model|platform|channels\/(?:telegram|whatsapp))\//;

/** What stands beside object/ and runs in objects too. */
function shared(modules: Modules): string[] {
  const inObjects = runningWith(modules, Object.keys(modules).filter(runsInObject));
  return [...inObjects].filter((path) => path in modules && !runsInObject(path) && !IN_BOTH.test(path)).toSorted();
}

test("the guide lists what stands beside object/ and runs in objects too", () => {
  const [, list = ""] = GUIDE.split("Objects use these files too:");
  const lines = [...(list.split("\n\n")[1] ?? "").matchAll(/^- `(.*)`: (.*)$/gm)];
  const listed = lines.flatMap(([, folder, files = ""]) =>
    [...files.matchAll(/`([^`]+)`/g)].map(([, file]) => `src/${folder === "src/" ? "" : folder}${file}.ts`),
  );
  expect(listed.toSorted()).toEqual(shared(SOURCES));
});

test("chats know nothing of the management", () => {
  const rooms = Object.entries(SOURCES).filter(([path]) => path.startsWith("src/chats/"));
  const imported = rooms.flatMap(([path, text]) => importsOf(path, text).map(({ to }) => to));
  expect(imported.filter((to) => to.startsWith("src/management/"))).toEqual([]);
});

test("each shared module that is named exists", () => {
  for (const path of [
    "channels/record.ts",
    "channels/registry.ts",
    "files/bucket.ts",
    "organizations/call-organization.ts",
    "chats/open-chat.ts",
  ]) {
    expect(SOURCES).toHaveProperty([`src/${path}`]);
  }
});

/** These test the project, and the price of a request. */
const OF_NO_FOLDER = ["unit/project", "service/budget"];

test("the folders of tests are those of what they test", () => {
  const tests = Object.keys(import.meta.glob("../../{unit,service}/**/*.test.ts"));
  const folders = tests.map((path) => new URL(path, "file:///unit/project/").pathname.slice(1).replace(/\/[^/]*$/, ""));
  expect(new Set(folders).size).toBeGreaterThan(30);
  const sources = Object.keys(SOURCES);
  const unknown = [...new Set(folders)].filter(
    (folder) => !sources.some((path) => path.startsWith(`${folder.replace(/^[a-z]+/, "src")}/`)),
  );
  expect(unknown.sort()).toEqual(OF_NO_FOLDER.toSorted());
});

const EXAMPLE: Modules = {
  "src/app.ts": 'import { routes } from "./chats/routes.ts";',
  "src/index.ts": 'export { Chat } from "./chats/object/chat-object.ts";',
  "src/chats/routes.ts": 'import { Hono } from "hono";\nimport { limit } from "./limit.ts";',
  "src/chats/limit.ts": 'import * as z from "zod/mini";\n/** No Env. */\nexport const limit = 1;',
  "src/chats/object/chat-object.ts": 'import { limit } from "../limit.ts";\nimport type { Stub } from "../rpc.ts";',
};

test.for([
  ["a value", { "src/chats/verb.ts": 'import { row } from "./object/row.ts";' }],
  ["a type", { "src/chats/verb.ts": 'import type { Row } from "./object/row.ts";' }],
  ["a type in a type", { "src/chats/verb.ts": 'type Row = import("./object/row.ts").Row;' }],
  ["a line", { "src/chats/verb.ts": 'export * from "../webhooks/line/line.ts";' }],
] as const)("the check finds %s that the Worker takes from an object", ([, more]) => {
  expect(importsInto(EXAMPLE)).toEqual([]);
  expect(importsInto({ ...EXAMPLE, ...more })).toHaveLength(1);
});

test.for([
  ["a route", 'import { routes } from "../routes.ts";', ""],
  ["a verb by another module", 'import { limit } from "../limit.ts";', 'import "./routes.ts";'],
  ["a module that calls", 'import { limit } from "../limit.ts";', "export const limit = (env: Env) => env.DB;"],
  ["a route's type", 'import type { Routes } from "../routes.ts";', ""],
] as const)("the check finds %s that an object takes from the Worker", ([, object, limit]) => {
  expect(importsOutOf(EXAMPLE)).toEqual([]);
  const modules = { ...EXAMPLE, "src/chats/object/chat-object.ts": object };
  expect(importsOutOf(limit === "" ? modules : { ...modules, "src/chats/limit.ts": limit })).not.toEqual([]);
});

test("the check finds what only an object uses", () => {
  expect(misplaced(EXAMPLE)).toEqual([]);
  expect(misplaced({ ...EXAMPLE, "src/chats/routes.ts": "" })).toEqual(["src/chats/limit.ts"]);
});
