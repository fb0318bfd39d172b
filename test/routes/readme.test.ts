import { expect, test } from "vitest";
import manifest from "../../package.json?raw";
import readme from "../../README.md?raw";
import { app } from "../../src/app.ts";
import { MESSAGE_TYPES } from "../../src/channels/adapter.ts";
import { KINDS } from "../../src/channels/kinds.ts";
import { REFUSALS } from "../../src/channels/web/admit.ts";
import { MAX_CONTENT, sendBody } from "../../src/chats/message.ts";
import * as sockets from "../../src/chats/visitors/sockets.ts";
import { ERRORS } from "../../src/http/errors.ts";
import { client, newKey, newOrganization } from "../harness.ts";
import { ALL_VARIABLES } from "../variables.ts";

/** The README from a heading to the next. */
function section(heading: string): string {
  const [, after = ""] = readme.split(`\n${heading}\n`);
  return after.split(/\n#+ /)[0] ?? "";
}

/** The cells of the rows of the README's tables that begin with a cell of the form `first`. */
function rows(first: RegExp, text = readme): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([cell = ""]) => first.test(cell));
}

const ROUTE = /^`(GET|POST|PATCH|DELETE) \/[^`]*`$/;

function routesOf(prefix: string): string[] {
  return app.routes
    .filter(({ method, path }) => method !== "ALL" && path.startsWith(prefix))
    .map(({ method, path }) => `${method} ${path.slice(prefix.length).replace(/:(\w+)/g, "{$1}")}`)
    .filter((route, at, all) => all.indexOf(route) === at)
    .sort();
}

test("the README lists the public routes that there are", () => {
  const listed = rows(ROUTE).filter((cells) => cells.length === 3);
  expect(listed.map(([route = ""]) => route.replaceAll("`", "")).sort()).toEqual(routesOf("/api/v1"));
});

test("the README lists the operator's routes that there are", () => {
  const listed = rows(ROUTE).filter((cells) => cells.length === 2);
  expect(listed.map(([route = ""]) => route.replaceAll("`", "")).sort()).toEqual(routesOf("/admin/v1"));
});

test("each public route wants the permission that the README names", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { permissions: [] });
  for (const [route = "", permission = ""] of rows(ROUTE).filter((cells) => cells.length === 3)) {
    const [method = "", path = ""] = route.replaceAll("`", "").split(" ");
    const answer = await client(secret)(method, path.replace(/\{\w+\}/g, "x"));
    if (permission === "any") expect(answer.status, route).toBe(200);
    else expect(answer.body.message, route).toBe(`The API key lacks the permission ${permission.replaceAll("`", "")}`);
  }
});

test("the README lists every error with its status and the field of its text", () => {
  const listed = rows(/^[45]\d\d$/).map(([status, code = "", field = ""]) => [
    code.replaceAll("`", ""),
    { status: Number(status), shape: field.replaceAll("`", "") },
  ]);
  const known = Object.entries(ERRORS).map(([code, { status, shape }]) => [code, { status, shape }]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(known));
});

test("the README lists every variable of the configuration", () => {
  const listed = rows(/^`[A-Z_]+`$/).map(([name = ""]) => name.replaceAll("`", ""));
  expect(listed.sort()).toEqual([...ALL_VARIABLES].sort());
});

const NAME = /`(\w+)`/g;
const names = (cell: string) => [...cell.matchAll(NAME)].map(([, name]) => name);

test("the README lists the fields of a send", () => {
  const listed = rows(/^`\w+`$/, section("### Sending"));
  expect(listed.map(([field = ""]) => names(field)[0])).toEqual(Object.keys(sendBody.shape));
  const types = new Map(listed.map(([field = "", type = ""]) => [names(field)[0], type]));
  expect(types.get("content")).toContain(MAX_CONTENT.toLocaleString("en"));
  expect(names(types.get("type") ?? "")).toEqual([...MESSAGE_TYPES]);
});

test("the README lists each kind of channel with its credentials and settings", () => {
  const listed = rows(/^`\w+`$/, section("### Channels")).map(([kind = "", credentials = "", settings = ""]) => ({
    kind: names(kind)[0],
    credentials: names(credentials),
    settings,
  }));
  const known = Object.entries(KINDS).map(([kind, { credentials, defaults }]) => {
    const [[setting, value] = []] = Object.entries(defaults);
    const shown = Array.isArray(value) ? "`[]`: any" : String(value);
    return { kind, credentials: Object.keys(credentials.shape), settings: `\`${setting}\` (${shown})` };
  });
  expect(listed).toEqual(known);
});

test("the README lists every code with which a visitor's socket is closed, and its reason", () => {
  const listed = rows(/^[14]\d{3}$/, section("### Web chat")).map(([code, reason]) => `${code} ${reason}`);
  const own = Object.values(sockets).flatMap((value) => (typeof value === "object" ? [value as sockets.Close] : []));
  const known = [...own, ...Object.values(REFUSALS)].filter(({ reason }) => reason !== "");
  expect(listed.sort()).toEqual([...new Set(known.map(({ code, reason }) => `${code} ${reason}`))].sort());
});

test("the README's layout names what lies in src", () => {
  const found = Object.keys(import.meta.glob("../../src/**/*.ts")).filter((path) => !path.endsWith(".d.ts"));
  const known = found.map((path) => path.replace(/^(?:\.\.\/)+src\/([^/]+\/?).*$/, "$1"));
  const [, layout = ""] = section("## Working on it").split("\nsrc/\n");
  const listed = [...layout.matchAll(/^ {2}(\S+) /gm)].map(([, name]) => name);
  expect(new Set(listed)).toEqual(new Set(known));
});

test("the README lists the commands that there are", () => {
  const listed = rows(/^`npm .*`$/).map(([command = ""]) => command.replace(/^`npm (run )?(.*)`$/, "$2"));
  const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
  // Parts of `check`, and what npm runs by itself.
  const known = Object.keys(scripts).filter((name) => !name.startsWith("check:") && !name.startsWith("pre"));
  expect(listed.sort()).toEqual(known.sort());
});
