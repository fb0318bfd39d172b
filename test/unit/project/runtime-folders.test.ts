import { expect, test } from "vitest";
import { importsOf, isPure, type Modules, runningWith, SOURCES } from "./sources.ts";

/** Exports the classes of the objects beside the Worker. */
const ENTRY = "src/index.ts";
const WORKER = "src/app.ts";
/** Programs of their own, which run neither in the Worker nor in an object. */
const PROGRAMS = /^src\/(cli|client|openapi|web)\//;
/** What runs on both sides. */
const BOTH = /^src\/(?:model|platform|http|secrets|db|calls|channels)\//;

/** What stands below `object/` runs in a Durable Object, and so do subscriptions, in the objects of their owners. */
function runsInObject(path: string): boolean {
  return path.includes("/object/") || path.startsWith("src/webhooks/subscription/");
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

/** What an object imports, values and types, that runs in the Worker alone. */
function importsOutOf(modules: Modules): string[] {
  return Object.entries(modules).flatMap(([path, text]) =>
    runsInObject(path)
      ? importsOf(path, text)
          .filter(({ to }) => (to in modules && !runsInObject(to) && !BOTH.test(to)) || /^hono(?!\/utils\/)/.test(to))
          .map(({ to }) => `${path} imports ${to}`)
      : [],
  );
}

/** What only objects use, and stands where the Worker's files do. */
function misplaced(modules: Modules): string[] {
  const inObjects = runningWith(modules, Object.keys(modules).filter(runsInObject));
  const inWorker = runningWith(modules, [WORKER]);
  return [...inObjects].filter(
    (path) => path in modules && !inWorker.has(path) && !runsInObject(path) && !BOTH.test(path),
  );
}

test("nothing but the Worker's entry imports what runs in a Durable Object", () => {
  expect(Object.keys(SOURCES).filter(runsInObject).length).toBeGreaterThan(100);
  expect(importsInto(SOURCES)).toEqual([]);
});

test("a Durable Object imports only from object/ and from the folders of both sides, and no routes", () => {
  expect(importsOutOf(SOURCES)).toEqual([]);
});

/** From where routes have Hono. */
const ROUTES = /^hono(\/quick)?$/;

test("what runs on both sides has no route of its own", () => {
  const routes = Object.entries(SOURCES).filter(
    ([path, text]) =>
      BOTH.test(path) && !path.startsWith("src/http/") && importsOf(path, text).some(({ to }) => ROUTES.test(to)),
  );
  expect(routes.map(([path]) => path)).toEqual([]);
});

test("what only Durable Objects use stands below object/, or where both sides look", () => {
  expect(misplaced(SOURCES)).toEqual([]);
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
  "src/chats/routes.ts": 'import { Hono } from "hono/quick";\nimport { limit } from "../model/limit.ts";',
  "src/model/limit.ts": 'import * as z from "zod/mini";\n/** No Env. */\nexport const limit = 1;',
  "src/chats/object/chat-object.ts":
    'import { limit } from "../../model/limit.ts";\nimport type { Row } from "./row.ts";',
};

test.for([
  ["a value", { "src/chats/verb.ts": 'import { row } from "./object/row.ts";' }],
  ["a type", { "src/chats/verb.ts": 'import type { Row } from "./object/row.ts";' }],
  ["a type in a type", { "src/chats/verb.ts": 'type Row = import("./object/row.ts").Row;' }],
  ["a subscription", { "src/chats/verb.ts": 'export * from "../webhooks/subscription/subscription.ts";' }],
] as const)("the check finds %s that the Worker takes from an object", ([, more]) => {
  expect(importsInto(EXAMPLE)).toEqual([]);
  expect(importsInto({ ...EXAMPLE, ...more })).toHaveLength(1);
});

test.for([
  ["a route", 'import { routes } from "../routes.ts";'],
  ["a route's type", 'import type { Routes } from "../routes.ts";'],
] as const)("the check finds %s that an object takes from the Worker", ([, object]) => {
  expect(importsOutOf(EXAMPLE)).toEqual([]);
  expect(importsOutOf({ ...EXAMPLE, "src/chats/object/chat-object.ts": object })).toHaveLength(1);
});

test("the check finds what only an object uses", () => {
  const modules = {
    ...EXAMPLE,
    "src/chats/limit.ts": "",
    "src/chats/object/chat-object.ts": 'import { limit } from "../limit.ts";',
  };
  expect(misplaced(EXAMPLE)).toEqual([]);
  expect(misplaced(modules)).toEqual(["src/chats/limit.ts"]);
});
