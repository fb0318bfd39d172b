import { expect, test } from "vitest";
import readme from "../../README.md?raw";
import { app } from "../../src/app.ts";
import { VARIABLES } from "../../src/config.ts";
import { ERRORS } from "../../src/http/errors.ts";
import { client, newKey, newOrganization } from "../harness.ts";

/** The cells of the rows of the README's tables that begin with a cell of the form `first`. */
function rows(first: RegExp): string[][] {
  return readme
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
  expect(listed.sort()).toEqual([...VARIABLES].sort());
});
